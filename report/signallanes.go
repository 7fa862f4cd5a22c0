package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"etcd-autopsy/correlate"
)

const (
	signalLaneHeight = 17
	// maxSignatures is how many signatures of a component get a lane; the rest
	// share one.
	maxSignatures = 4
	maxComponents = 8
	nearBursts    = 5
)

// componentOrder is the order in which the control plane's logs are shown.
var componentOrder = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "containerd",
}

// signalLane is the bursts of one signature of one component.
type signalLane struct {
	head, title string
	component   string
	// count and rank are the records of all bursts and the gravest level.
	count, rank int
	bursts      []correlate.Signal
}

// signalLanes sorts bursts into lanes: by component, the gravest and most
// repeated signatures first.
func signalLanes(signals []correlate.Signal) []signalLane {
	lanes := group(signals, func(s correlate.Signal) [2]string { return [2]string{s.Component, s.Signature} })
	slices.SortStableFunc(lanes, func(x, y signalLane) int {
		return cmp.Or(
			cmp.Compare(orderOf(componentOrder, x.component), orderOf(componentOrder, y.component)),
			cmp.Compare(x.component, y.component),
			cmp.Compare(y.rank, x.rank),
			cmp.Compare(y.count, x.count),
			cmp.Compare(x.title, y.title))
	})
	return foldLanes(lanes)
}

func group(signals []correlate.Signal, of func(correlate.Signal) [2]string) []signalLane {
	var out []signalLane
	at := map[[2]string]int{}
	for _, s := range signals {
		key := of(s)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, signalLane{head: clip(name(key[1]), 28), title: name(key[1]), component: key[0]})
		}
		out[i].bursts = append(out[i].bursts, s)
		out[i].count += s.Count
		out[i].rank = max(out[i].rank, levelOf(s.Level).rank)
	}
	return out
}

// foldLanes puts the rarer signatures of each component into one lane.
func foldLanes(lanes []signalLane) []signalLane {
	var out []signalLane
	for len(lanes) > 0 {
		n := 1
		for n < len(lanes) && lanes[n].component == lanes[0].component {
			n++
		}
		own := lanes[:n]
		lanes = lanes[n:]
		if n > maxSignatures+1 {
			rest := signalLane{head: plural(n-maxSignatures, "other message"), component: own[0].component}
			for _, l := range own[maxSignatures:] {
				rest.bursts = append(rest.bursts, l.bursts...)
				rest.count += l.count
			}
			own = append(own[:maxSignatures:maxSignatures], rest)
		}
		out = append(out, own...)
	}
	return out
}

func (b *builder) drawSignals(c *canvas) {
	seen, beyond := b.signalsIn(c)
	component, groups := "", 0
	for i, l := range signalLanes(seen) {
		if i == 0 || l.component != component {
			component = l.component
			if groups++; groups <= maxComponents {
				c.group(laneGroup(component))
				c.edges(c.y-9, beyond[component][0], beyond[component][1])
			}
		}
		if groups > maxComponents {
			c.outside += len(l.bursts)
			continue
		}
		c.head(l.head, "lane", l.title, signalLaneHeight)
		b.drawBursts(c, l, c.y+signalLaneHeight/2)
		c.y += signalLaneHeight
	}
}

// signalsIn are the bursts that reach into the window, with the numbers of
// those before and after it by component.
func (b *builder) signalsIn(c *canvas) (seen []correlate.Signal, beyond map[string][2]int) {
	beyond = map[string][2]int{}
	for _, s := range b.a.Signals {
		if s.Start == nil {
			c.outside++
			continue
		}
		n := beyond[s.Component]
		switch {
		case endOf(s).Before(c.axis.from):
			n[0]++
		case s.Start.After(c.axis.to):
			n[1]++
		default:
			seen = append(seen, s)
		}
		beyond[s.Component] = n
	}
	return seen, beyond
}

func laneGroup(component string) string {
	if component == "" {
		return "Log: component not known"
	}
	return "Log: " + name(component)
}

// burst is one bar: a run of bursts with no room between them.
type burst struct {
	from, to float64
	count    int
	level    string
	title    string
}

func (b *builder) drawBursts(c *canvas, l signalLane, y float64) {
	c.under(linePath(c.axis.left, y, c.axis.right, y), "lane", "")
	slices.SortStableFunc(l.bursts, func(x, y correlate.Signal) int { return x.Start.Compare(*y.Start) })
	var bars []burst
	for _, s := range l.bursts {
		bars = b.merged(bars, c.axis, s, endOf(s))
	}
	for _, r := range bars {
		c.labels.block(box{r.from - 1, y - 8, r.to + 1, y + 8})
	}
	for _, r := range bars {
		h := levelHeight(r.level)
		c.draw(rectPath(r.from, y-h/2, r.to-r.from, h), "burst "+levelClass(r.level), r.title)
		if r.count > 1 {
			c.say(label{Text: "×" + count(r.count), Size: smallSize, Class: "count", Spots: []spot{{r.to + 5, y + 4, anchorStart}, {r.from - 5, y + 4, anchorEnd}}})
		}
	}
}

func endOf(s correlate.Signal) time.Time {
	if s.End == nil || s.End.Before(*s.Start) {
		return *s.Start
	}
	return *s.End
}

func (b *builder) merged(bars []burst, a axis, s correlate.Signal, end time.Time) []burst {
	from := a.x(*s.Start)
	to := max(a.x(end), from+3)
	if n := len(bars); n > 0 && from-bars[n-1].to < nearBursts {
		last := &bars[n-1]
		last.to = max(last.to, to)
		last.count += s.Count
		last.level = worse(last.level, s.Level)
		last.title = fmt.Sprintf("%s records up to %s", count(last.count), b.clock.stamp(&end))
		return bars
	}
	title := fmt.Sprintf("%s, %s from %s:%d: %s", b.clock.stamp(s.Start), plural(s.Count, "record"), name(s.Source), s.Line, clip(verbatim(s.Text), 160))
	return append(bars, burst{from, to, s.Count, s.Level, title})
}

// level is how grave a record is, with the height of its bar.
type level struct {
	class  string
	rank   int
	height float64
}

var levels = map[string]level{
	"fatal":   {"error", 3, 11},
	"panic":   {"error", 3, 11},
	"error":   {"error", 3, 11},
	"warn":    {"warn", 2, 7},
	"warning": {"warn", 2, 7},
	"info":    {"info", 1, 4},
}

func levelHeight(l string) float64 { return levelOf(l).height }
func levelClass(l string) string   { return levelOf(l).class }

func levelOf(l string) level {
	if v, ok := levels[l]; ok {
		return v
	}
	return level{"info", 0, 4}
}

func worse(x, y string) string {
	if levelOf(y).rank > levelOf(x).rank {
		return y
	}
	return x
}
