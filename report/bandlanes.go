package report

import (
	"fmt"
	"time"

	"etcd-autopsy/correlate"
)

const (
	bandLaneHeight = 19
	maxEpisodes    = 8
	// maxStalls is how many stalls are shaded.
	maxStalls = 6
)

// drawTerms draws who led the etcd cluster, and when nobody is known to have.
func (b *builder) drawTerms(c *canvas) {
	if len(b.a.Terms) == 0 {
		return
	}
	c.group("etcd leader")
	c.head("term and leader", "lane", "", bandLaneHeight)
	before, after := 0, 0
	var last *time.Time
	for i, t := range b.a.Terms {
		if t.Start == nil {
			continue
		}
		if last != nil && t.Start.After(*last) {
			b.noLeader(c, *last, *t.Start)
		}
		last = t.End
		end := c.axis.to
		if t.End != nil {
			end = *t.End
		}
		switch {
		case end.Before(c.axis.from):
			before++
		case t.Start.After(c.axis.to):
			after++
		default:
			b.drawTerm(c, t, end, i)
		}
	}
	c.edges(c.y+bandLaneHeight/2, before, after)
	c.y += bandLaneHeight
}

func (b *builder) drawTerm(c *canvas, t correlate.Term, end time.Time, i int) {
	x1, x2 := c.axis.x(*t.Start), c.axis.x(end)
	said := fmt.Sprintf("term %d: %s", t.Number, name(t.Leader))
	c.draw(rectPath(x1, c.y+2, max(x2-x1, 2), bandLaneHeight-4), fmt.Sprintf("term term-%d", i%2), said+", from "+b.clock.stamp(t.Start))
	if short := clipWidth(said, smallSize, x2-x1-8); len(short) > len("term …") {
		c.say(label{Text: short, Size: smallSize, Class: "term", Spots: []spot{{(x1 + x2) / 2, c.y + bandLaneHeight/2 + 4, anchorMiddle}}})
	}
}

func (b *builder) noLeader(c *canvas, from, to time.Time) {
	if to.Before(c.axis.from) || from.After(c.axis.to) {
		return
	}
	x1, x2 := c.axis.x(from), c.axis.x(to)
	c.draw(rectPath(x1, c.y+2, max(x2-x1, 2), bandLaneHeight-4), "no-leader", "no leader is known for "+duration(to.Sub(from)))
}

// drawEpisodes gives each episode a lane, those that did harm first.
func (b *builder) drawEpisodes(c *canvas) {
	if len(b.a.Episodes) == 0 {
		return
	}
	c.group("Control-plane episodes")
	shown := 0
	for _, harmless := range []bool{false, true} {
		for _, e := range b.a.Episodes {
			if e.Harmless != harmless {
				continue
			}
			if shown == maxEpisodes || e.Start == nil {
				c.outside++
				continue
			}
			shown++
			b.drawEpisode(c, e)
		}
	}
}

func (b *builder) drawEpisode(c *canvas, e correlate.Episode) {
	c.head(clip(name(e.ID)+" "+name(e.Kind), 30), "lane", prose(e.Text), bandLaneHeight)
	mid := c.y + bandLaneHeight/2
	c.under(linePath(c.axis.left, mid, c.axis.right, mid), "lane", "")
	end := c.axis.to
	if e.End != nil {
		end = *e.End
	}
	switch {
	case end.Before(c.axis.from):
		c.edges(mid, 1, 0)
	case e.Start.After(c.axis.to):
		c.edges(mid, 0, 1)
	default:
		b.drawEpisodeBar(c, e, end, mid)
	}
	c.y += bandLaneHeight
}

func (b *builder) drawEpisodeBar(c *canvas, e correlate.Episode, end time.Time, mid float64) {
	class, said := "episode harmful", between(e.Start, e.End)
	if e.Harmless {
		class, said = "episode harmless", "harmless, "+said
	}
	if e.End == nil {
		said = "open"
	}
	x1 := c.axis.x(*e.Start)
	x2 := max(c.axis.x(end), x1+3)
	c.draw(rectPath(x1, mid-6, x2-x1, 12), class, b.clock.stamp(e.Start)+", "+said+": "+clip(prose(e.Text), 200))
	c.labels.block(box{x1 - 1, mid - 8, x2 + 1, mid + 8})
	c.say(label{Text: said, Size: smallSize, Class: "count", Spots: []spot{{x2 + 5, mid + 4, anchorStart}, {x1 - 5, mid + 4, anchorEnd}}})
}

// drawMarks sets the moments of the rollout over the whole height, their names
// in the band on top.
func (b *builder) drawMarks(c *canvas, r *correlate.Rollout) {
	if r == nil {
		return
	}
	b.drawMark(c, rolloutStart(r), "start", "mark")
	for i, s := range r.Stalls {
		if i < maxStalls && s.From != nil {
			b.shade(c, s, stallLabel(r, s))
		}
	}
	if r.Onset != nil && find(r.Stalls, func(s correlate.Stall) bool { return s.From != nil && s.From.Equal(*r.Onset) }) == nil {
		b.drawMark(c, r.Onset, "onset", "mark")
	}
	b.drawMark(c, r.End, string(r.Outcome), "mark")
}

func (b *builder) drawMark(c *canvas, t *time.Time, said, class string) {
	if t == nil || c.axis.side(*t) != 0 {
		return
	}
	x := c.axis.x(*t)
	c.draw(linePath(x, bandHeight-4, x, c.y), class, said+" "+b.clock.stamp(t))
	c.say(label{Text: prose(said), Class: "mark", Spots: bandSpots(x)})
}

func stallLabel(r *correlate.Rollout, s correlate.Stall) string {
	what := "held up"
	if r.Outcome == correlate.Refused && s.To == nil {
		what = "refused"
	}
	return fmt.Sprintf("stage %d %s %s", s.Stage, correlate.StageName(s.Stage), what)
}

// shade tints the time of a stall.
func (b *builder) shade(c *canvas, s correlate.Stall, said string) {
	to := c.axis.to
	if s.To != nil {
		to = *s.To
	}
	if to.Before(c.axis.from) || s.From.After(c.axis.to) {
		c.outside++
		return
	}
	x1, x2 := c.axis.x(*s.From), c.axis.x(to)
	c.under(rectPath(x1, bandHeight-4, max(x2-x1, 2), c.y-bandHeight+4), "stall", said+" from "+b.clock.stamp(s.From))
	c.draw(linePath(x1, bandHeight-4, x1, c.y), "mark stalled", "")
	c.say(label{Text: said, Class: "mark stalled", Spots: bandSpots(x1)})
}

func bandSpots(x float64) []spot {
	return []spot{
		{x, bandHeight - 9, anchorStart}, {x, bandHeight - 9, anchorEnd},
		{x, bandHeight - 23, anchorStart}, {x, bandHeight - 23, anchorEnd},
	}
}
