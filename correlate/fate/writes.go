package fate

import (
	"slices"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"etcd-autopsy/snapshot"
)

// write is a write of a key: an entry of the raft log, or a revision of which
// there is no entry.
type write struct {
	entry    int // -1 for a revision of which there is no entry
	index    int // of the revision, where there is no entry
	place    int // among the writes of the key
	revision int64
	// prev is the index of the revision that it replaces, -1 if that is not known.
	prev int
	// verb and expected are those of the entry; expected is -1 if not known.
	verb     string
	expected int64
	state    snapshot.EntryState
	// race is true for one that was rejected for its precondition.
	race bool
	// from and to bound when it was applied, or, where it was not, when it was
	// written; zero where nothing does.
	from, to time.Time
	// marks are read when they are first asked for.
	marks *marks
	// owner is the request that it is joined to.
	owner *Request
	// suitors are the failed requests that can have made it for more than their
	// time.
	suitors []*Request
}

// effective says whether the write may have taken effect.
func (w *write) effective() bool {
	return w.state != snapshot.EntryRejected && w.state != snapshot.EntryLost
}

// keyWrites are the writes of one key, those that have entries first, each part in
// order.
type keyWrites struct {
	h    *snapshot.History
	list []*write
	// highest has for each the latest time that it or one before it can be of,
	// lowest the earliest that it or one behind it can.
	highest, lowest []time.Time
	// byRevision finds the write of a revision.
	byRevision map[int64]*write
	// index finds the writes that carry a request's stamp, made when it is asked
	// for.
	index *stampIndex
}

// never is later than any time.
var never = time.Unix(1<<40, 0)

// newKeyWrites collects the writes of a key.
func newKeyWrites(h *snapshot.History, key string, spans *spans) *keyWrites {
	k := &keyWrites{h: h}
	all := h.Key(key)
	at := make(map[int64]int, len(all))
	for _, i := range all {
		at[h.At(i).Main] = i
	}
	for _, i := range h.EntriesOf(key) {
		e := h.Entry(i)
		w := &write{entry: i, revision: e.Revision, prev: -1, verb: e.Verb, expected: e.Expected, state: e.State, race: e.Reason == "compare-failed"}
		if p, ok := at[e.Expected]; ok && e.Expected > 0 {
			w.prev = p
		}
		w.from, w.to = spans.of(&e)
		k.list = append(k.list, w)
	}
	for n, i := range all {
		x := h.At(i)
		if _, ok := h.EntryOfRevision(x.Main); ok || x.Tombstone {
			continue
		}
		w := &write{entry: -1, index: i, revision: x.Main, prev: -1, verb: "update", expected: -1, state: snapshot.EntryApplied}
		if n > 0 && !h.At(all[n-1]).Tombstone {
			w.prev = all[n-1]
		}
		if x.Version == 1 {
			w.verb = "create"
		}
		_, w.from, w.to = spans.times.At(x.Main)
		k.list = append(k.list, w)
	}
	k.bound()
	return k
}

// bound fills highest and lowest.
func (k *keyWrites) bound() {
	k.highest, k.lowest = make([]time.Time, len(k.list)), make([]time.Time, len(k.list))
	var high time.Time
	for i, w := range k.list {
		w.place = i
		to := w.to
		if to.IsZero() {
			to = never
		}
		if to.After(high) {
			high = to
		}
		k.highest[i] = high
	}
	low := never
	for i, w := range slices.Backward(k.list) {
		if w.from.Before(low) {
			low = w.from
		}
		k.lowest[i] = low
	}
}

// between calls a function for the writes that can have been made between two
// moments, until it returns false.
func (k *keyWrites) between(from, to time.Time, do func(*write) bool) {
	first := sort.Search(len(k.list), func(i int) bool { return !k.highest[i].Before(from) })
	for i := first; i < len(k.list) && !k.lowest[i].After(to); i++ {
		w := k.list[i]
		if (w.to.IsZero() || !w.to.Before(from)) && !w.from.After(to) && !do(w) {
			return
		}
	}
}

// stampIndex finds the writes of the key by their stamps.
func (k *keyWrites) stampIndex() *stampIndex {
	if k.index == nil {
		k.index = k.newStampIndex()
	}
	return k.index
}

// marksOf reads the stamps of a write.
func (k *keyWrites) marksOf(w *write) *marks {
	if w.marks != nil {
		return w.marks
	}
	w.marks = &marks{}
	o, err := k.object(w)
	if err != nil {
		return w.marks
	}
	fresh := w.verb == "create"
	if w.prev < 0 {
		*w.marks = marksOf(o, nil, fresh)
	} else if before, err := k.h.Object(w.prev); err == nil {
		*w.marks = marksOf(o, before, fresh)
	} else {
		*w.marks = marksOf(o, nil, fresh)
	}
	return w.marks
}

// object decodes what a write stores.
func (k *keyWrites) object(w *write) (runtime.Object, error) {
	if w.entry >= 0 {
		return k.h.EntryObject(w.entry)
	}
	return k.h.Object(w.index)
}

// ofRevision finds the write that made a revision, nil if there is none.
func (k *keyWrites) ofRevision(main int64) *write {
	if k.byRevision == nil {
		k.byRevision = map[int64]*write{}
		for _, w := range k.list {
			if w.revision != 0 {
				k.byRevision[w.revision] = w
			}
		}
	}
	return k.byRevision[main]
}
