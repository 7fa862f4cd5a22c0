package report

import (
	"fmt"
	"time"

	"etcd-autopsy/correlate"
)

// timelineView is the picture of what was written and what was logged, on one
// time axis.
type timelineView struct {
	Title         phrase
	Width, Height string
	ViewBox       string
	// Alt says in one sentence what the picture shows.
	Alt         string
	Back, Front []shape
	Texts       []pictureText
	Notes       []phrase
	// Empty stands in place of the picture.
	Empty phrase
}

// pictureText is a text with its place.
type pictureText struct {
	X, Y, Size, Anchor string
	Text, Class, Title string
}

func (b *builder) timeline() timelineView {
	from, to, ok := b.pictureWindow()
	if !ok {
		return timelineView{Empty: text("No time is known for what the document is about, so there is no timeline.")}
	}
	c := newCanvas(from, to)
	var points []correlate.Point
	if b.focus.shown != nil {
		points = b.pointsOf(b.focus.shown)
	}
	b.drawPoints(c, points)
	b.drawAxis(c)
	b.drawTerms(c)
	b.drawEpisodes(c)
	b.drawWrites(c)
	b.drawSignals(c)
	c.y += 6
	b.drawMarks(c, b.focus.shown)
	return b.finished(c)
}

// minMargin is the least time shown before and after, momentMargin the time
// around what took none.
const (
	minMargin    = 500 * time.Millisecond
	momentMargin = 10 * time.Second
)

// pictureWindow is the time the picture shows: what the document is about with
// a little margin. Where that is open, a long quiet end is cut.
func (b *builder) pictureWindow() (from, to time.Time, ok bool) {
	from, to = b.focus.from, b.focus.to
	if from.IsZero() {
		return from, to, false
	}
	if r := b.focus.shown; b.focus.open && r != nil && b.focus.episode == nil {
		if end := from.Add(max(2*b.lastChange(r).Sub(from), time.Minute)); end.Before(to) {
			to = end
		}
	}
	margin := max(to.Sub(from)/16, minMargin)
	if to.Equal(from) {
		margin = momentMargin
	}
	return from.Add(-margin), to.Add(margin), true
}

// lastChange is the latest time at which something is known to have changed
// for a rollout.
func (b *builder) lastChange(r *correlate.Rollout) time.Time {
	last := b.focus.from
	later := func(t *time.Time) {
		if t != nil && t.After(last) {
			last = *t
		}
	}
	for _, p := range b.pointsOf(r) {
		later(p.Time)
	}
	for _, s := range r.Stalls {
		later(s.From)
		later(s.To)
	}
	for _, g := range r.Stages {
		later(g.Start)
		later(g.End)
	}
	return last
}

const axisHeight = 20

// drawAxis sets the times between the writes and the logs; its lines run over
// the whole height, which is known only at the end.
func (b *builder) drawAxis(c *canvas) {
	c.y += 4
	c.under(rectPath(c.axis.left, c.y, c.axis.right-c.axis.left, axisHeight), "axis", "")
	c.head("time, "+b.clock.zone, "lane", "", axisHeight)
	for _, t := range c.axis.ticks(b.clock.loc) {
		x := c.axis.x(t.At)
		c.say(label{Text: t.Label, Class: "tick", Spots: []spot{{x, c.y + 14, anchorMiddle}}})
	}
	c.y += axisHeight
}

func (b *builder) finished(c *canvas) timelineView {
	v := timelineView{
		Width: fmt.Sprint(pictureWidth), Height: fmt.Sprintf("%.0f", c.y),
		ViewBox: fmt.Sprintf("0 0 %d %.0f", pictureWidth, c.y),
		Alt:     "Timeline from " + b.clock.stamp(&c.axis.from) + " to " + b.clock.stamp(&c.axis.to) + ": stored writes above the axis, etcd leaders, episodes and log messages below it.",
		Front:   c.front,
	}
	for _, t := range c.axis.ticks(b.clock.loc) {
		x := c.axis.x(t.At)
		v.Back = append(v.Back, shape{D: linePath(x, bandHeight-4, x, c.y), Class: "grid"})
	}
	v.Back = append(v.Back, c.back...)
	for _, t := range c.texts {
		v.Texts = append(v.Texts, pictureText{
			X: fmt.Sprintf("%.1f", t.X), Y: fmt.Sprintf("%.1f", t.Y), Size: fmt.Sprint(t.Size), Anchor: string(t.Anchor),
			Text: t.Text, Class: t.Class, Title: t.Title,
		})
	}
	v.Title = b.timelineTitle()
	v.Notes = b.timelineNotes(c)
	return v
}

func (b *builder) timelineTitle() phrase {
	switch {
	case b.focus.episode != nil:
		return join(text("Around episode"), b.episodeLink(b.focus.episode.ID))
	case b.focus.shown != nil:
		return join(text("Around"), b.rolloutLink(b.focus.shown.ID))
	}
	return text("All of the evidence")
}

func (b *builder) timelineNotes(c *canvas) []phrase {
	notes := []phrase{text("Dots are stored writes, hollow where the time is an estimate within the grey line, dotted where nothing bounds it; +n counts further writes too near to be told apart. Bars below the axis are log messages: tall for errors, low for warnings, thin for others; ×n counts repeats. Diamonds are requests answered with an error, by what became of them. Hatched episodes held up nothing.")}
	if c.dropped > 0 {
		notes = append(notes, text(plural(c.dropped, "label")+" left out for want of room; the tables have them."))
	}
	if c.outside > 0 {
		notes = append(notes, text(plural(c.outside, "item")+" outside the window or without a time; arrows at the edges show where."))
	}
	if b.focus.open && c.axis.to.Before(b.focus.last) {
		notes = append(notes, text("Nothing ended here: the evidence goes on until "+b.clock.stamp(&b.focus.last)+"."))
	}
	return notes
}
