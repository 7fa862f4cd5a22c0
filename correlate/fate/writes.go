package fate

import (
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
	// verb and expected are those of the entry, or what they must have been; expected
	// is -1 if not known.
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
	// contested says whether an answered request can have made it; 0 if that was not
	// asked yet, 1 if not, 2 if so.
	contested uint8
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
	h *snapshot.History
	window
	// crowded is true if a request has more candidates than can be told apart.
	crowded bool
	// byRevision finds the write of a revision.
	byRevision map[int64]*write
	// index finds the writes that carry a request's stamp, made when it is asked
	// for.
	index *stampIndex
}

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
			if before := h.At(w.prev); before.Version == x.Version-1 {
				w.expected = before.Main
			}
		}
		if x.Version == 1 {
			w.verb = "create"
		}
		_, w.from, w.to = spans.times.At(x.Main)
		k.list = append(k.list, w)
	}
	for i, w := range k.list {
		w.place = i
	}
	k.bound()
	return k
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
