package snapshot

import "slices"

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
}

// Inconsistencies lists where stores of one cluster contradict each other, in
// order of StoreB and revision: the first of a pair is where they diverge. At
// most 1,000 are listed of each StoreB. What a restore explains is listed by
// Rewinds instead.
func (h *History) Inconsistencies() []Inconsistency { return slices.Clone(h.inconsistencies) }
