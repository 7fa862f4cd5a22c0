package snapshot

import (
	"fmt"
	"strings"
)

// CheckMembers compares the stores of a history with each other: whether they
// are of one history, whether what they have in common has the same hash, and
// whether one was restored from an earlier state.
func CheckMembers(h *History) []CheckLine {
	c := &checking{}
	c.oneHistory(h)
	c.hashes(h)
	c.restores(h)
	return c.lines
}

// oneHistory tells the stores that contradict the others.
func (c *checking) oneHistory(h *History) {
	whole, merged := true, 0
	for i, s := range h.stores {
		switch {
		case s.info.Foreign:
			c.add("one history", CheckUnknown, "", "%s was not compared: %s", s.name(), s.info.Rejected)
		case s.info.Rejected == "" && s.info.Records > 0:
			merged++
		case s.info.Rejected != "":
			whole = false
			c.add("one history", CheckFault, "", "%s: %s", s.name(), s.info.Rejected)
		}
		n, first := 0, -1
		for k, x := range h.inconsistencies {
			if x.StoreB == i && x.Missing {
				if n++; first < 0 {
					first = k
				}
			}
		}
		if n > 0 {
			whole = false
			x := h.inconsistencies[first]
			c.add("one history", CheckFault, "revision "+revisionName(x.Main, x.Sub), "%s lacks %d revisions that it should have (the first is of key %q)", s.name(), n, x.Key)
		}
	}
	switch {
	case !whole:
	case merged < 2:
		c.add("one history", CheckUnknown, "", "there is no other store to compare with")
	default:
		c.add("one history", CheckOK, "", "%d stores agree about every revision that they have in common", merged)
	}
}

// hashes compares the stores by HashKV. One that was compacted less far is
// hashed as if it had been compacted like the others.
func (c *checking) hashes(h *History) {
	var stores []*store
	var compact int64
	for _, s := range h.stores {
		if s.info.Rejected == "" && s.db != nil && s.info.Last > 0 {
			stores = append(stores, s)
			above, _ := s.coverage()
			compact = max(compact, above)
		}
	}
	var names []string
	var rev int64
	kept := stores[:0]
	for _, s := range stores {
		if s.info.Last < compact {
			c.add("hashes", CheckUnknown, "", "%s ends at revision %d, before the compaction at %d of another", s.name(), s.info.Last, compact)
			continue
		}
		if kept = append(kept, s); rev == 0 || s.info.Last < rev {
			rev = s.info.Last
		}
	}
	if len(kept) < 2 {
		c.add("hashes", CheckUnknown, "", "there are no two stores with a common range of revisions")
		return
	}
	same, sums := true, map[uint32]bool{}
	for _, s := range kept {
		sum, err := s.hashRange(compact, rev, TombstoneBySchema)
		if err != nil {
			c.add("hashes", CheckUnknown, "", "%s: %s", s.name(), err)
			return
		}
		sums[sum] = true
		same = len(sums) == 1
		names = append(names, fmt.Sprintf("%d in %s", sum, s.name()))
	}
	status, what := CheckOK, "equal"
	if !same {
		status, what = CheckFault, "different"
	}
	c.add("hashes", status, fmt.Sprintf("revision %d", rev), "HashKV at revision %d, compacted at %d, is %s: %s", rev, compact, what, strings.Join(names, ", "))
}

// restores tells the stores that went back to an earlier state.
func (c *checking) restores(h *History) {
	for _, r := range h.rewinds {
		name := h.stores[r.Store].name()
		if r.Other < 0 {
			c.add("restores", CheckOK, "", "%s was restored from a snapshot: its raft index %d is too low for revision %d", name, r.ConsistentIndex, r.Revision)
			continue
		}
		c.add("restores", CheckFault, fmt.Sprintf("revision %d", r.Differ),
			"%s was restored from a state of revision %d and went on without what %s has from revision %d on", name, r.LastCommon, h.stores[r.Other].name(), r.Differ)
	}
	if len(h.rewinds) == 0 {
		c.add("restores", CheckOK, "", "no store shows that it was restored")
	}
}
