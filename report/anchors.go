package report

import (
	"fmt"
	"regexp"
)

// anchors hands out the IDs of a document, each once.
type anchors struct{ taken map[string]bool }

// sections are the fixed IDs of a document; nothing else may take them.
var sections = []string{
	"verdict", "unseen", "stages", "timeline", "rollouts", "chain", "rejected",
	"writes", "episodes", "evidence", "inputs", "method",
}

var plainID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,31}$`)

func newAnchors() anchors {
	a := anchors{taken: map[string]bool{}}
	for _, s := range sections {
		a.taken[s] = true
	}
	return a
}

// claim returns want if it is a plain and free ID, else a numbered one of kind.
func (a anchors) claim(want, kind string) string {
	id := want
	for n := 1; !plainID.MatchString(id) || a.taken[id] || graphicID(id); n++ {
		id = fmt.Sprintf("%s-%d", kind, n)
	}
	a.taken[id] = true
	return id
}

// graphicID reports whether an ID belongs to the shapes of the pictures.
func graphicID(id string) bool { return len(id) > 2 && (id[:2] == "g-" || id[:2] == "p-") }
