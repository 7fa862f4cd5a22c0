package fate

import (
	"sort"
	"time"

	"etcd-autopsy/snapshot"
)

// spans bounds when entries were applied or, where they were not, written.
type spans struct {
	times Times
	// dated are the committed entries that have a time, in order.
	dated []datedEntry
}

// datedEntry is an entry and the revision of the store once it was applied.
type datedEntry struct {
	index, term uint64
	at          int64
}

func newSpans(h *snapshot.History, times Times) *spans {
	s := &spans{times: times}
	for i := range h.Entries() {
		if e := h.Entry(i); e.At != 0 {
			s.dated = append(s.dated, datedEntry{e.Index, e.Term, e.At})
		}
	}
	return s
}

// of bounds an entry. What is known of one that was never committed is only which
// entries its proposer had before it: those of no later term. A leader that was cut
// off or stopped may write it long after another one has taken its place.
func (s *spans) of(e *snapshot.Entry) (from, to time.Time) {
	switch {
	case e.Revision != 0:
		_, from, to = s.times.At(e.Revision)
		return from, to
	case e.At != 0:
		_, from, _ = s.times.At(e.At)
		_, _, to = s.times.At(e.At + 1)
		return from, to
	}
	n := sort.Search(len(s.dated), func(i int) bool { return s.dated[i].index >= e.Index || s.dated[i].term > e.Term })
	if n > 0 {
		_, from, _ = s.times.At(s.dated[n-1].at)
	}
	if e.State == snapshot.EntryUnplaced {
		n = sort.Search(len(s.dated), func(i int) bool { return s.dated[i].index > e.Index })
		if n < len(s.dated) {
			_, _, to = s.times.At(s.dated[n].at + 1)
		}
	}
	return from, to
}
