package snapshot

import (
	"maps"
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"etcd-autopsy/snapshot/replay"
)

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

// electorates are the sets of members that may vote about the newest entries: what
// the newest store, or the beginning of a log, and the changes of the membership
// behind it make. There are none if that is not known.
func (h *History) electorates(m *merger, logs []*memberLog) [][]string {
	voters, above := h.storedVoters(m)
	var sets [][]string
	reached := false
	for _, l := range logs {
		first, last := l.span()
		switch {
		case first == 0:
			continue
		case l.upTo(last)-l.upTo(max(first-1, above)) != int(last-min(last, max(first-1, above))):
			return nil // entries are missing, and changes may be among them
		case above > 0 && first <= above+1, first == 1 && l.log.Begins:
			reached = true
		}
		list, ok := l.electorates(voters, above)
		if !ok {
			return nil
		}
		sets = append(sets, list...)
	}
	if !reached {
		return nil
	}
	return sets
}

// storedVoters are the voters as the newest store has them, and the index up to
// which it does; 0 if no store says so.
func (h *History) storedVoters(m *merger) (voters map[string]bool, above uint64) {
	voters = map[string]bool{}
	var newest *store
	for _, i := range m.accepted {
		if s := h.stores[i]; len(s.info.Members) > 0 && s.info.ConsistentIndex > above {
			newest, above = s, s.info.ConsistentIndex
		}
	}
	if newest == nil {
		return voters, 0
	}
	for _, x := range newest.info.Members {
		if !x.Learner {
			voters[x.ID] = true
		}
	}
	return voters, above
}

// electorates follows the changes of the membership in the entries above an index:
// of one that is committed only the outcome counts, of a later one both.
func (l *memberLog) electorates(voters map[string]bool, above uint64) (sets [][]string, ok bool) {
	now := maps.Clone(voters)
	sets = [][]string{slices.Sorted(maps.Keys(now))}
	for _, n := range l.valid {
		ref := l.ref(n)
		if ref.Type == raftpb.EntryNormal || ref.Index <= above {
			continue
		}
		c, ok := l.confChange(n)
		if !ok {
			return nil, false
		}
		switch id := memberID(c.Node); c.Type {
		case raftpb.ConfChangeAddNode:
			now[id] = true
		case raftpb.ConfChangeRemoveNode:
			delete(now, id)
		}
		if ref.Index <= l.log.Commit {
			sets = nil
		}
		sets = append(sets, slices.Sorted(maps.Keys(now)))
	}
	return sets, true
}

// confChange decodes an entry that changes the membership.
func (l *memberLog) confChange(n int32) (replay.ConfChange, bool) {
	data, err := l.log.Data(int(n))
	if err != nil {
		return replay.ConfChange{}, false
	}
	ref := l.ref(n)
	r, err := replay.Decode(replay.Entry{Index: ref.Index, Term: ref.Term, Type: ref.Type, Data: data})
	return r.ConfChange, err == nil && r.Kind == replay.KindConfChange
}

// byMajority is the highest entry that a majority of the voters, whoever they are,
// has stored in its own term, while none of them had seen a later one: such an entry
// is committed, even if nobody has noted that yet. Its index is 0 if there is none.
func byMajority(logs []*memberLog, electorates [][]string) raftPosition {
	newest := newestTerm(logs)
	reach := map[string]uint64{} // by member
	for _, l := range logs {
		if _, last := l.span(); l.lastTerm() == newest {
			reach[l.info.MemberID] = max(reach[l.info.MemberID], last)
		}
	}
	p := raftPosition{term: newest}
	for n, voters := range electorates {
		var stored []uint64
		for _, id := range voters {
			stored = append(stored, reach[id])
		}
		slices.Sort(stored)
		if quorum := len(voters)/2 + 1; len(voters) < quorum || stored[len(stored)-quorum] == 0 {
			return raftPosition{}
		} else if index := stored[len(stored)-quorum]; n == 0 || index < p.index {
			p.index = index
		}
	}
	return p
}

// newestTerm is the highest term that any of the logs has seen.
func newestTerm(logs []*memberLog) (term uint64) {
	for _, l := range logs {
		term = max(term, l.lastTerm())
		for _, s := range l.log.States {
			term = max(term, s.Term)
		}
	}
	return term
}
