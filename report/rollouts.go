package report

import (
	"fmt"
	"time"

	"etcd-autopsy/correlate"
)

// Limits of the rollouts that a document tells about; the JSON report has all.
const (
	maxBlocks = 12
	maxRows   = 150
)

// troubled reports whether a rollout deserves more than a row.
func troubled(r *correlate.Rollout) bool {
	return len(r.Stalls) > 0 || r.StalledStage != nil || r.Outcome == correlate.Refused || r.Outcome == correlate.Deleted
}

// detailed are the rollouts that get a block: the one shown, then the troubled
// ones in order of time.
func (b *builder) detailed() []*correlate.Rollout {
	var out []*correlate.Rollout
	if b.focus.shown != nil {
		out = append(out, b.focus.shown)
	}
	for i := range b.a.Rollouts {
		if r := &b.a.Rollouts[i]; r != b.focus.shown && troubled(r) && len(out) < maxBlocks {
			out = append(out, r)
		}
	}
	return out
}

// listed are the rollouts of the overview, in order of time: when there are
// too many, the quiet ones are left out first.
func (b *builder) listed() []*correlate.Rollout {
	quiet := maxRows
	for i := range b.a.Rollouts {
		if troubled(&b.a.Rollouts[i]) {
			quiet--
		}
	}
	var out []*correlate.Rollout
	for i := range b.a.Rollouts {
		r := &b.a.Rollouts[i]
		loud := troubled(r) || r == b.focus.shown
		if !loud {
			quiet--
		}
		if len(out) < maxRows && (loud || quiet >= 0) {
			out = append(out, r)
		}
	}
	return out
}

func (b *builder) overview() table {
	t := table{
		Class: "stack",
		Cols:  []column{{"Rollout", ""}, {"Began", "time"}, {"By", ""}, {"Change", "wide"}, {"Outcome", ""}, {"Stalls", ""}, {"Cause", ""}},
		Empty: text("No rollout was found in the inputs."),
	}
	list := b.listed()
	when := b.clock.column(times(list, rolloutStart))
	for _, r := range list {
		t.Rows = append(t.Rows, b.overviewRow(r, when))
	}
	if n := len(b.a.Rollouts) - len(list); n > 0 {
		t.Note = text(plural(n, "more rollout") + " left out here; the JSON report has them.")
	}
	return t
}

func (b *builder) overviewRow(r *correlate.Rollout, when func(*time.Time) string) row {
	class := ""
	if r == b.focus.rollout {
		class = "here"
	}
	return row{Class: class, Cells: cells(
		b.rolloutLink(r.ID),
		text(when(rolloutStart(r))),
		textOr(r.Trigger.Actor, "not known"),
		textOr(r.Trigger.Change, "–"),
		mark(string(r.Outcome), "outcome-"+outcomeClass(r.Outcome)),
		b.stallList(r),
		causeList(r),
	)}
}

// rolloutLink leads to a rollout's block if it has one.
func (b *builder) rolloutLink(id string) phrase {
	if at, ok := b.rolloutAt[id]; ok {
		return link(id, at)
	}
	return text(name(id))
}

func textOr(s, none string) phrase {
	if s == "" {
		return text(none)
	}
	return text(s)
}

// outcomeClass keeps outcomes of a later version from becoming class names.
func outcomeClass(o correlate.Outcome) string {
	if _, ok := effects[o]; ok {
		return string(o)
	}
	return "other"
}

func (b *builder) stallList(r *correlate.Rollout) phrase {
	if len(r.Stalls) == 0 {
		return text("none")
	}
	var out phrase
	for i, s := range r.Stalls {
		if i == 4 {
			return join(out, note(fmt.Sprintf("and %d more", len(r.Stalls)-i)))
		}
		out = list(out, text(fmt.Sprintf("%d %s %s", s.Stage, correlate.StageName(s.Stage), stallLength(s))))
	}
	return out
}

func stallLength(s correlate.Stall) string {
	if s.To == nil {
		return "(open)"
	}
	return "(" + between(s.From, s.To) + ")"
}

// causeList names the causes found for a rollout, each once.
func causeList(r *correlate.Rollout) phrase {
	var out phrase
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if f.Role == correlate.RoleCause && !seen[f.Cause] {
			seen[f.Cause] = true
			out = join(out, codeName(f.Cause))
			if f.Confidence != "" {
				out = join(out, text("("+string(f.Confidence)+")"))
			}
		}
	}
	if len(out) == 0 && len(r.Stalls) > 0 {
		return text("undecided")
	}
	if len(out) == 0 {
		return text("–")
	}
	return out
}
