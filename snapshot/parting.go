package snapshot

import (
	"cmp"
	"slices"
)

// parting is where a store that was not merged parts from the merged ones.
type parting struct {
	store, other int
	// common is the last revision before the first that differs that both have
	// alike, 0 for none; first is the one that differs.
	common, first int64
	alike, after  int // records that are equal before and behind first
	differ        int
}

func (p *parting) agrees(main int64) {
	if p.first == 0 {
		p.common = main
		p.alike++
		return
	}
	p.after++
}

func (p *parting) differs(main int64, other int) {
	if p.first == 0 {
		p.first, p.other = main, other
	}
	p.differ++
}

// inconsistent sorts the stores that were not merged: those that were restored
// from an earlier state of the same history, and those that contradict stores of
// their own cluster. Those with hardly anything in common are of another cluster.
func (h *History) inconsistent(m *merger) {
	h.estrange(m.partings)
	told := map[int]bool{}
	for _, p := range m.partings {
		switch {
		case !p.related():
		case p.alike > 0 && p.after*10 <= p.differ && h.rewound(p, told):
		default:
			h.disagree(p)
		}
	}
	for i, s := range h.stores {
		if s.restored() && !told[i] && !s.info.Foreign {
			h.rewinds = append(h.rewinds, h.rewind(i, -1, parting{}))
		}
	}
	h.inconsistencies = slices.DeleteFunc(h.inconsistencies, func(x Inconsistency) bool {
		return h.stores[x.StoreA].spoilt()+h.stores[x.StoreB].spoilt() > 0
	})
	h.takeSides()
	for i := range h.inconsistencies {
		x := &h.inconsistencies[i]
		if x.OtherKey == x.Key {
			x.OtherKey = ""
		}
	}
	slices.SortStableFunc(h.inconsistencies, func(a, b Inconsistency) int {
		return cmp.Or(cmp.Compare(a.StoreB, b.StoreB), cmp.Compare(a.Main, b.Main), cmp.Compare(a.Sub, b.Sub), cmp.Compare(a.StoreA, b.StoreA))
	})
	slices.SortFunc(h.rewinds, func(a, b Rewind) int { return cmp.Or(cmp.Compare(a.Store, b.Store), cmp.Compare(a.Other, b.Other)) })
}

// disagree lists the conflicts of a store as inconsistencies.
func (h *History) disagree(p parting) {
	for _, c := range h.conflicts {
		if c.StoreB == p.store {
			h.inconsistencies = append(h.inconsistencies, Inconsistency{
				Main: c.Main, Sub: c.Sub, Key: c.Key, OtherKey: c.OtherKey, StoreA: c.StoreA, StoreB: c.StoreB,
			})
		}
	}
}

// rewound notes a rewind, if one of the two stores was restored: its raft log is
// younger than its revisions, or all its members are new.
func (h *History) rewound(p parting, told map[int]bool) bool {
	one, two := h.stores[p.store], h.stores[p.other]
	back, on := p.store, p.other
	switch {
	case one.restored() && two.restored():
		if two.info.ConsistentIndex < one.info.ConsistentIndex {
			back, on = on, back
		}
	case one.restored():
	case two.restored():
		back, on = on, back
	default:
		a, b := one.info.memberIDs(), two.info.memberIDs()
		if len(a) == 0 || len(b) == 0 || meet(a, b) {
			return false
		}
	}
	h.rewinds = append(h.rewinds, h.rewind(back, on, p))
	told[back] = true
	return true
}

func (h *History) rewind(store, other int, p parting) Rewind {
	info := &h.stores[store].info
	return Rewind{Store: store, Other: other, LastCommon: p.common, Differ: p.first, Revision: info.Last, ConsistentIndex: info.ConsistentIndex}
}

// restored says whether a store's raft log is too short for its revisions: each
// but the first takes an entry, so the log began anew from a snapshot.
func (s *store) restored() bool {
	i := &s.info
	return i.ConsistentIndex > 0 && i.Last > 0 && uint64(i.Last) > i.ConsistentIndex+1
}
