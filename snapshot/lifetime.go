package snapshot

// endLifetimes gives each tombstone what is known of the lifetime that it ends:
// the key's record before it. That record is the right one if some store has
// the tombstone in its complete range, for then nothing between the two can be
// lost: what a compaction leaves of a living key is its newest record.
func (h *History) endLifetimes() {
	for _, indexes := range h.byKey {
		for n := 1; n < len(indexes); n++ {
			r, before := &h.revisions[indexes[n]], &h.revisions[indexes[n-1]]
			if r.Tombstone && !before.Tombstone && h.whole(r) {
				r.Create, r.Version, r.Lease = before.Create, before.Version, before.Lease
			}
		}
	}
}

// whole says whether a store that has the revision has it in its complete range.
func (h *History) whole(r *Revision) bool {
	if r.Carved {
		return false
	}
	for _, s := range r.Stores {
		if above, _ := h.stores[s].coverage(); r.Main > above {
			return true
		}
	}
	return false
}
