package snapshot

import "slices"

// gather merges the stores of one history. Stores that contradict each other fall
// into groups that agree; the one with the most sound stores is taken, of equal
// ones that which comes first in the given order: an odd store does not push aside
// those that agree, however large it is. Stores of k8s Events alone are taken only
// if there are no others. The rest is rejected.
func (h *History) gather(order []int) (m *merger, accepted []int) {
	before := h.marks()
	m, accepted, rest := h.join(order)
	if len(rest) == 0 || len(rest) == 1 && !h.eventsOnly(accepted) {
		return m, accepted // one store outweighs nothing
	}
	best := accepted
	for len(rest) > 0 {
		h.takeBack(before)
		var group []int
		_, group, rest = h.join(rest)
		if h.outweighs(group, best) {
			best = group
		}
	}
	h.takeBack(before)
	others := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return slices.Contains(best, i) })
	m, accepted, _ = h.join(slices.Concat(best, others))
	return m, accepted
}

// join merges stores in order as far as they agree; rest are the others.
func (h *History) join(order []int) (m *merger, accepted, rest []int) {
	m = newMerger(h.stores)
	for _, i := range order {
		if m.add(i) {
			accepted = append(accepted, i)
		} else {
			rest = append(rest, i)
		}
	}
	return m, accepted, rest
}

// outweighs says whether a group of stores is to be taken rather than another.
func (h *History) outweighs(group, than []int) bool {
	if a, b := h.eventsOnly(group), h.eventsOnly(than); a != b {
		return b
	}
	return h.sound(group) > h.sound(than)
}

// eventsOnly says whether all of the stores hold k8s Events alone.
func (h *History) eventsOnly(group []int) bool {
	return !slices.ContainsFunc(group, func(i int) bool { return !h.stores[i].info.EventsOnly })
}

// sound counts the stores that are whole.
func (h *History) sound(group []int) (n int) {
	for _, i := range group {
		if h.stores[i].spoilt() == 0 {
			n++
		}
	}
	return n
}

// mark is how much had been said of a store.
type mark struct{ problems, contradictions int }

func (h *History) marks() []mark {
	list := make([]mark, len(h.stores))
	for i, s := range h.stores {
		list[i] = mark{len(s.info.Problems), len(s.contradictions)}
	}
	return list
}

// takeBack forgets what a merge said of the stores since, for another one.
func (h *History) takeBack(since []mark) {
	for i, s := range h.stores {
		s.info.Rejected = ""
		s.info.Problems = s.info.Problems[:since[i].problems]
		s.contradictions = s.contradictions[:since[i].contradictions]
	}
}
