package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// carved is a record that a page outside the tree holds.
type carved struct {
	record
	hash           uint64 // as in store.hashes
	offset, length int64  // of the record's bytes
	page           uint64
	disputed       bool // another copy differs
}

// carver turns what the page scanner finds into records that may be added to
// those of the tree.
type carver struct {
	store       *store
	above, last int64 // what the tree has whole
	highWater   uint64
	index       map[[2]int64]int // main and sub to an element of found
	found       []carved
	differ      []Contradiction
	// foreign counts pages, and names the first, whose records contradict the
	// tree: of an earlier life of the file.
	foreign, firstForeign uint64
	beyond                int // records above the high-water mark
}

// carve reads the pages that are not in seen and adds the records that only they
// have: compaction and rewriting leave pages as they are until they are needed
// again.
func (s *store) carve(ctx context.Context, l layout, seen pageSet) error {
	c := &carver{store: s, index: map[[2]int64]int{}, highWater: l.meta.highWater}
	c.above, c.last = s.coverage()
	slices.SortFunc(s.unread, func(a, b revisionKey) int { return cmp.Or(cmp.Compare(a.main, b.main), cmp.Compare(a.sub, b.sub)) })
	p := &pageScanner{file: s.file, ps: l.pageSize, size: l.size, seen: seen, meter: &s.meter}
	if err := guard(func() error { return p.run(ctx, c.page) }); err != nil {
		return err
	}
	c.survivors()
	c.settle()
	return nil
}

// page takes the records of one page. After the first that contradicts the tree
// the page is believed no more.
func (c *carver) page(id uint64, list []scanned) {
	agreed := false
	for i := range list {
		e := &list[i]
		n, known := c.inTree(e.rev)
		switch {
		case known && c.store.hashes[n] == e.hash:
			agreed = true
			continue
		case known:
			c.contradict(e, &c.store.records[n])
		case c.impossible(e.rev):
		default:
			c.add(id, e)
			continue
		}
		if !agreed {
			c.foreign++
			c.firstForeign = cmp.Or(c.firstForeign, id)
		}
		return
	}
}

// inTree finds a record of the tree.
func (c *carver) inTree(r revisionKey) (int, bool) {
	return slices.BinarySearchFunc(c.store.records, r, func(a record, b revisionKey) int { return a.compareTo(b) })
}

// impossible is true for a revision that the tree would have, were it true.
func (c *carver) impossible(r revisionKey) bool {
	if r.main <= c.above || r.main > c.last {
		return false
	}
	_, there := slices.BinarySearchFunc(c.store.unread, r, func(a, b revisionKey) int {
		return cmp.Or(cmp.Compare(a.main, b.main), cmp.Compare(a.sub, b.sub))
	})
	return !there
}

// contradict notes that a record is not the tree's.
func (c *carver) contradict(e *scanned, tree *record) {
	if len(c.differ) == maxContradictions {
		return
	}
	x := Contradiction{Main: e.rev.main, Sub: e.rev.sub, Key: string(e.kv.key), Store: c.store.index, Offset: e.offset, Other: c.store.index, OtherOffset: -1, Reachable: true}
	if other := c.store.keys.names[tree.key]; other != x.Key {
		x.OtherKey = other
	}
	c.differ = append(c.differ, x)
}

// add takes a record that the tree does not have. Of several copies the first is
// kept; one that differs puts all of them in doubt.
func (c *carver) add(page uint64, e *scanned) {
	id := [2]int64{e.rev.main, e.rev.sub}
	if n, ok := c.index[id]; ok {
		c.compare(&c.found[n], e)
		return
	}
	c.index[id] = len(c.found)
	c.found = append(c.found, carved{
		record: newRecord(e.rev, c.store.keys.number(e.kv.key), &e.kv), hash: e.hash,
		offset: e.offset, length: e.length, page: page,
	})
	if c.highWater > 0 && page >= c.highWater {
		c.beyond++
	}
}

// compare notes when a second copy of a record differs from the first.
func (c *carver) compare(first *carved, e *scanned) {
	if first.hash == e.hash {
		return
	}
	first.disputed = true
	if len(c.differ) == maxContradictions {
		return
	}
	x := Contradiction{Main: e.rev.main, Sub: e.rev.sub, Key: string(e.kv.key), Store: c.store.index, Offset: e.offset, Other: c.store.index, OtherOffset: first.offset}
	if other := c.store.keys.names[first.key]; other != x.Key {
		x.OtherKey = other
	}
	c.differ = append(c.differ, x)
}

// survivors drops the pages with a record that compaction would have spared: of
// a key that lives on, the newest record up to the compaction stays in the tree.
func (c *carver) survivors() {
	if len(c.found) == 0 {
		return
	}
	compact := c.store.info.CompactRevision
	newest := map[uint32]int64{}
	for i := range c.store.records {
		r := &c.store.records[i]
		if r.main > compact {
			break
		}
		if !r.tombstone() {
			newest[r.key] = r.main
		}
	}
	bad := map[uint64]bool{}
	for i := range c.found {
		f := &c.found[i]
		if at := newest[f.key]; at > 0 && f.main > at && f.main <= compact {
			bad[f.page] = true
		}
	}
	if len(bad) == 0 {
		return
	}
	c.found = slices.DeleteFunc(c.found, func(f carved) bool { return bad[f.page] })
	for page := range bad {
		if c.foreign++; c.firstForeign == 0 || page < c.firstForeign {
			c.firstForeign = page
		}
	}
}

// settle gives the store its carved records, and says what was odd.
func (c *carver) settle() {
	s := c.store
	c.found = slices.DeleteFunc(c.found, func(f carved) bool { return f.disputed })
	slices.SortFunc(c.found, func(a, b carved) int { return compareRevisions(&a.record, &b.record) })
	s.carved = slices.Clip(c.found)
	for i := range s.carved {
		s.places = append(s.places, s.carved[i].place(s.carved[i].offset, s.carved[i].length, s.carved[i].hash))
	}
	s.sortPlaces()
	s.contradictions = c.differ
	s.info.Carved = len(s.carved)
	if n := len(s.carved); n > 0 {
		s.info.CarvedFirst, s.info.CarvedLast = s.carved[0].main, s.carved[n-1].main
	}
	c.tell()
}

// tell adds to the store's problems what the pages outside the tree show.
func (c *carver) tell() {
	s := c.store
	if c.foreign > 0 {
		s.problem("%d pages outside its tree hold another history than the tree (an earlier life of the file, or damage): their records are left out (the first is page %d)", c.foreign, c.firstForeign)
	}
	if n := len(c.differ); n > 0 {
		s.problem("%d records outside its tree differ from another copy of their revision and are left out (the first is revision %s)",
			n, revisionName(c.differ[0].Main, c.differ[0].Sub))
	}
	if c.beyond > 0 {
		s.problem("%d records lie beyond the high-water mark: of a transaction that was not finished, or of a copy that is torn", c.beyond)
	}
	if s.info.Records > 0 && s.info.CarvedLast > s.info.Last {
		newer := slices.IndexFunc(s.carved, func(f carved) bool { return f.main > s.info.Last })
		s.problem("%s outside its tree are newer than the tree, up to revision %d: the tree is of an earlier moment, or the copy is torn",
			fmt.Sprintf("%d records", len(s.carved)-newer), s.info.CarvedLast)
	}
}
