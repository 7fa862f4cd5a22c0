package fate

import (
	"slices"
	"sort"
	"time"
)

// window finds those of a list of writes that can have been made between two
// moments.
type window struct {
	list []*write
	// highest has for each the latest time that it or one before it can be of,
	// lowest the earliest that it or one behind it can.
	highest, lowest []time.Time
}

// never is later than any time.
var never = time.Unix(1<<40, 0)

// bound fills highest and lowest.
func (x *window) bound() {
	x.highest, x.lowest = make([]time.Time, len(x.list)), make([]time.Time, len(x.list))
	var high time.Time
	for i, w := range x.list {
		to := w.to
		if to.IsZero() {
			to = never
		}
		if to.After(high) {
			high = to
		}
		x.highest[i] = high
	}
	low := never
	for i, w := range slices.Backward(x.list) {
		if w.from.Before(low) {
			low = w.from
		}
		x.lowest[i] = low
	}
}

// between calls a function for the writes that can have been made between two
// moments, until it returns false.
func (x *window) between(from, to time.Time, do func(*write) bool) {
	first := sort.Search(len(x.list), func(i int) bool { return !x.highest[i].Before(from) })
	for i := first; i < len(x.list) && !x.lowest[i].After(to); i++ {
		w := x.list[i]
		if (w.to.IsZero() || !w.to.Before(from)) && !w.from.After(to) && !do(w) {
			return
		}
	}
}
