package report

import (
	"fmt"
	"strings"
	"time"

	"etcd-autopsy/correlate"
)

func (b *builder) hasAudit() bool {
	return find(b.a.Inputs, func(in correlate.Input) bool { return in.Kind == "audit" }) != nil
}

func (b *builder) hasAPIServerLog() bool {
	return find(b.a.Inputs, func(in correlate.Input) bool {
		return in.Kind == "log" && strings.Contains(in.Component, "apiserver")
	}) != nil
}

func (b *builder) noWrites() phrase {
	if b.hasAudit() || b.hasAPIServerLog() {
		return text("No write was answered with an error in the logs that were given.")
	}
	return text("No audit log and no API server log was among the inputs, so writes that failed were not seen.")
}

func (b *builder) writes() table {
	t := table{
		Class: "stack",
		Cols:  []column{{"Time", "time"}, {"Request", ""}, {"Answer", "wide"}, {"Fate", ""}, {"How it is known", "wide"}},
		Empty: b.noWrites(),
	}
	when := b.clock.column(times(b.a.Writes, func(w correlate.Write) *time.Time { return w.Time }))
	for _, w := range b.a.Writes {
		t.Rows = append(t.Rows, row{Cells: cells(
			text(when(w.Time)),
			join(text(w.Verb), codeName(w.Object), noteIf(by(w.User))),
			join(answer(w), noteIf(repeats(w.Repeats))),
			join(mark(string(w.Fate), "fate"), b.landed(w)),
			join(known(w), b.cite(w.Evidence)),
		)})
	}
	return limit(t, maxRows, "failed write")
}

func answer(w correlate.Write) phrase {
	var out phrase
	if w.Code != 0 {
		out = text(fmt.Sprint(w.Code))
	}
	if w.Answer != "" {
		out = join(out, code(w.Answer))
	}
	if len(out) == 0 {
		return text("no answer")
	}
	return out
}

// known says by what the fate of a write is known, or what would settle it.
func known(w correlate.Write) phrase {
	if w.Why == "" && w.WouldSettle == "" {
		return text("–")
	}
	out := text(w.Why)
	if w.WouldSettle != "" {
		out = join(out, note("would settle it: "+w.WouldSettle))
	}
	return out
}

// landed is the revision that a write made, and when.
func (b *builder) landed(w correlate.Write) phrase {
	if w.Revision == nil {
		return nil
	}
	out := note(fmt.Sprintf("revision %d", *w.Revision))
	if w.LandedAt != nil {
		out = join(out, note("at "+b.clock.stamp(w.LandedAt)))
	}
	return out
}

func by(user string) string {
	if user == "" {
		return ""
	}
	return "by " + user
}

// repeats says how many more equal requests there were, "" for none.
func repeats(n int) string {
	if n == 0 {
		return ""
	}
	return "and " + count(n) + " more like it"
}
