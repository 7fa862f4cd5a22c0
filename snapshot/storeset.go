package snapshot

import "slices"

// storeSets gives equal sets of stores one slice: there are few, and each
// revision has one.
type storeSets struct {
	list  [][]int // ascending store indexes
	grown map[[2]int]int
}

// newStoreSets returns one with the empty set, number 0.
func newStoreSets() storeSets {
	return storeSets{list: [][]int{nil}, grown: map[[2]int]int{}}
}

// single is the set of one store.
func (s *storeSets) single(store int) int { return s.with(0, store) }

// with is a set with one more store.
func (s *storeSets) with(set, store int) int {
	if n, ok := s.grown[[2]int{set, store}]; ok {
		return n
	}
	members := append(slices.Clone(s.list[set]), store)
	slices.Sort(members)
	s.list = append(s.list, slices.Clip(members))
	s.grown[[2]int{set, store}] = len(s.list) - 1
	return len(s.list) - 1
}
