package correlate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"etcd-autopsy/logparse"
	"etcd-autopsy/logparse/template"
)

// UnknownMessages are warnings and errors that no signature knows, grouped by what
// does not vary in them: a message that nobody has catalogued shows up here. They
// are evidence of nothing by themselves.
type UnknownMessages struct {
	// From and To bound the time that the verdict is about; null if none is known.
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
	// List has those that grew the most in that time first; without such a time, or
	// of equal growth, those of which there are more.
	List []UnknownMessage `json:"list"`
	// More is how many further groups there are, MoreRecords how many records they
	// and those beyond the reader's limit stand for.
	More        int `json:"more"`
	MoreRecords int `json:"moreRecords"`
}

// UnknownMessage is one group of messages.
type UnknownMessage struct {
	// Text is the message with "<n>" for numbers and "<*>" for names, IDs, paths
	// and quoted text.
	Text string `json:"text"`
	// Component is empty where the logs do not show it.
	Component string `json:"component"`
	Level     string `json:"level"`
	// Count is how many there were, those included that a program folded.
	Count int        `json:"count"`
	First *time.Time `json:"first"`
	Last  *time.Time `json:"last"`
	// Before and During are how many a minute there were in the hour before the
	// time that the verdict is about and in that time; null where there is no such
	// time, or no log of it.
	Before *float64 `json:"before"`
	During *float64 `json:"during"`
	// Evidence are the first and the last record.
	Evidence []string `json:"evidence"`
}

// maxUnknown is how many groups are listed.
const maxUnknown = 25

// rateBefore is how far the comparison looks back.
const rateBefore = time.Hour

// unknownMessages merges what the logs' miners found.
func (c *Case) unknownMessages(out *Analysis, b *book) UnknownMessages {
	from, to := incidentTime(out, c.logEnd())
	u := UnknownMessages{From: timePtr(from), To: timePtr(to), List: []UnknownMessage{}}
	m := template.New(0)
	for _, l := range c.logs {
		if l != nil && l.unknown != nil {
			m.Merge(l.unknown)
		}
	}
	u.MoreRecords = m.Left()
	type rated struct {
		template.Template
		before, during *float64
		rise           float64
	}
	var list []rated
	for _, t := range m.Templates() {
		r := rated{Template: t}
		r.during = rate(&t, from, to)
		if r.during != nil {
			r.rise = *r.during
			if r.before = rate(&t, latest(from.Add(-rateBefore), c.logBegin()), from); r.before != nil {
				r.rise -= *r.before
			}
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(x, y rated) int {
		return cmp.Or(cmp.Compare(max(y.rise, 0), max(x.rise, 0)), cmp.Compare(y.Count, x.Count))
	})
	for i, t := range list {
		if i >= maxUnknown {
			u.More++
			u.MoreRecords += t.Count
			continue
		}
		u.List = append(u.List, UnknownMessage{
			Text: t.Text, Component: string(t.Component), Level: t.Level.String(), Count: t.Count,
			First: timePtr(t.First.Time), Last: timePtr(t.Last.Time), Before: t.before, During: t.during,
			Evidence: b.add([]*cite{c.placeCite(t.First), c.placeCite(t.Last)}),
		})
	}
	return u
}

// placeCite cites a record by its place.
func (c *Case) placeCite(p template.Place) *cite {
	return lineCite(note{file: c.logs[p.Log], line: p.Line, at: p.Time, text: cutBodies(p.Text)})
}

// rate is a template's rate in a time, nil if that is empty.
func rate(t *template.Template, from, to time.Time) *float64 {
	if from.IsZero() || !from.Before(to) {
		return nil
	}
	r := math.Round(100*t.Rate(from, to)) / 100
	return &r
}

// incidentTime is the time that the verdict is about: the stall of its rollout, or
// its episode; until the end of the logs where it is open. Both are zero if the
// verdict is about neither.
func incidentTime(a *Analysis, end time.Time) (from, to time.Time) {
	take := func(start, stop *time.Time) {
		if start == nil {
			return
		}
		if from, to = *start, end; stop != nil {
			to = *stop
		}
	}
	for _, e := range a.Episodes {
		if a.Verdict.Episode != nil && e.ID == *a.Verdict.Episode {
			take(e.Start, e.End)
		}
	}
	for i := range a.Rollouts {
		r := &a.Rollouts[i]
		if a.Verdict.Rollout == nil || r.ID != *a.Verdict.Rollout || r.Onset == nil {
			continue
		}
		take(r.Onset, nil)
		for _, s := range r.Stalls {
			if s.From != nil && s.To != nil && s.From.Equal(*r.Onset) {
				to = *s.To
			}
		}
	}
	return from, to
}

// logBegin is the time of the first record of any log, zero without one.
func (c *Case) logBegin() time.Time {
	var first time.Time
	for _, l := range c.logs {
		if l != nil && !l.first.IsZero() && (first.IsZero() || l.first.Before(first)) {
			first = l.first
		}
	}
	return first
}

// takeUnknown counts a record that no signature knows.
func (l *logFile) takeUnknown(rec *logparse.Record) {
	if !template.Wants(rec) {
		return
	}
	if l.unknown == nil {
		l.unknown = template.New(l.input)
	}
	l.unknown.Add(rec)
}
