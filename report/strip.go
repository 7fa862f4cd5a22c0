package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"etcd-autopsy/correlate"
)

// stripView is the picture of the nine stages: usual time against actual time.
type stripView struct {
	Title phrase
	Rows  []stripRow
	// Small are the stages shown as small cells because nothing can be seen of them.
	Small []stripRow
	Ticks []stripTick
	Note  phrase
	// Empty stands in place of the picture.
	Empty phrase
}

// stripRow is one stage. Bars are in percent of the scale's length.
type stripRow struct {
	Number, Name, Zh string
	State, Class     string
	// Here marks the stage in which the rollout stands.
	Here bool
	// Usual, First and Rest are the usual range, the time of the first pod, and
	// the further time to the last one.
	Usual, First, Rest *bar
	// Open is where an unfinished bar ends with an arrow; nil if it is finished.
	Open   *bar
	Actual string
	// Small is the usual time and the revisions at both ends; it may be empty.
	Small string
	Title string
}

// bar is a part of the scale, in percent of its length.
type bar struct{ Left, Width float64 }

// X and W write a bar's place for a picture.
func (b bar) X() string { return percent(b.Left) }
func (b bar) W() string { return percent(b.Width) }

// stripTick is a mark of the scale.
type stripTick struct {
	bar
	Label string
}

// scale is logarithmic from low to high.
type scale struct{ low, high time.Duration }

const scaleLow = 100 * time.Millisecond

// scaleEnds are the lengths a scale may have.
var scaleEnds = []time.Duration{
	5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour,
	3 * 24 * time.Hour, 30 * 24 * time.Hour, 3650 * 24 * time.Hour,
}

// scaleTicks are the marks that a scale shows as far as it reaches.
var scaleTicks = []time.Duration{
	time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour,
	10 * time.Hour, 4 * 24 * time.Hour, 40 * 24 * time.Hour,
}

func newScale(longest time.Duration) scale {
	for _, end := range scaleEnds {
		if longest <= end {
			return scale{scaleLow, end}
		}
	}
	return scale{scaleLow, scaleEnds[len(scaleEnds)-1]}
}

// at is the place of a duration in percent.
func (s scale) at(d time.Duration) float64 {
	if d <= s.low {
		return 0
	}
	f := math.Log(float64(d)/float64(s.low)) / math.Log(float64(s.high)/float64(s.low))
	return 100 * min(f, 1)
}

// bar spans two durations; it is never too thin to be seen.
func (s scale) bar(from, to time.Duration) *bar {
	x := s.at(from)
	w := max(s.at(to)-x, 0.8)
	return &bar{min(x, 99.2), w}
}

func percent(f float64) string { return fmt.Sprintf("%.2f%%", f) }

func (b *builder) strip() stripView {
	r := b.focus.shown
	if r == nil {
		return stripView{Empty: text("No rollout was found, so there are no stages to show.")}
	}
	v := stripView{Title: join(text("Stages of"), b.rolloutLink(r.ID)), Note: text(stripNote)}
	if b.focus.rollout == nil {
		v.Title = join(v.Title, text("(the latest rollout; the verdict is about none)"))
	}
	s := newScale(b.longestStage(r))
	for _, d := range scaleTicks {
		if d < s.high {
			v.Ticks = append(v.Ticks, stripTick{bar{Left: s.at(d)}, duration(d)})
		}
	}
	here := standsIn(r)
	for _, g := range r.Stages {
		row := b.stripRow(r, g, s)
		row.Here = g.Number == here
		if g.Number < 3 && g.State == correlate.StageNoEvidence {
			v.Small = append(v.Small, row)
		} else {
			v.Rows = append(v.Rows, row)
		}
	}
	return v
}

const stripNote = "Logarithmic scale. The outlined range is the usual time of one pod. The bar is the time until the first pod was through, the thin bar the further time until the last one was; an arrow means that the stage was open when the evidence ended."

