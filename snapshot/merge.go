package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// maxConflicts is how many conflicts are listed for one store.
const maxConflicts = 1000

// merged is one revision during the merge: the record of the first store that
// has it, and the set of all that do.
type merged struct {
	store, record, set uint32
}

// merger joins stores one by one.
type merger struct {
	stores    []*store
	list      []merged
	sets      storeSets
	conflicts []Conflict
	partings  []parting
	accepted  []int
	// keys translate the numbers of each store's keys to those of the history;
	// nil for a store whose table the history has taken over.
	keys map[int][]uint32
}

func newMerger(stores []*store) *merger {
	return &merger{stores: stores, sets: newStoreSets(), keys: map[int][]uint32{}}
}

// merge joins the records of all stores. Those with the most records come
// first, so that of two that disagree the smaller one (of equal ones the later)
// is left out, unless more stores side with it; but one whose own hash says that
// its bytes were changed comes after all others, and one that is damaged last.
func (h *History) merge(ctx context.Context, logs []*memberLog) error {
	order := make([]int, 0, len(h.stores))
	for i, s := range h.stores {
		if len(s.records) > 0 {
			order = append(order, i)
			s.info.EventsOnly = s.holdsEventsOnly()
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		one, two := h.stores[a], h.stores[b]
		return cmp.Or(cmp.Compare(one.spoilt(), two.spoilt()), cmp.Compare(len(two.records), len(one.records)))
	})
	m, accepted := h.gather(order)
	slices.Sort(accepted)
	h.conflicts = m.conflicts
	slices.SortStableFunc(h.conflicts, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.StoreB, b.StoreB), cmp.Compare(a.Main, b.Main), cmp.Compare(a.Sub, b.Sub))
	})
	h.build(m)
	h.missing(m, accepted)
	h.inconsistent(m)
	sources := h.addCarved(m, accepted)
	err := h.replayLogs(ctx, m, logs)
	h.addDumps(m)
	h.span(accepted, sources)
	h.sets = m.sets.list
	for _, s := range h.stores {
		s.forget()
	}
	h.index()
	h.bindDumps()
	h.endLifetimes()
	return err
}

// spoilt is 2 for a store that is salvaged, 1 for one that does not match its
// hash, else 0.
func (s *store) spoilt() int {
	if s.info.Salvaged != "" && (s.partial || len(s.info.Lost) > 0) {
		return 2
	}
	if ok := s.info.HashOK; ok != nil && !*ok {
		return 1
	}
	return 0
}

// add merges store i unless it disagrees with what is merged already.
func (m *merger) add(i int) bool {
	mine := m.stores[i].records
	next := make([]merged, 0, len(m.list)+len(mine)/8)
	alone := m.sets.single(i)
	shared, differ := 0, 0
	split := parting{store: i, other: -1}
	var a, b int
	for a < len(m.list) || b < len(mine) {
		switch order := m.compare(a, mine, b); {
		case order < 0:
			next = append(next, m.list[a])
			a++
		case order > 0:
			next = append(next, merged{uint32(i), uint32(b), uint32(alone)})
			b++
		default:
			shared++
			e := m.list[a]
			if m.hash(a) != m.stores[i].hashes[b] {
				differ++
				m.conflict(i, a, b, differ)
				split.differs(mine[b].main, int(e.store))
			} else {
				split.agrees(mine[b].main)
				e.set = uint32(m.sets.with(int(e.set), i))
				if first := m.sets.list[e.set][0]; first == i {
					e.store, e.record = uint32(i), uint32(b)
				}
			}
			next = append(next, e)
			a++
			b++
		}
	}
	switch {
	case differ > 0 && !m.tolerable(i, shared, differ):
		m.reject(i, shared, differ)
		m.partings = append(m.partings, split)
		return false
	case differ > 0:
		m.tolerate(i, differ)
	case shared == 0 && !m.kin(i):
		return false
	}
	m.list = next
	m.accepted = append(m.accepted, i)
	return true
}

// compare orders merged revision a and record b of mine; the end of a list
// comes after everything.
func (m *merger) compare(a int, mine []record, b int) int {
	switch {
	case a == len(m.list):
		return 1
	case b == len(mine):
		return -1
	}
	return compareRevisions(m.record(a), &mine[b])
}

// record is the record behind merged revision a.
func (m *merger) record(a int) *record {
	e := m.list[a]
	return &m.stores[e.store].records[e.record]
}

// hash is that of the record behind merged revision a.
func (m *merger) hash(a int) uint64 {
	e := m.list[a]
	return m.stores[e.store].hashes[e.record]
}

// keyOf is the key of the record behind merged revision a.
func (m *merger) keyOf(a int) string {
	return m.stores[m.list[a].store].keyOf(m.record(a))
}

// keyOf is the key of one of the store's records.
func (s *store) keyOf(r *record) string { return s.keys.names[r.key] }

// conflict notes that store i's record b differs from merged revision a.
func (m *merger) conflict(i, a, b, n int) {
	if n > maxConflicts {
		return
	}
	there, here := m.record(a), m.stores[i].keyOf(&m.stores[i].records[b])
	c := Conflict{Main: there.main, Sub: int64(there.sub), Key: m.keyOf(a), StoreA: int(m.list[a].store), StoreB: i}
	if here != c.Key {
		c.OtherKey = here
	}
	m.conflicts = append(m.conflicts, c)
}

// reject says why store i was not merged; its first conflict is among the last
// that were noted.
func (m *merger) reject(i, shared, differ int) {
	c := m.conflicts[len(m.conflicts)-min(differ, maxConflicts)]
	what := fmt.Sprintf("of key %q has other bytes there", c.Key)
	if c.OtherKey != "" {
		what = fmt.Sprintf("is of key %q here and of %q there", c.OtherKey, c.Key)
	}
	m.stores[i].info.Rejected = fmt.Sprintf("not of one history with %s: revision %s %s; it is the first of %d that differ, of %d that both have",
		m.stores[c.StoreA].name(), revisionName(c.Main, c.Sub), what, differ, shared)
}

// build makes the revisions of what the trees hold.
func (h *History) build(m *merger) {
	if len(m.accepted) == 1 { // the usual case, in which nothing need be copied
		s := h.stores[m.accepted[0]]
		h.table, h.revisions, h.hashes = s.keys, s.records, s.hashes
		m.keys[s.index] = nil
		set := m.sets.single(s.index)
		for i := range h.revisions {
			h.revisions[i].join(set)
		}
		return
	}
	h.revisions, h.hashes = make([]record, len(m.list)), make([]uint64, len(m.list))
	for i, e := range m.list {
		r := *m.record(i)
		r.key = m.number(h, int(e.store), r.key)
		r.join(int(e.set))
		h.revisions[i], h.hashes[i] = r, m.hash(i)
	}
}

// number translates the number of a store's key to that of the history.
func (m *merger) number(h *History, store int, key uint32) uint32 {
	numbers, known := m.keys[store]
	if !known {
		names := m.stores[store].keys.names
		numbers = make([]uint32, len(names))
		for i, name := range names {
			numbers[i] = h.table.share(name)
		}
		m.keys[store] = numbers
	}
	if numbers == nil {
		return key
	}
	return numbers[key]
}
