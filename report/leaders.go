package report

import (
	"fmt"
	"strings"
	"time"

	"etcd-autopsy/correlate"
)

// leaders lists who led etcd when, as the members' logs and votes agree.
func (b *builder) leaders() table {
	t := table{
		Class: "stack",
		Cols:  []column{{"Term", "num"}, {"Leader", ""}, {"From", "time"}, {"To", "time"}, {"Without a leader before", "num"}, {"Stood", ""}, {"Known from", ""}},
		Empty: text("No log of etcd and no WAL was among the inputs that names a leader."),
	}
	var all []*time.Time
	for _, x := range b.a.Terms {
		all = append(all, x.Start, x.End)
	}
	when := b.clock.column(all)
	for _, x := range b.a.Terms {
		without := "–"
		if x.Election != nil {
			without = duration(time.Duration(*x.Election * float64(time.Second)))
		}
		t.Rows = append(t.Rows, row{Cells: cells(
			text(fmt.Sprint(x.Number)), codeName(x.Leader), text(when(x.Start)), text(when(x.End)), text(without),
			textOr(strings.Join(x.Stood, ", "), "not seen"), knownFrom(x),
		)})
	}
	return limit(t, maxRows, "term")
}

// knownFrom says whose word a leader rests on.
func knownFrom(x correlate.Term) phrase {
	how := "logs of "
	if x.Source == "wal" {
		how = "votes of "
	}
	out := textOr(strings.Join(x.SeenBy, ", "), "–")
	if len(x.SeenBy) > 0 {
		out = text(how + strings.Join(x.SeenBy, ", "))
	}
	if len(x.Disputed) > 0 {
		out = join(out, note("a log names "+strings.Join(x.Disputed, ", ")+" instead"))
	}
	return out
}
