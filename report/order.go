package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"etcd-autopsy/correlate"
)

// maxMoments is how many rows the table in order of time has.
const maxMoments = 60

// moment is one row of the table in order of time. A lower rank is dropped later.
type moment struct {
	at   *time.Time
	rank int
	what phrase
	from phrase
}

// Ranks of moments.
const (
	rankRollout = iota
	rankEpisode
	rankWrite
	rankError
	rankPoint
	rankOther
)

// order tells what happened in one table: the rollout, the control plane, the
// logs and the store together.
func (b *builder) order() table {
	t := table{
		Class: "stack",
		Cols:  []column{{"Time", "time"}, {"Since start", "num"}, {"What the evidence shows", "wide"}, {"Where", "cites"}},
		Empty: text("Nothing in the window has a time."),
	}
	from, to, ok := b.pictureWindow()
	if !ok {
		return t
	}
	all := slices.DeleteFunc(b.moments(), func(m moment) bool { return m.at == nil || m.at.Before(from) || m.at.After(to) })
	shown := mostTelling(all)
	when := b.clock.column(times(shown, func(m moment) *time.Time { return m.at }))
	for _, m := range shown {
		t.Rows = append(t.Rows, row{Cells: cells(text(when(m.at)), text(sinceStart(b.focus.from, *m.at)), m.what, m.from)})
	}
	if left := len(all) - len(shown); left > 0 {
		t.Note = text(plural(left, "less telling row") + " left out here: stored writes are in the tables of the rollouts, log messages in the JSON report.")
	}
	return t
}

func sinceStart(start, t time.Time) string {
	if d := t.Sub(start); d < 0 {
		return duration(d)
	}
	return "+" + duration(t.Sub(start))
}

// mostTelling keeps the rows of the lowest ranks, in order of time.
func mostTelling(all []moment) []moment {
	byRank := slices.Clone(all)
	slices.SortStableFunc(byRank, func(x, y moment) int { return cmp.Compare(x.rank, y.rank) })
	shown := byRank[:min(len(byRank), maxMoments)]
	slices.SortStableFunc(shown, func(x, y moment) int { return cmp.Or(x.at.Compare(*y.at), cmp.Compare(x.rank, y.rank)) })
	return shown
}

func (b *builder) moments() []moment {
	var out []moment
	if r := b.focus.shown; r != nil {
		out = append(out, b.rolloutMoments(r)...)
		for _, p := range b.pointsOf(r) {
			out = append(out, moment{p.Time, rankPoint, join(text(p.Kind), codeName(p.Name), text(p.Text)), text(fmt.Sprintf("revision %d", p.Revision))})
		}
	}
	for _, e := range b.a.Episodes {
		out = append(out,
			moment{e.Start, rankEpisode, join(text("Episode"), b.episodeLink(e.ID), text("began:"), text(e.Text)), b.cite(e.Evidence)},
			moment{e.End, rankEpisode, join(text("Episode"), b.episodeLink(e.ID), text("ended.")), nil})
	}
	for _, w := range b.a.Writes {
		out = append(out, moment{w.Time, rankWrite, join(text("Request"), text(w.Verb), codeName(w.Object), text("was answered"), answer(w), text("(fate: "+string(w.Fate)+")")), b.cite(w.Evidence)})
	}
	for _, s := range b.a.Signals {
		out = append(out, signalMoment(s))
	}
	for _, t := range b.a.Terms {
		out = append(out, moment{t.Start, rankEpisode, text(fmt.Sprintf("Term %d began with leader %s.", t.Number, t.Leader)), nil})
	}
	return out
}

func signalMoment(s correlate.Signal) moment {
	rank := rankOther
	if levelOf(s.Level).rank > 2 {
		rank = rankError
	}
	what := join(text(s.Component), codeName(s.Signature), code(clip(s.Text, 140)))
	if s.Count > 1 && s.Start != nil && s.End != nil {
		what = join(what, note(fmt.Sprintf("%s in %s", plural(s.Count, "record"), between(s.Start, s.End))))
	}
	return moment{s.Start, rank, what, codeName(fmt.Sprintf("%s:%d", s.Source, s.Line))}
}

func (b *builder) rolloutMoments(r *correlate.Rollout) []moment {
	out := []moment{{rolloutStart(r), rankRollout, join(strong("The rollout began."), text(r.Trigger.Change)), nil}}
	for _, g := range r.Stages {
		said := fmt.Sprintf("%d %s", g.Number, name(g.Name))
		out = append(out, moment{g.Reached, rankRollout, join(text("Stage"), strong(said), text("reached: "+factOf(g.Number).done+".")), b.cite(g.Evidence)})
		if g.Desired > 1 && g.End != nil && g.Reached != nil && g.End.After(*g.Reached) {
			out = append(out, moment{g.End, rankRollout, join(text("Stage"), strong(said), text("had all "+plural(g.Desired, "pod")+" through.")), nil})
		}
	}
	for _, s := range r.Stalls {
		said := fmt.Sprintf("%d %s", s.Stage, correlate.StageName(s.Stage))
		out = append(out, moment{s.From, rankRollout, join(text("Stage"), strong(said), text("was held up from here.")), b.cite(s.Evidence)})
		out = append(out, moment{s.To, rankRollout, join(text("Stage"), strong(said), text("moved again.")), nil})
	}
	return append(out, moment{r.End, rankRollout, join(strong("The rollout ended:"), text(string(r.Outcome)+".")), nil})
}
