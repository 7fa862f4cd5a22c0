package snapshot

import (
	"slices"

	"etcd-autopsy/snapshot/wal"
)

// RaftSnap describes a raft snapshot file of a member (.snap): the membership at an
// index of the raft log. The store is not in it.
type RaftSnap struct {
	Input, Path string
	// Index and Term are those of the last entry that it covers, 0 if it cannot be
	// read.
	Index, Term uint64
	Members     []Member
	// Problem is a sentence: why it cannot be read, or what is odd about it.
	Problem string
}

// RaftSnaps describes every raft snapshot given to Load, in order of Input and Path.
func (h *History) RaftSnaps() []RaftSnap { return append([]RaftSnap(nil), h.snaps...) }

// readSnaps reads the raft snapshots.
func (h *History) readSnaps(files []File) {
	for _, f := range files {
		r := RaftSnap{Input: f.Input, Path: f.Path}
		s, err := wal.ReadSnap(f.OSPath)
		if err != nil {
			r.Problem = err.Error()
			h.snaps = append(h.snaps, r)
			continue
		}
		r.Index, r.Term, r.Problem = s.Index, s.Term, s.Problem
		learner := map[uint64]bool{}
		for _, id := range s.Learners {
			learner[id] = true
		}
		for _, m := range s.Members {
			r.Members = append(r.Members, Member{ID: memberID(m.ID), Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: learner[m.ID]})
		}
		h.snaps = append(h.snaps, r)
	}
}

// ownSnaps keeps the raft snapshots of the logs' cluster: those with a member that
// has one of the logs.
func (h *History) ownSnaps(logs []*memberLog) []RaftSnap {
	var own []RaftSnap
	for _, s := range h.snaps {
		if slices.ContainsFunc(s.Members, func(m Member) bool {
			return slices.ContainsFunc(logs, func(l *memberLog) bool { return l.info.Rejected == "" && l.info.MemberID == m.ID })
		}) {
			own = append(own, s)
		}
	}
	return own
}

// snapMembers are the members of the newest of raft snapshots, nil if there is none.
func snapMembers(snaps []RaftSnap) []Member {
	var newest *RaftSnap
	for i := range snaps {
		if s := &snaps[i]; len(s.Members) > 0 && (newest == nil || s.Index > newest.Index) {
			newest = s
		}
	}
	if newest == nil {
		return nil
	}
	return newest.Members
}
