package snapshot

import (
	"cmp"
	"fmt"
	"slices"
)

// carvedRef is a carved record of a store during the merge.
type carvedRef struct {
	store, record int
}

// carving adds the carved records of the stores to a history.
type carving struct {
	h     *History
	m     *merger
	known []carvedRef // not in any tree, in order of main, sub and store
	// strange counts, for each store, records that another store's tree would
	// have, were they true; first is the first of them.
	strange map[int]*strangeRecords
}

type strangeRecords struct {
	count int
	first revisionKey
}

// addCarved merges the carved records of the accepted stores, and of those that
// have nothing else, below what the trees hold.
func (h *History) addCarved(m *merger, accepted []int) []int {
	c := &carving{h: h, m: m, strange: map[int]*strangeRecords{}}
	sources := slices.Clone(accepted)
	for i, s := range h.stores {
		if len(s.records) == 0 && len(s.carved) > 0 && c.related(i) {
			sources = append(sources, i)
		}
	}
	slices.Sort(sources)
	for _, i := range sources {
		c.collect(i, accepted)
	}
	slices.SortFunc(c.known, func(a, b carvedRef) int {
		return cmp.Or(compareRevisions(&c.of(a).record, &c.of(b).record), cmp.Compare(a.store, b.store))
	})
	h.insert(c.unanimous())
	h.dropMisfits(m)
	for _, i := range sources {
		if x := c.strange[i]; x != nil {
			h.stores[i].problem("%d records outside its tree are of another history than the other stores and are left out (the first is revision %s)", x.count, x.first.name())
		}
	}
	for _, s := range h.stores {
		h.contradictions = append(h.contradictions, s.contradictions...)
	}
	slices.SortStableFunc(h.contradictions, func(a, b Contradiction) int {
		return cmp.Or(cmp.Compare(a.Store, b.Store), cmp.Compare(a.Main, b.Main), cmp.Compare(a.Sub, b.Sub), cmp.Compare(a.Offset, b.Offset))
	})
	return sources
}

// of is the carved record behind a reference.
func (c *carving) of(r carvedRef) *carved { return &c.h.stores[r.store].carved[r.record] }

// related says whether a store without a tree is of this history: not one in ten
// of the records that a tree has too may differ.
func (c *carving) related(i int) bool {
	s := c.h.stores[i]
	shared, differ, first := 0, 0, -1
	for n := range s.carved {
		a, ok := c.m.search(&s.carved[n].record)
		if !ok {
			continue
		}
		shared++
		if c.m.hash(a) != s.carved[n].hash {
			if differ++; first < 0 {
				first = n
			}
		}
	}
	if differ*10 <= shared {
		return true
	}
	s.info.Rejected = fmt.Sprintf("not of one history with the other stores: revision %s of key %q has other bytes there; it is the first of %d that differ, of %d that both have",
		s.carved[first].name(), s.keyOf(&s.carved[first].record), differ, shared)
	return false
}

// search finds the merged revision of a record.
func (m *merger) search(r *record) (int, bool) {
	return slices.BinarySearchFunc(m.list, r, func(e merged, r *record) int {
		return compareRevisions(&m.stores[e.store].records[e.record], r)
	})
}

// collect takes those records of a store that no tree has.
func (c *carving) collect(i int, accepted []int) {
	s := c.h.stores[i]
	for n := range s.carved {
		r := &s.carved[n]
		a, ok := c.m.search(&r.record)
		switch {
		case ok && c.m.hash(a) == r.hash:
		case ok:
			c.note(r, i, c.m.keyOf(a), int(c.m.list[a].store), -1)
		case c.impossible(r.main, i, accepted):
			x := c.strange[i]
			if x == nil {
				x = &strangeRecords{first: r.at()}
				c.strange[i] = x
			}
			x.count++
		default:
			c.known = append(c.known, carvedRef{i, n})
		}
	}
}

// impossible is true for a revision that another store has whole, and without
// the record.
func (c *carving) impossible(main int64, store int, accepted []int) bool {
	for _, i := range accepted {
		above, last := c.h.stores[i].coverage()
		if i != store && len(c.h.stores[i].unread) == 0 && main > above && main <= last {
			return true
		}
	}
	return false
}

// note notes that a store's carved record is not the one of another place: at an
// offset of a store, or of its tree if that is -1.
func (c *carving) note(r *carved, store int, otherKey string, other int, offset int64) {
	s := c.h.stores[store]
	if len(s.contradictions) >= maxContradictions {
		return
	}
	x := Contradiction{Main: r.main, Sub: int64(r.sub), Key: s.keyOf(&r.record), Store: store, Offset: r.offset, Other: other, OtherOffset: offset, Reachable: offset < 0}
	if otherKey != x.Key {
		x.OtherKey = otherKey
	}
	s.contradictions = append(s.contradictions, x)
}

// unanimous makes revisions of the carved records about which all stores agree.
func (c *carving) unanimous() (list []record, hashes []uint64) {
	for from := 0; from < len(c.known); {
		first := c.of(c.known[from])
		to, agree, set := from, true, 0
		for ; to < len(c.known) && compareRevisions(&c.of(c.known[to]).record, &first.record) == 0; to++ {
			ref := c.known[to]
			set = c.m.sets.with(set, ref.store)
			if other := c.of(ref); other.hash != first.hash {
				agree = false
				c.note(other, ref.store, c.h.stores[c.known[from].store].keyOf(&first.record), c.known[from].store, first.offset)
			}
		}
		if agree {
			r := first.record
			r.key = c.m.number(c.h, c.known[from].store, r.key)
			r.join(set)
			r.mark |= markCarved
			list, hashes = append(list, r), append(hashes, first.hash)
		}
		from = to
	}
	return list, hashes
}

// insert merges revisions into those of the history. Where both have one the
// inserted one stays.
func (h *History) insert(list []record, hashes []uint64) {
	if len(list) == 0 {
		return
	}
	out, sums := make([]record, 0, len(h.revisions)+len(list)), make([]uint64, 0, len(h.revisions)+len(list))
	a := 0
	for i := range list {
		for a < len(h.revisions) && compareRevisions(&h.revisions[a], &list[i]) < 0 {
			out, sums = append(out, h.revisions[a]), append(sums, h.hashes[a])
			a++
		}
		if a < len(h.revisions) && compareRevisions(&h.revisions[a], &list[i]) == 0 {
			a++
		}
		out, sums = append(out, list[i]), append(sums, hashes[i])
	}
	h.revisions, h.hashes = append(out, h.revisions[a:]...), append(sums, h.hashes[a:]...)
}

// dropMisfits leaves out the carved revisions that contradict others of their
// key, and tells the stores that had them.
func (h *History) dropMisfits(m *merger) {
	drop := misfits(h.revisions)
	if len(drop) == 0 {
		return
	}
	perStore := map[int][]int{}
	for _, i := range drop {
		for _, s := range m.sets.list[h.revisions[i].set()] {
			perStore[s] = append(perStore[s], i)
		}
	}
	for i, s := range h.stores {
		if list := perStore[i]; len(list) > 0 {
			s.problem("%d records outside its tree do not fit the other revisions of their keys (an earlier life of the file?) and are left out (the first is revision %s)",
				len(list), h.revisions[list[0]].name())
		}
	}
	kept, sums := h.revisions[:0], h.hashes[:0]
	for i, r := range h.revisions {
		if len(drop) > 0 && drop[0] == i {
			drop = drop[1:]
			continue
		}
		kept, sums = append(kept, r), append(sums, h.hashes[i])
	}
	h.revisions, h.hashes = kept, sums
}
