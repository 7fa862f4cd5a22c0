package correlate

import (
	_ "embed"
	"strings"
	"sync"
)

// Cause is a word of the public vocabulary of causes: rules name causes by ID,
// and `explain` prints the rest.
type Cause struct {
	// ID is stable; IDs are added, never renamed.
	ID string
	// Stages says where the cause can stall a rollout: "6", "3,4", "3-9", "any";
	// empty for "none".
	Stages string
	// Test is how the cause is recognised, in one line.
	Test string
	// NotToBeConfusedWith names the nearest rival; empty if there is none.
	NotToBeConfusedWith string
	// NextStep is what to do about it first; empty for causes that no rule names yet.
	NextStep string
}

//go:embed causes.tsv
var causesTSV string

// Causes returns the vocabulary in the order of its table. The slice is the
// caller's.
func Causes() []Cause {
	return append([]Cause(nil), causes()...)
}

// LookupCause finds a cause by its ID.
func LookupCause(id string) (Cause, bool) {
	for _, c := range causes() {
		if c.ID == id {
			return c, true
		}
	}
	return Cause{}, false
}

var causes = sync.OnceValue(func() []Cause { return parseCauses(causesTSV) })

// parseCauses reads the table: a header, then a line a cause of four columns;
// columns missing at the end of a line are empty.
func parseCauses(tsv string) []Cause {
	_, rows, _ := strings.Cut(tsv, "\n")
	var out []Cause
	for row := range strings.Lines(rows) {
		var cols [4]string
		copy(cols[:], strings.Split(strings.TrimRight(row, "\r\n"), "\t"))
		if cols[0] == "" {
			continue
		}
		out = append(out, Cause{ID: cols[0], Stages: cols[1], Test: cols[2], NotToBeConfusedWith: cols[3], NextStep: nextSteps[cols[0]]})
	}
	return out
}
