package report

import (
	"strings"
	"unicode"
)

// anchor is which end of a text its place is.
type anchor string

const (
	anchorStart  anchor = "start"
	anchorMiddle anchor = "middle"
	anchorEnd    anchor = "end"
)

// spot is a place where a text may stand: its baseline and the anchored end.
type spot struct {
	X, Y   float64
	Anchor anchor
}

// label is a text that wants one of several spots, the first one best.
type label struct {
	Text  string
	Size  float64
	Spots []spot
	// Class and Title pass through to the picture.
	Class, Title string
}

// placed is a label with its place.
type placed struct {
	label
	spot
	box box
}

// box is a rectangle of a picture.
type box struct{ Left, Top, Right, Bottom float64 }

func (b box) meets(o box) bool {
	return b.Left < o.Right && o.Left < b.Right && b.Top < o.Bottom && o.Top < b.Bottom
}

func (b box) inside(o box) bool {
	return b.Left >= o.Left && b.Right <= o.Right && b.Top >= o.Top && b.Bottom <= o.Bottom
}

// placer gives labels places so that no two of them, and no label and blocked
// box, overlap. Labels placed first win.
type placer struct {
	bounds box
	taken  []box
}

// labelGap is the least space between two labels of one line.
const labelGap = 4

// block keeps a rectangle free of labels.
func (p *placer) block(b box) { p.taken = append(p.taken, b) }

// place finds the first free spot of a label; false if it has none.
func (p *placer) place(l label) (placed, bool) {
	for _, s := range l.Spots {
		b := l.boxAt(s)
		if b.inside(p.bounds) && p.free(b) {
			p.taken = append(p.taken, b)
			return placed{l, s, b}, true
		}
	}
	return placed{}, false
}

func (p *placer) free(b box) bool {
	b.Left -= labelGap
	b.Right += labelGap
	for _, t := range p.taken {
		if b.meets(t) {
			return false
		}
	}
	return true
}

// boxAt is the room a label takes at a spot.
func (l label) boxAt(s spot) box {
	w := textWidth(l.Text, l.Size)
	left := s.X
	switch s.Anchor {
	case anchorMiddle:
		left -= w / 2
	case anchorEnd:
		left -= w
	}
	return box{left, s.Y - 0.8*l.Size, left + w, s.Y + 0.25*l.Size}
}

// widthClass is the width of some characters in units of the font's size.
type widthClass struct {
	chars string
	width float64
}

// widthClasses are wide estimates for sans-serif fonts, so that a text is
// rather shorter than the room it was given.
var widthClasses = []widthClass{
	{"ijl|!.,:;'` ()[]{}/\\·", 0.38},
	{"frt-\"*", 0.46},
	{"mwMW@%…—", 0.98},
	{"ABCDEFGHIJKLNOPQRSTUVXYZ&", 0.74},
}

const otherWidth = 0.63

// textWidth estimates the width of a text of a given size.
func textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w * size
}

func runeWidth(r rune) float64 {
	if r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x3000) {
		return 1.05
	}
	for _, c := range widthClasses {
		for _, k := range c.chars {
			if k == r {
				return c.width
			}
		}
	}
	return otherWidth
}

// clipWidth shortens a text to a width.
func clipWidth(s string, size, width float64) string {
	if textWidth(s, size) <= width {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 0; n-- {
		if t := strings.TrimRight(string(runes[:n]), " ") + "…"; textWidth(t, size) <= width {
			return t
		}
	}
	return ""
}
