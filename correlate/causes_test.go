package correlate

import (
	"regexp"
	"strings"
	"testing"
)

func TestCausesAreWellFormed(t *testing.T) {
	id := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	stages := regexp.MustCompile(`^(any|[1-9](-[1-9])?(,[1-9])*)$`)
	seen := map[string]bool{}
	for _, c := range Causes() {
		if !id.MatchString(c.ID) || seen[c.ID] {
			t.Errorf("cause %q: malformed or repeated ID", c.ID)
		}
		seen[c.ID] = true
		if c.ID != "none" && !stages.MatchString(c.Stages) {
			t.Errorf("cause %s: stages %q", c.ID, c.Stages)
		}
		if c.Test == "" {
			t.Errorf("cause %s: no test", c.ID)
		}
	}
	if want := strings.Count(causesTSV, "\n") - 1; len(seen) != want {
		t.Errorf("read %d causes of %d lines", len(seen), want)
	}
}

func TestLookupCause(t *testing.T) {
	got, ok := LookupCause("image-pull")
	if !ok || got.Stages != "6" || got.NotToBeConfusedWith != "a first pull still in progress; CNI" {
		t.Errorf("LookupCause(image-pull) = %+v, %v", got, ok)
	}
	for _, id := range []string{"", "cause", "no-such-cause"} {
		if c, ok := LookupCause(id); ok {
			t.Errorf("LookupCause(%q) = %+v", id, c)
		}
	}
}

func TestCausesAreTheCallers(t *testing.T) {
	Causes()[0].ID = "changed"
	if _, ok := LookupCause("changed"); ok {
		t.Error("a caller changed the table")
	}
}

func TestParseCausesWithShortLines(t *testing.T) {
	got := parseCauses("cause\tstages\ttest\tnot\r\na\t1\tx\r\n\nb\t2\ty\tz\n")
	want := []Cause{{ID: "a", Stages: "1", Test: "x"}, {ID: "b", Stages: "2", Test: "y", NotToBeConfusedWith: "z"}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("parseCauses = %+v", got)
	}
}
