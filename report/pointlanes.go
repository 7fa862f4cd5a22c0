package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"etcd-autopsy/correlate"
)

const (
	pointLaneHeight = 30
	// maxPointLanes is how many lanes the writes get before objects of one kind
	// share a lane; maxPerKind is how many objects of a kind get their own.
	maxPointLanes = 14
	maxPerKind    = 4
	// nearPoints is the distance in which dots become one.
	nearPoints = 8
)

// kindOrder is the order of lanes, that of the chain of objects.
var kindOrder = []string{
	"Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "ReplicaSet", "ControllerRevision",
	"Pod", "Node", "Service", "EndpointSlice", "Endpoints", "Ingress", "HTTPRoute",
}

// pointLane is the stored writes of one object, or of all objects of a kind.
type pointLane struct {
	head, title string
	points      []correlate.Point
}

func orderOf(order []string, s string) int {
	if i := slices.Index(order, s); i >= 0 {
		return i
	}
	return len(order)
}

// pointLanes sorts the writes into lanes: by kind in the order of the chain,
// within a kind by name where there are few.
func pointLanes(points []correlate.Point) []pointLane {
	lanes := lanesBy(points, func(p correlate.Point) string { return p.Name })
	perKind := map[string]int{}
	for _, l := range lanes {
		perKind[l.points[0].Kind]++
	}
	return lanesBy(points, func(p correlate.Point) string {
		if n := perKind[p.Kind]; n > maxPerKind || (n > 1 && len(lanes) > maxPointLanes) {
			return plural(n, "object")
		}
		return p.Name
	})
}

func lanesBy(points []correlate.Point, of func(correlate.Point) string) []pointLane {
	var out []pointLane
	at := map[[2]string]int{}
	for _, p := range points {
		key := [2]string{p.Kind, of(p)}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, pointLane{
				head:  name(p.Kind) + " " + clipMiddle(name(key[1]), max(8, 24-len(p.Kind))),
				title: name(p.Kind) + " " + name(key[1]),
			})
		}
		out[i].points = append(out[i].points, p)
	}
	slices.SortStableFunc(out, func(x, y pointLane) int {
		kx, ky := x.points[0].Kind, y.points[0].Kind
		return cmp.Or(cmp.Compare(orderOf(kindOrder, kx), orderOf(kindOrder, ky)), cmp.Compare(kx, ky))
	})
	return out[:min(len(out), maxPointLanes)]
}

// cluster is dots too near to be told apart.
type cluster struct {
	x, last float64
	points  []correlate.Point
}

func (b *builder) drawPoints(c *canvas, points []correlate.Point) {
	if len(points) == 0 {
		return
	}
	c.group("Writes stored in etcd")
	for _, l := range pointLanes(points) {
		c.head(l.head, "lane", l.title, pointLaneHeight+12)
		y := c.y + 21
		c.under(linePath(c.axis.left, y, c.axis.right, y), "lane", "")
		b.drawLane(c, l, y)
		c.y += pointLaneHeight
	}
	c.y += 4
}

func (b *builder) drawLane(c *canvas, l pointLane, y float64) {
	var clusters []cluster
	before, after := 0, 0
	for _, p := range l.points {
		if p.Time == nil {
			c.outside++
			continue
		}
		switch c.axis.side(*p.Time) {
		case -1:
			before++
		case 1:
			after++
		default:
			errorBar(c, p, y)
			clusters = clustered(clusters, c.axis.x(*p.Time), p)
		}
	}
	said := ""
	for _, k := range clusters {
		said = b.drawCluster(c, k, y, said)
	}
	c.edges(y, before, after)
}

// clustered adds a dot to the last cluster if it is near. Points come in order
// of revision, which estimates may contradict by a little.
func clustered(list []cluster, x float64, p correlate.Point) []cluster {
	if n := len(list); n > 0 && math.Abs(x-list[n-1].last) < nearPoints {
		list[n-1].last = x
		list[n-1].points = append(list[n-1].points, p)
		return list
	}
	return append(list, cluster{x, x, []correlate.Point{p}})
}

// errorBar draws the interval in which a write truly lies, if it can be seen.
func errorBar(c *canvas, p correlate.Point, y float64) {
	if p.Earliest == nil || p.Latest == nil {
		return
	}
	x1, x2 := c.axis.x(*p.Earliest), c.axis.x(*p.Latest)
	if x2-x1 > 3 {
		c.under(linePath(x1, y, x2, y), "spread", "")
	}
}

// drawCluster draws a dot with what it says, unless the dot before said the
// same; it returns what was said.
func (b *builder) drawCluster(c *canvas, k cluster, y float64, before string) string {
	x := (k.x + k.last) / 2
	n := len(k.points)
	r := 3.6 + min(3, math.Log2(float64(n)))
	c.draw(dotPath(x, y, r), "dot "+sharpness(c, k.points), b.clusterTitle(k.points))
	said := clip(prose(k.points[0].Text), 30)
	if n > 1 {
		said = fmt.Sprintf("%s +%d", clip(prose(k.points[0].Text), 24), n-1)
	}
	if said != before {
		c.say(label{Text: said, Size: smallSize, Class: "said", Spots: []spot{{x - 3, y - 10, anchorStart}, {x + 4, y - 10, anchorEnd}}})
	}
	return said
}

// sharpness classes a dot by how wide the interval of its time is in the picture.
func sharpness(c *canvas, points []correlate.Point) string {
	for _, p := range points {
		if p.Earliest == nil || p.Latest == nil {
			return "unbounded"
		}
		if c.axis.x(*p.Latest)-c.axis.x(*p.Earliest) > 14 {
			return "vague"
		}
	}
	return "sharp"
}

func (b *builder) clusterTitle(points []correlate.Point) string {
	var lines []string
	for i, p := range points {
		if i == 6 {
			lines = append(lines, fmt.Sprintf("and %d more", len(points)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s revision %d: %s", b.clock.stamp(p.Time), p.Revision, clip(prose(p.Text), 80)))
	}
	return strings.Join(lines, "; ")
}
