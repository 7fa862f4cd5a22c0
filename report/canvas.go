package report

import (
	"fmt"
	"time"
)

// Measures of the timeline picture.
const (
	pictureWidth = 1000
	gutter       = 196
	plotRight    = pictureWidth - 18
	bandHeight   = 36
	headSize     = 11
	labelSize    = 11
	smallSize    = 10.5
)

// shape is one outline of the picture.
type shape struct{ D, Class, Title string }

// canvas collects the parts of the timeline picture from top to bottom.
type canvas struct {
	axis axis
	// back is drawn first, front over it.
	back, front []shape
	texts       []placed
	labels      placer
	y           float64
	// dropped counts labels without room, outside the items beyond the window.
	dropped, outside int
}

func newCanvas(from, to time.Time) *canvas {
	c := &canvas{axis: axis{from, to, gutter, plotRight}, y: bandHeight}
	c.labels.bounds = box{gutter, 0, pictureWidth, 1e6}
	return c
}

func (c *canvas) draw(d, class, title string) { c.front = append(c.front, shape{d, class, title}) }

func (c *canvas) under(d, class, title string) { c.back = append(c.back, shape{d, class, title}) }

// say places a label or counts it as left out.
func (c *canvas) say(l label) {
	if l.Size == 0 {
		l.Size = labelSize
	}
	if p, ok := c.labels.place(l); ok {
		c.texts = append(c.texts, p)
		return
	}
	c.dropped++
}

// head names the lane at the present height, in the gutter.
func (c *canvas) head(s, class, title string, height float64) {
	l := label{Text: clipWidth(s, headSize, gutter-16), Size: headSize, Class: class, Title: title}
	at := spot{gutter - 10, c.y + height/2 + 4, anchorEnd}
	if class == "group" {
		l.Text, at = clipWidth(s, headSize, gutter-4), spot{0, c.y + height/2 + 4, anchorStart}
	}
	c.texts = append(c.texts, placed{l, at, l.boxAt(at)})
}

// group heads the lanes that follow.
func (c *canvas) group(s string) {
	c.y += 6
	c.head(s, "group", "", 18)
	c.under(linePath(0, c.y, pictureWidth, c.y), "rule", "")
	c.y += 18
}

// edges marks a lane whose items reach beyond the window.
func (c *canvas) edges(y float64, before, after int) {
	if before > 0 {
		c.draw(fmt.Sprintf("M%.1f %.1fl7 -5v10z", c.axis.left-8, y), "edge", plural(before, "item")+" before the window")
	}
	if after > 0 {
		c.draw(fmt.Sprintf("M%.1f %.1fl-7 -5v10z", c.axis.right+8, y), "edge", plural(after, "item")+" after the window")
	}
	c.outside += before + after
}

func linePath(x1, y1, x2, y2 float64) string {
	return fmt.Sprintf("M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2)
}

func rectPath(x, y, w, h float64) string {
	return fmt.Sprintf("M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, w, h, -w)
}

func dotPath(x, y, r float64) string {
	return fmt.Sprintf("M%.1f %.1fa%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 %.1f 0z", x-r, y, r, r, 2*r, r, r, -2*r)
}
