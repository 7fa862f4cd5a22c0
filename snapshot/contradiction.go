package snapshot

import "slices"

// Contradiction says that a record found outside a store's tree is not the one
// that another place has for the same revision. Neither such a record nor, if
// Reachable is false, the one it was compared with is in the history.
type Contradiction struct {
	Main, Sub int64
	// Key is that of the record at Offset of Store; OtherKey is that of the
	// other place, if it is another key, else "".
	Key, OtherKey string
	Store         int
	Offset        int64
	// Other is the store that says otherwise (often the same), OtherOffset where
	// in it; -1 if the other record is reachable.
	Other       int
	OtherOffset int64
	// Reachable is true if the other record is held by a tree: the one at Offset
	// is then wrong for this history.
	Reachable bool
}

// maxContradictions is how many are listed of one store.
const maxContradictions = 1000

// Contradictions lists the records found outside the trees that differ from
// another copy of the same revision, in order of Store, revision and Offset; at
// most 1,000 of each store.
func (h *History) Contradictions() []Contradiction { return slices.Clone(h.contradictions) }
