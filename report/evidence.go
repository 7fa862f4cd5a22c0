package report

import (
	"fmt"
	"strconv"
	"time"

	"etcd-autopsy/correlate"
)

// maxCites is how many references are set after one sentence.
const maxCites = 12

// reference is where a citation leads.
type reference struct{ anchor, title string }

// references gives every evidence ID its anchor. Of two with the same ID the
// first one is cited.
func (b *builder) references() {
	b.refs = make(map[string]reference, len(b.a.Evidence))
	b.refAnchors = make([]string, len(b.a.Evidence))
	for i, e := range b.a.Evidence {
		anchor := b.anchors.claim(e.ID, "evidence")
		b.refAnchors[i] = anchor
		if _, ok := b.refs[e.ID]; !ok {
			b.refs[e.ID] = reference{anchor, place(e) + ": " + clip(verbatim(e.Text), 160)}
		}
	}
}

// cite sets references to evidence, at most maxCites of them.
func (b *builder) cite(ids []string) phrase {
	var out phrase
	for i, id := range ids {
		if i == maxCites {
			return join(out, note(fmt.Sprintf("and %d more", len(ids)-i)))
		}
		out = join(out, b.citeOne(id))
	}
	return out
}

func (b *builder) citeOne(id string) phrase {
	ref, ok := b.refs[id]
	if !ok {
		return text("[" + name(id) + ": not in this report]")
	}
	return phrase{{Kind: spanCite, Text: name(id), Href: ref.anchor, Title: ref.title}}
}

// said puts references right after a sentence.
func (b *builder) said(s string, ids []string) phrase { return join(text(sentence(s)), b.cite(ids)) }

// place says where a piece of evidence stands in its input.
func place(e correlate.Evidence) string {
	switch {
	case e.Revision != 0 || e.Key != "":
		return name(e.Key) + "@" + strconv.FormatInt(e.Revision, 10)
	case e.Line != 0:
		return name(e.Source) + ":" + strconv.Itoa(e.Line)
	case e.Index != 0:
		return fmt.Sprintf("raft entry %d of term %d", e.Index, e.Term)
	}
	return name(e.Source)
}

func (b *builder) evidence() table {
	t := table{
		Class: "stack evidence",
		Cols:  []column{{"ID", ""}, {"Where", "where"}, {"Time", "time"}, {"Text as it stands", "wide"}},
		Empty: text("The analysis cites no evidence."),
	}
	when := b.clock.column(times(b.a.Evidence, func(e correlate.Evidence) *time.Time { return e.Time }))
	for i, e := range b.a.Evidence {
		r := row{Cells: cells(
			codeName(e.ID),
			join(codeName(place(e)), note(origin(e))),
			join(text(when(e.Time)), noteIf(spread(e.Time, e.Earliest, e.Latest))),
			code(e.Text),
		)}
		r.Cells[0].Anchor = b.refAnchors[i]
		t.Rows = append(t.Rows, r)
	}
	return t
}

// origin names the input, and the file of a stored record.
func origin(e correlate.Evidence) string {
	where := "in " + name(e.Input)
	if (e.Revision != 0 || e.Index != 0) && e.Source != "" && e.Source != e.Input {
		where += ", " + name(e.Source)
	}
	if e.Index != 0 {
		where += fmt.Sprintf(" at offset %d", e.Offset)
	}
	return where
}

func noteIf(s string) phrase {
	if s == "" {
		return nil
	}
	return note(s)
}

// times collects one time of each of many things.
func times[T any](list []T, of func(T) *time.Time) []*time.Time {
	out := make([]*time.Time, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}
