package report

import (
	"fmt"

	"etcd-autopsy/correlate"
)

// fateOrder is the order of the lanes of failed requests: first those whose
// answer told the client other than what happened.
var fateOrder = []correlate.Fate{
	correlate.FateLanded, correlate.FateUnknown, correlate.FateLost, correlate.FateNotProposed, correlate.FateRejected,
}

// failure is requests that failed too near each other to be told apart.
type failure struct {
	x, last float64
	count   int
	title   string
}

// drawWrites gives the requests that were answered with an error a lane for
// each fate.
func (b *builder) drawWrites(c *canvas) {
	if len(b.a.Writes) == 0 {
		return
	}
	c.group("Writes answered with an error")
	for _, fate := range fateOrder {
		if find(b.a.Writes, func(w correlate.Write) bool { return w.Fate == fate }) != nil {
			c.head(string(fate), "lane", "", signalLaneHeight)
			b.drawFate(c, fate, c.y+signalLaneHeight/2)
			c.y += signalLaneHeight
		}
	}
}

func (b *builder) drawFate(c *canvas, fate correlate.Fate, y float64) {
	c.under(linePath(c.axis.left, y, c.axis.right, y), "lane", "")
	var list []failure
	before, after := 0, 0
	for _, w := range b.a.Writes {
		if w.Fate != fate {
			continue
		}
		if w.Time == nil {
			c.outside++
			continue
		}
		switch c.axis.side(*w.Time) {
		case -1:
			before++
		case 1:
			after++
		default:
			list = b.withFailure(list, c.axis.x(*w.Time), w)
		}
	}
	for _, f := range list {
		c.labels.block(box{f.x - 6, y - 8, f.last + 6, y + 8})
	}
	for _, f := range list {
		x := (f.x + f.last) / 2
		c.draw(fmt.Sprintf("M%.1f %.1fl5 5-5 5-5-5z", x, y-5), "failure", f.title)
		if f.count > 1 {
			c.say(label{Text: "×" + count(f.count), Size: smallSize, Class: "count", Spots: []spot{{f.last + 10, y + 4, anchorStart}, {f.x - 10, y + 4, anchorEnd}}})
		}
	}
	c.edges(y, before, after)
}

func (b *builder) withFailure(list []failure, x float64, w correlate.Write) []failure {
	n := w.Repeats + 1
	if i := len(list) - 1; i >= 0 && x-list[i].last < nearPoints {
		list[i].last = x
		list[i].count += n
		list[i].title = fmt.Sprintf("%d requests up to %s", list[i].count, b.clock.stamp(w.Time))
		return list
	}
	title := fmt.Sprintf("%s %s %s: %s", b.clock.stamp(w.Time), name(w.Verb), clip(name(w.Object), 80), clip(verbatim(w.Answer), 120))
	return append(list, failure{x, x, n, title})
}
