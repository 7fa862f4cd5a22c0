package report

import (
	"fmt"

	"etcd-autopsy/correlate"
)

// maxUnknown is how many groups of unknown messages are shown.
const maxUnknown = 10

// unknown lists warnings and errors that nobody has catalogued.
func (b *builder) unknown() table {
	t := table{
		Class: "stack",
		Cols: []column{{"Message", "wide"}, {"Program", ""}, {"Level", ""}, {"Records", "num"}, {"A minute before", "num"},
			{"A minute during", "num"}, {"Where", "cites"}},
		Empty: b.noUnknown(),
	}
	u := &b.a.UnknownMessages
	for i, m := range u.List {
		if i >= maxUnknown {
			break
		}
		t.Rows = append(t.Rows, row{Cells: cells(
			code(clip(m.Text, 200)), textOr(m.Component, "not known"), textOr(m.Level, "–"), text(count(m.Count)),
			text(perMinute(m.Before)), text(perMinute(m.During)), b.cite(m.Evidence),
		)})
	}
	if len(t.Rows) > 0 {
		t.Note = text(b.unknownNote(len(t.Rows)))
	}
	return t
}

func (b *builder) noUnknown() phrase {
	if find(b.a.Inputs, func(in correlate.Input) bool { return in.Kind == "log" }) == nil {
		return text("No log was among the inputs.")
	}
	return text("Every warning and error in the logs that were given is of a known kind.")
}

// unknownNote says how the rows are ordered, what they prove, and what is left out.
func (b *builder) unknownNote(shown int) string {
	u := &b.a.UnknownMessages
	out := "Warnings and errors grouped by what does not vary in them, the most frequent first. They are leads, not findings: no cause rests on them."
	if u.From != nil {
		out = fmt.Sprintf("Warnings and errors grouped by what does not vary in them; those that grew the most in the %s that the verdict is about, against the hour before, stand first. They are leads, not findings: no cause rests on them.", between(u.From, u.To))
	}
	if more := u.More + len(u.List) - shown; more > 0 {
		out += fmt.Sprintf(" %s are not shown here; the JSON report has the first %s.", plural(more, "further group"), count(len(u.List)))
	}
	return out
}

// perMinute writes a rate.
func perMinute(rate *float64) string {
	switch {
	case rate == nil:
		return "–"
	case *rate > 0 && *rate < 0.1:
		return "under 0.1"
	case *rate < 10:
		return fmt.Sprintf("%.1f", *rate)
	}
	return fmt.Sprintf("%.0f", *rate)
}
