package report

import (
	"fmt"
	"strings"

	"etcd-autopsy/correlate"
)

// Summary returns the verdict in three to six plain lines, without a line end
// after the last.
func Summary(a *correlate.Analysis) string {
	c, err := canonical(a)
	if err != nil {
		return "verdict: " + prose(a.Verdict.Text)
	}
	f := focusOf(c)
	b := &builder{a: c, focus: f, clock: newClock(nil, f.from)}
	lines := []string{b.title()}
	if v := prose(c.Verdict.Text); v != "" {
		lines = append(lines, "  verdict:  "+v)
	}
	lines = append(lines, b.causeSummary())
	if step := b.firstStep(); len(step) > 0 {
		lines = append(lines, "  next:     "+step[0].Text)
	} else if s := prose(c.Verdict.WouldSettle); s != "" {
		lines = append(lines, "  settle:   "+s)
	}
	lines = append(lines, fmt.Sprintf("  evidence: %s, %s", plural(len(c.Inputs), "input"), b.revisionRange()))
	if n := b.gaps(); n > 0 {
		lines = append(lines, fmt.Sprintf("  not seen: %s in the report on what is missing", plural(n, "note")))
	}
	return strings.Join(lines, "\n")
}

func (b *builder) causeSummary() string {
	v := b.a.Verdict
	switch {
	case healthy(v):
		return "  cause:    none: nothing was seen to stall"
	case !undecided(v) && v.Confidence != "":
		return fmt.Sprintf("  cause:    %s (%s)", name(*v.Cause), name(string(v.Confidence)))
	case !undecided(v):
		return "  cause:    " + name(*v.Cause)
	}
	var names []string
	for _, c := range v.Candidates {
		names = append(names, name(c.Cause))
	}
	if len(names) == 0 {
		return "  cause:    undecided"
	}
	return "  cause:    undecided: " + listing(names, "or")
}

// gaps counts the notes on coverage and the inputs with problems.
func (b *builder) gaps() int {
	n := len(b.a.Coverage.Notes)
	for _, in := range b.a.Inputs {
		if len(in.Problems) > 0 {
			n++
		}
	}
	return n
}
