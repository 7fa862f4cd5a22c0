package snapshot

import "slices"

// chains checks the carved revisions of each key against the others of it:
// within a lifetime create_revision stays and versions count the puts; a
// lifetime does not begin before the one ahead of it has ended.
type chains struct {
	list []record
	// before is, for each key, the last trusted revision so far.
	before map[uint32]int
	drop   []int // indexes of carved revisions that do not fit
}

// fits says whether a and then b can be revisions of one key.
func fits(a, b *record) bool {
	switch {
	case a.main == b.main || b.tombstone():
		return true
	case a.tombstone():
		return b.create > a.main
	case a.create == b.create:
		return b.version > a.version && b.version-a.version <= b.main-a.main
	}
	return b.create > a.main
}

// misfits returns the indexes of carved revisions that contradict the trusted
// one before or behind them, or the carved one before them.
func misfits(list []record) []int {
	if !slices.ContainsFunc(list, func(r record) bool { return r.isCarved() }) {
		return nil
	}
	c := &chains{list: list, before: map[uint32]int{}}
	bad := map[int]bool{}
	c.pass(bad)
	if len(bad) > 0 {
		for i := range bad {
			c.drop = append(c.drop, i)
		}
		slices.Sort(c.drop)
	}
	return c.drop
}

// pass goes through the revisions of each key in order. Carved ones wait until
// the next that is trusted shows whether they fit.
func (c *chains) pass(bad map[int]bool) {
	waiting := map[uint32][]int{}
	for i := range c.list {
		r := &c.list[i]
		if last, ok := c.before[r.key]; ok && r.isCarved() && !fits(&c.list[last], r) {
			bad[i] = true
			continue
		}
		wait := waiting[r.key]
		if r.isCarved() {
			if n := len(wait); n > 0 && !fits(&c.list[wait[n-1]], r) {
				bad[i], bad[wait[n-1]] = true, true
			}
			waiting[r.key] = append(wait, i)
			continue
		}
		for _, w := range wait {
			if !fits(&c.list[w], r) {
				bad[w] = true
			}
		}
		delete(waiting, r.key)
		c.before[r.key] = i
	}
}
