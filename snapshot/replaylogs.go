package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"etcd-autopsy/snapshot/replay"
	"etcd-autopsy/snapshot/wal"
)

// replayLogs makes revisions of what the members' logs hold, and adds those that
// no store has.
func (h *History) replayLogs(ctx context.Context, m *merger, logs []*memberLog) error {
	h.chooseLogs(m, logs)
	raft := joinLogs(logs, h.positions(m, logs), h.voters(m, logs))
	h.members = memberSet{}
	for _, m := range snapMembers(h.ownSnaps(logs)) {
		h.members[m.ID] = &m
	}
	p := &replayer{h: h, m: m, raft: raft, entries: raft.listEntries()}
	err := p.replayAll(ctx)
	p.finish()
	return err
}

// chooseLogs leaves out the logs of other clusters: of members that no store
// knows, and of those that are of the same cluster as fewer entries than others.
func (h *History) chooseLogs(m *merger, logs []*memberLog) {
	var known []string
	for _, i := range m.accepted {
		known = append(known, h.stores[i].memberIDs()...)
	}
	entries := map[string]int{}
	for _, l := range logs {
		switch {
		case l.info.Entries == 0:
		case l.info.MemberID == "":
			l.reject("no readable record says of which cluster it is")
		case len(known) > 0 && !slices.Contains(known, l.info.MemberID):
			l.reject(fmt.Sprintf("it is of member %s of cluster %s, which no store knows", l.info.MemberID, l.info.ClusterID))
		default:
			entries[l.info.ClusterID] += l.info.Entries
		}
	}
	var main string
	for _, l := range logs {
		if id := l.info.ClusterID; entries[id] > entries[main] {
			main = id
		}
	}
	for _, l := range logs {
		if l.info.Rejected == "" && l.info.Entries > 0 && l.info.ClusterID != main {
			l.reject(fmt.Sprintf("it is of cluster %s, the others are of cluster %s", l.info.ClusterID, main))
		}
	}
}

// reject leaves the log out.
func (l *memberLog) reject(why string) {
	l.info.Rejected = why
	l.valid, l.log.Entries, l.log.Commit, l.log.Snapshots = nil, nil, 0, nil
}

// positions are the places of the raft log of which it is known that they are
// committed: what stores had applied, and what snapshots were made of.
func (h *History) positions(m *merger, logs []*memberLog) []raftPosition {
	var list []raftPosition
	for _, i := range m.accepted {
		if s := &h.stores[i].info; s.Salvaged == "" && s.ConsistentIndex > 0 {
			list = append(list, raftPosition{s.ConsistentIndex, s.Term})
		}
	}
	for _, l := range logs {
		for _, s := range l.log.Snapshots {
			list = append(list, raftPosition{s.Index, s.Term})
		}
	}
	for _, s := range h.ownSnaps(logs) {
		list = append(list, raftPosition{s.Index, s.Term})
	}
	return list
}

// voters counts the members that vote: as the newest store or raft snapshot has
// it, else as the changes of the membership say in a log that has all of them; 0 if that is not
// known.
func (h *History) voters(m *merger, logs []*memberLog) int {
	var newest *store
	for _, i := range m.accepted {
		if s := h.stores[i]; len(s.info.Members) > 0 && (newest == nil || s.info.ConsistentIndex > newest.info.ConsistentIndex) {
			newest = s
		}
	}
	members := snapMembers(h.ownSnaps(logs))
	if newest != nil {
		members = newest.info.Members
	}
	if len(members) > 0 {
		voters := map[string]bool{}
		for _, x := range members {
			if !x.Learner {
				voters[x.ID] = true
			}
		}
		return len(voters)
	}
	for _, l := range logs {
		if first, _ := l.span(); first == 1 && l.log.Begins {
			return l.countVoters()
		}
	}
	return 0
}

// countVoters follows the changes of the membership.
func (l *memberLog) countVoters() int {
	voters := map[uint64]bool{}
	for _, n := range l.valid {
		ref := l.ref(n)
		if ref.Type == raftpb.EntryNormal {
			continue
		}
		data, err := l.log.Data(int(n))
		if err != nil {
			return 0
		}
		r, err := replay.Decode(replay.Entry{Index: ref.Index, Term: ref.Term, Type: ref.Type, Data: data})
		if err != nil || r.Kind != replay.KindConfChange {
			return 0
		}
		switch r.ConfChange.Type {
		case raftpb.ConfChangeAddNode:
			voters[r.ConfChange.Node] = true
		case raftpb.ConfChangeRemoveNode:
			delete(voters, r.ConfChange.Node)
		}
	}
	return len(voters)
}

// scanLogs reads the WALs of all folders, one after the other.
func scanLogs(ctx context.Context, files []File) ([]*memberLog, error) {
	var logs []*memberLog
	for _, d := range walFolders(files) {
		l, err := d.scan(ctx)
		if err != nil && ctx.Err() != nil {
			return logs, err
		}
		if err != nil {
			l = &memberLog{info: WAL{Input: d.input, Path: d.path}, log: &wal.Log{}}
			l.problem("%s", err)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// replayedTo is the last revision of the logs, 0 for none.
func (h *History) replayedTo() (last int64) {
	for _, r := range h.replayed {
		last = max(last, r.last)
	}
	return last
}

// replayedWhole says whether the logs have a revision whole.
func (h *History) replayedWhole(main int64) bool {
	return slices.ContainsFunc(h.replayed, func(r span) bool { return main > r.above && main <= r.last })
}

// placeOf finds the value of a revision that only a log has.
func (h *History) placeOf(main int64, sub uint32) (walPlace, bool) {
	n, ok := slices.BinarySearchFunc(h.walPlaces, walPlace{main: main, sub: sub}, func(a, b walPlace) int {
		return cmp.Or(cmp.Compare(a.main, b.main), cmp.Compare(a.sub, b.sub))
	})
	if !ok {
		return walPlace{}, false
	}
	return h.walPlaces[n], true
}
