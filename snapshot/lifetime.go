package snapshot

// endLifetimes gives each tombstone what is known of the lifetime that it ends:
// the key's record before it. That record is the right one if some store has
// or log has the tombstone in its complete range, for then nothing between the two can be
// lost: what a compaction leaves of a living key is its newest record.
func (h *History) endLifetimes() {
	for key := range h.keys {
		indexes := h.of(key)
		for n := 1; n < len(indexes); n++ {
			r, before := &h.revisions[indexes[n]], &h.revisions[indexes[n-1]]
			if r.tombstone() && !before.tombstone() && h.whole(r) {
				r.create, r.version, r.leased = before.create, before.version, before.leased
			}
		}
	}
}

// whole says whether a store that has the revision has it in its complete range.
func (h *History) whole(r *record) bool {
	if r.isCarved() {
		return false
	}
	if h.replayedWhole(r.main) {
		return true
	}
	for _, s := range h.sets[r.set()] {
		if above, _ := h.stores[s].coverage(); r.main > above {
			return true
		}
	}
	return false
}
