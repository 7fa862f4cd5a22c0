package report

import (
	"strings"
	"time"

	"etcd-autopsy/correlate"
)

func (b *builder) episodeLink(id string) phrase { return link(id, b.episodeAt[id]) }

func (b *builder) episodes() table {
	t := table{
		Class: "stack",
		Cols: []column{{"Episode", ""}, {"Kind", ""}, {"From", "time"}, {"To", "time"}, {"Members", ""},
			{"What was seen", "wide"}, {"Held up", ""}},
		Empty: b.noEpisodes(),
	}
	var all []*time.Time
	for _, e := range b.a.Episodes {
		all = append(all, e.Start, e.End)
	}
	when := b.clock.column(all)
	placed := map[string]bool{}
	for _, e := range b.a.Episodes {
		r := row{Cells: cells(
			codeName(e.ID), codeName(e.Kind), text(when(e.Start)),
			join(text(when(e.End)), noteIf(after(e.Start, e.End))),
			textOr(strings.Join(e.Members, ", "), "–"),
			b.said(sentences(e.Text, e.Because), e.Evidence),
			b.heldUp(e),
		)}
		if !placed[e.ID] {
			placed[e.ID] = true
			r.Cells[0].Anchor = b.episodeAt[e.ID]
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func (b *builder) noEpisodes() phrase {
	logs := find(b.a.Inputs, func(in correlate.Input) bool { return in.Kind == "log" })
	if logs == nil {
		return text("No log was among the inputs, so faults of the control plane were not seen.")
	}
	return text("No fault of the control plane was seen in the logs and stores that were given.")
}

func (b *builder) heldUp(e correlate.Episode) phrase {
	if e.Harmless {
		return mark("nothing (harmless)", "state-reached")
	}
	if len(e.AffectedRollouts) == 0 {
		return text("no rollout that is in the evidence")
	}
	var out phrase
	for i, id := range e.AffectedRollouts {
		if i == 4 {
			return join(out, note("and "+count(len(e.AffectedRollouts)-i)+" more"))
		}
		out = list(out, b.rolloutLink(id))
	}
	return out
}
