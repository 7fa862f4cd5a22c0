package snapshot

import (
	"cmp"
	"math"
	"slices"

	"etcd-autopsy/snapshot/replay"
	"etcd-autopsy/snapshot/wal"
)

// entry is one entry of the raft log.
type entry struct {
	index, term     uint64
	request         uint64
	revision, at    int64
	expected, found int64
	key             uint32 // in History.entryKeys, if there is a verb
	size            uint32
	ref             int32 // in the log's Entries
	log             uint16
	kind            replay.Kind
	verb            uint8 // in entryVerbs
	state           EntryState
	rejection       replay.Rejection
}

// entryVerbs are the verbs of entries by number.
var entryVerbs = [...]string{"", string(replay.VerbCreate), string(replay.VerbUpdate), string(replay.VerbPut), string(replay.VerbDelete)}

func verbNumber(v replay.Verb) uint8 {
	return uint8(max(0, slices.Index(entryVerbs[:], string(v))))
}

// logRef is an entry of one of the logs.
type logRef struct {
	log uint16
	ref int32
}

// listEntries makes the table of all entries, each once, and says which of them
// are committed and which are lost.
func (r *raftLog) listEntries() []entry {
	var all []logRef
	for i, l := range r.logs {
		for n := range l.log.Entries {
			if l.log.Entries[n].Index > 0 {
				all = append(all, logRef{uint16(i), int32(n)})
			}
		}
	}
	slices.SortFunc(all, func(a, b logRef) int {
		x, y := r.ref(a), r.ref(b)
		return cmp.Or(cmp.Compare(x.Index, y.Index), cmp.Compare(x.Term, y.Term), cmp.Compare(a.log, b.log), cmp.Compare(a.ref, b.ref))
	})
	list := make([]entry, 0, len(all))
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && r.ref(all[to]).Index == r.ref(all[from]).Index {
			to++
		}
		list = r.sameIndex(list, all[from:to])
		from = to
	}
	markLost(list)
	return list
}

// sameIndex adds the entries of one index: of those with equal terms one, and the
// committed one first.
func (r *raftLog) sameIndex(list []entry, refs []logRef) []entry {
	first := len(list)
	for from := 0; from < len(refs); {
		e := entry{index: r.ref(refs[from]).Index, term: r.ref(refs[from]).Term, log: refs[from].log, ref: refs[from].ref, expected: -1, found: -1, state: EntryUncommitted}
		to := from
		for ; to < len(refs) && r.ref(refs[to]).Term == e.term; to++ {
			e.state = min(e.state, r.stateOf(refs[to]))
		}
		list = append(list, e)
		from = to
	}
	slices.SortStableFunc(list[first:], func(a, b entry) int { return cmp.Compare(a.state, b.state) })
	return list
}

// stateOf is what one log says of an entry that it has. That the log has lost it
// says nothing yet: a later leader may have found it in another one.
func (r *raftLog) stateOf(x logRef) EntryState {
	l, ref := r.logs[x.log], r.ref(x)
	if !ref.Overwritten && !ref.Unsure && ref.Index <= l.certified {
		return EntryUnplaced
	}
	return EntryUncommitted
}

// markLost finds the entries that cannot be committed any more: another one of
// their index is, or a committed one before them is of a later term, or one behind
// them of an earlier one. From entry to entry of a log, terms never fall.
func markLost(list []entry) {
	var term, index uint64 // of the last committed entry
	for i := range list {
		switch e := &list[i]; {
		case e.state == EntryUnplaced:
			term, index = e.term, e.index
		case e.index == index || e.term < term:
			e.state = EntryLost
		}
	}
	term = math.MaxUint64
	for i := len(list) - 1; i >= 0; i-- {
		switch e := &list[i]; {
		case e.state == EntryUnplaced:
			term = e.term
		case e.term > term:
			e.state = EntryLost
		}
	}
}

func (r *raftLog) ref(x logRef) *wal.Ref { return r.logs[x.log].ref(x.ref) }
