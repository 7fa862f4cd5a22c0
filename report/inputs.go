package report

import (
	"strings"
	"time"

	"etcd-autopsy/correlate"
)

func (b *builder) inputs() table {
	t := table{
		Class: "stack inputs",
		Cols: []column{{"Input", ""}, {"Taken for", ""}, {"Records", "num"}, {"First", "time"}, {"Last", "time"},
			{"Bytes", "num"}, {"SHA-256", ""}, {"Problems", "wide"}},
		Empty: text("No input was given."),
	}
	var all []*time.Time
	for _, in := range b.a.Inputs {
		all = append(all, in.First, in.Last)
	}
	when := b.clock.column(all)
	for _, in := range b.a.Inputs {
		t.Rows = append(t.Rows, row{Cells: cells(
			codeName(inputName(in)), takenFor(in), text(count(in.Records)),
			text(when(in.First)), text(when(in.Last)), text(size(in.Bytes)),
			digest(in.SHA256), problems(in.Problems),
		)})
	}
	return t
}

func takenFor(in correlate.Input) phrase {
	words := []string{in.Kind}
	for _, s := range []string{in.Component, in.Member, in.Node} {
		if s != "" {
			words = append(words, s)
		}
	}
	return join(text(strings.Join(words, ", ")), noteIf(in.Why))
}

// digest shows the first digits; the whole is the title of the span and, in
// formats without titles, the span's class asks for all of it.
func digest(sum string) phrase {
	if sum == "" {
		return text("not read")
	}
	return phrase{{Kind: spanCode, Text: clip(name(sum), 13), Title: name(sum), Class: "digest"}}
}

func problems(list []string) phrase {
	if len(list) == 0 {
		return text("none")
	}
	out := text(list[0])
	for i, p := range list[1:] {
		if i == 9 {
			return join(out, note("and "+count(len(list)-i-1)+" more"))
		}
		out = join(out, note(p))
	}
	return out
}