// standsIn is the stage in which a rollout stands: the stalled one, else the
// first that is neither through nor without evidence; 0 if it is through all.
func standsIn(r *correlate.Rollout) int {
	if r.StalledStage != nil {
		return *r.StalledStage
	}
	for _, g := range r.Stages {
		switch g.State {
		case correlate.StageStalled, correlate.StageInProgress:
			return g.Number
		}
	}
	return 0
}

// openFor is how long a stage had been open when the evidence ended; what was
// refused is not open.
func (b *builder) openFor(r *correlate.Rollout, g correlate.Stage) (time.Duration, bool) {
	open := g.State == correlate.StageStalled || g.State == correlate.StageInProgress
	end := b.focus.last
	if r.End != nil {
		end = *r.End
	}
	if !open || r.Outcome == correlate.Refused || g.Start == nil || !end.After(*g.Start) {
		return 0, false
	}
	return end.Sub(*g.Start), true
}

func (b *builder) longestStage(r *correlate.Rollout) time.Duration {
	longest := 2 * time.Minute
	for _, g := range r.Stages {
		for _, t := range []*time.Time{g.Reached, g.End} {
			if g.Start != nil && t != nil {
				longest = max(longest, t.Sub(*g.Start))
			}
		}
		if d, ok := b.openFor(r, g); ok {
			longest = max(longest, d)
		}
	}
	return longest
}

func (b *builder) stripRow(r *correlate.Rollout, g correlate.Stage, s scale) stripRow {
	f := factOf(g.Number)
	row := stripRow{
		Number: fmt.Sprint(g.Number), Name: name(g.Name), Zh: f.zh,
		State: stateWord(g.State), Class: stateClass(g.State),
		Small: strings.Join(smallFacts(f, g), " · "),
	}
	if f.high > 0 {
		row.Usual = s.bar(f.low, f.high)
	}
	var said []string
	if g.Start != nil && g.Reached != nil {
		d := g.Reached.Sub(*g.Start)
		row.First = s.bar(0, d)
		said = append(said, duration(d))
		if g.End != nil && g.End.After(*g.Reached) {
			row.Rest = s.bar(d, g.End.Sub(*g.Start))
			said = append(said, fmt.Sprintf("all %d in %s", g.Desired, duration(g.End.Sub(*g.Start))))
		}
	}
	if r.Outcome == correlate.Refused && g.State == correlate.StageStalled {
		said = append(said, "refused")
	}
	if d, ok := b.openFor(r, g); ok {
		said = append(said, "open for "+duration(d))
		row.openBar(s, g, d)
	}
	row.Actual = strings.Join(said, ", ")
	row.Title = fmt.Sprintf("stage %d %s: %s. Usual %s. Reached when %s.", g.Number, name(g.Name), joinWords(row.State, row.Actual), f.usual(), f.done)
	return row
}

func smallFacts(f stageFact, g correlate.Stage) []string {
	var out []string
	if f.high > 0 {
		out = append(out, "usual "+f.usual())
	}
	switch first, last := g.FirstRevision, g.LastRevision; {
	case first != nil && last != nil && *first != *last:
		out = append(out, "revisions "+revisionSpan(first, last))
	case first != nil || last != nil:
		out = append(out, "revision "+revisionSpan(first, last))
	}
	return out
}

// openBar draws a stage that had not ended: the whole bar if no pod was
// through, else the part after the first.
func (row *stripRow) openBar(s scale, g correlate.Stage, d time.Duration) {
	if g.Reached == nil {
		row.First = s.bar(0, d)
	} else {
		row.Rest = s.bar(min(g.Reached.Sub(*g.Start), d), d)
	}
	row.Open = &bar{Left: s.at(d)}
}

func joinWords(words ...string) string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, ", ")
}

func stateWord(s correlate.StageState) string {
	if w, ok := stateWords[s]; ok {
		return w
	}
	return name(string(s))
}
