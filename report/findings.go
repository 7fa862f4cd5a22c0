package report

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"etcd-autopsy/correlate"
)

// findingView is one judged suspect.
type findingView struct {
	Head, Text, Next phrase
	Role             string
}

// chainView is the causal chain of the verdict's rollout.
type chainView struct {
	Links []findingView
	// Empty is the sentence that stands in its place.
	Empty phrase
}

// findings are a rollout's findings with the given roles, role by role.
func (b *builder) findings(r *correlate.Rollout, roles ...correlate.Role) []findingView {
	var out []findingView
	for _, role := range roles {
		for _, f := range r.Findings {
			if f.Role == role {
				out = append(out, b.finding(f))
			}
		}
	}
	return out
}

func (b *builder) finding(f correlate.Finding) findingView {
	head := join(codeName(f.Cause), mark(string(f.Role), "role"))
	if f.Confidence != "" {
		head = join(head, text("·"), mark(string(f.Confidence), "confidence"))
	}
	if f.Stage > 0 {
		head = join(head, text("· explains "+stageName(f.Stage)))
	}
	if f.Rule != "" {
		head = join(head, text("· rule"), codeName(f.Rule))
	}
	v := findingView{Head: head, Text: b.said(f.Text, f.Evidence), Role: string(f.Role)}
	if f.NextStep != "" {
		v.Next = text(f.NextStep)
	}
	return v
}

func (b *builder) chain() chainView {
	r := b.focus.rollout
	switch {
	case healthy(b.a.Verdict):
		return chainView{Empty: text("Nothing was seen to stall, so there is no chain of causes.")}
	case r == nil && b.focus.episode != nil:
		return chainView{Empty: join(text("No rollout was seen to be held up. The verdict is about"), b.episodeLink(b.focus.episode.ID), text("in the table of episodes."))}
	case r == nil:
		return chainView{Empty: text("No rollout was found that the findings could explain.")}
	}
	links := b.findings(r, correlate.RoleCause, correlate.RoleContributing)
	if len(links) == 0 {
		return chainView{Empty: text("No rule found a cause in the evidence. The candidates, and what would settle it, are in the verdict.")}
	}
	return chainView{Links: links}
}

// rejected lists the suspects that did not do it, with the excluding fact.
func (b *builder) rejected() table {
	t := table{
		Class: "stack",
		Cols:  []column{{"Suspect", ""}, {"Of", ""}, {"Why it is not the cause", "wide"}, {"By", ""}},
		Empty: text("No other suspect came up: no rule had one to reject, and no episode without harm was seen."),
	}
	type fact struct{ cause, text string }
	seen := map[fact]bool{}
	for _, r := range b.rolloutsFocusFirst() {
		for _, f := range r.Findings {
			if f.Role != correlate.RoleRejected || seen[fact{f.Cause, f.Text}] {
				continue
			}
			seen[fact{f.Cause, f.Text}] = true
			t.Rows = append(t.Rows, row{Cells: cells(codeName(f.Cause), b.rolloutLink(r.ID), b.said(f.Text, f.Evidence), codeName(f.Rule))})
		}
	}
	for _, e := range b.a.Episodes {
		if e.Harmless {
			t.Rows = append(t.Rows, row{Cells: cells(codeName(e.Kind), join(text("episode"), b.episodeLink(e.ID)),
				b.said(sentences(e.Text, e.Because), e.Evidence), text("harmless"))})
		}
	}
	return limit(t, maxRows, "rejected suspect")
}

func (b *builder) rolloutsFocusFirst() []*correlate.Rollout {
	var out []*correlate.Rollout
	for i := range b.a.Rollouts {
		out = append(out, &b.a.Rollouts[i])
	}
	slices.SortStableFunc(out, func(x, y *correlate.Rollout) int {
		switch {
		case x == y:
			return 0
		case x == b.focus.rollout:
			return -1
		case y == b.focus.rollout:
			return 1
		}
		return 0
	})
	return out
}

// sentences puts two sentences one after the other; a second one that begins
// small goes on after a semicolon.
func sentences(first, second string) string {
	switch {
	case first == "":
		return second
	case second == "":
		return first
	case unicode.IsLower([]rune(second)[0]):
		return strings.TrimRight(first, ". ") + "; " + second
	}
	return sentence(first) + " " + second
}

// sentence ends a sentence that lacks its full stop.
func sentence(s string) string {
	last, _ := utf8.DecodeLastRuneInString(s)
	if unicode.IsLetter(last) || unicode.IsDigit(last) || last == ')' || last == '"' {
		return s + "."
	}
	return s
}

// limit drops the rows of a table after the first n and says how many.
func limit(t table, n int, noun string) table {
	if left := len(t.Rows) - n; left > 0 {
		t.Rows = t.Rows[:n]
		t.Note = text(plural(left, "more "+noun) + " left out here; the JSON report has them.")
	}
	return t
}
