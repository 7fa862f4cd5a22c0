package snapshot

import "slices"

// coverage is the range of revisions (above, last] that a store has whole. What
// a compaction may have reached is not in it, even if it had not finished, nor
// what a damage may have taken.
func (s *store) coverage() (above, last int64) {
	above, last = max(s.info.CompactRevision, s.info.ScheduledCompactRevision), s.info.Last
	if s.partial {
		above = max(above, last)
	}
	for _, r := range s.info.Lost {
		if r.To == 0 {
			above = max(above, last)
		}
		above = max(above, min(r.To, last))
	}
	return above, last
}

// span sets First, Last and the compaction floor from the merged stores; sources
// are those and the ones that have only carved records.
func (h *History) span(accepted, sources []int) {
	if len(h.revisions) > 0 {
		h.first = h.revisions[0].main
	}
	for _, i := range accepted {
		h.last = max(h.last, h.stores[i].info.Last)
	}
	h.last = max(h.last, h.replayedTo())
	if h.last > 0 {
		h.compact = h.floor(accepted)
		return
	}
	for _, i := range sources {
		h.last = max(h.last, h.stores[i].info.CarvedLast)
	}
	for _, d := range h.dumps {
		h.last = max(h.last, d.info.Last)
	}
	h.compact = h.last
}

// floor goes down from Last through the complete ranges of stores and logs for as
// long as they meet. If no range ends at Last, nothing is known to be complete up to
// the highest compaction.
func (h *History) floor(accepted []int) int64 {
	floor, moved, whole := h.last, true, slices.Clone(h.replayed)
	for _, i := range accepted {
		above, last := h.stores[i].coverage()
		whole = append(whole, span{above, last})
	}
	for moved {
		moved = false
		for _, r := range whole {
			if r.above < floor && floor <= r.last {
				floor, moved = r.above, true
			}
		}
	}
	if floor < h.last {
		return floor
	}
	for _, r := range whole {
		floor = max(floor, r.above)
	}
	return floor
}

// missing notes revisions that a store should have, being in its complete
// range, and that only others have.
func (h *History) missing(m *merger, accepted []int) {
	for _, i := range accepted {
		s := h.stores[i]
		if s.spoilt() == 2 {
			continue // what it lacks was said where it was salvaged
		}
		above, last := s.coverage()
		count, first := 0, 0
		for n := h.after(above); n < len(h.revisions) && h.revisions[n].main <= last; n++ {
			if r := &h.revisions[n]; !slices.Contains(m.sets.list[r.set()], i) {
				if count == 0 {
					first = n
				}
				count++
				if count <= maxConflicts {
					h.inconsistencies = append(h.inconsistencies, Inconsistency{
						Main: r.main, Sub: int64(r.sub), Key: h.table.names[r.key], StoreA: m.sets.list[r.set()][0], StoreB: i, Missing: true,
					})
				}
			}
		}
		if count > 0 {
			r := &h.revisions[first]
			s.problem("%d revisions between %d and %d that other stores have are not in this one (the first is %s, key %q)",
				count, above+1, last, r.name(), h.table.names[r.key])
		}
	}
}

// after is the index of the first revision above main.
func (h *History) after(main int64) int {
	low, high := 0, len(h.revisions)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if h.revisions[middle].main <= main {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
