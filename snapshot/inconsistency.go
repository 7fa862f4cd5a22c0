package snapshot

import (
	"slices"
	"sort"
)

// MaxListed is how many conflicts and how many inconsistencies are listed of one
// store at most.
const MaxListed = maxConflicts

// Inconsistency says that two stores of one cluster do not hold the same at a
// revision that both should have.
type Inconsistency struct {
	Main, Sub int64
	// Key is the key of the record in StoreA; OtherKey is that in StoreB if it is
	// another key, else "".
	Key, OtherKey string
	// StoreA and StoreB are indexes into Stores.
	StoreA, StoreB int
	// Missing is true if StoreB has no such record at all, false if it has other
	// bytes.
	Missing bool
	// LikeA and LikeB are the stores that hold what StoreA and StoreB hold, those
	// two included, ascending. A store that is in neither holds a third thing, does
	// not reach to the revision or had it compacted.
	LikeA, LikeB []int
}

// Inconsistencies lists where stores of one cluster contradict each other, in
// order of StoreB and revision: the first of a pair is where they diverge. At
// most 1,000 are listed of each StoreB. Stores that are known to be damaged are
// not compared: damage is no inconsistency. What a restore explains is listed by
// Rewinds instead.
func (h *History) Inconsistencies() []Inconsistency { return slices.Clone(h.inconsistencies) }

// takeSides finds for each inconsistency the stores that hold what either side
// holds.
func (h *History) takeSides() {
	for n := range h.inconsistencies {
		x := &h.inconsistencies[n]
		a, _ := h.stores[x.StoreA].hashOf(x.Main, x.Sub)
		b, _ := h.stores[x.StoreB].hashOf(x.Main, x.Sub)
		for i, s := range h.stores {
			hash, has := s.hashOf(x.Main, x.Sub)
			above, last := s.coverage()
			switch {
			case has && hash == a:
				x.LikeA = append(x.LikeA, i)
			case has && !x.Missing && hash == b, !has && x.Missing && x.Main > above && x.Main <= last:
				x.LikeB = append(x.LikeB, i)
			}
		}
	}
}

// hashOf is the hash of a record of the store's tree.
func (s *store) hashOf(main, sub int64) (hash uint64, has bool) {
	at := revisionKey{main: main, sub: sub}
	n := sort.Search(len(s.records), func(i int) bool { return s.records[i].compareTo(at) >= 0 })
	if n == len(s.records) || s.records[n].compareTo(at) != 0 {
		return 0, false
	}
	return s.hashes[n], true
}
