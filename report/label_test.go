package report

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestPlacerKeepsLabelsApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := placer{bounds: box{0, 0, 400, 100}}
	p.block(box{100, 0, 140, 100})
	var boxes []box
	for i := range 500 {
		x, y := rng.Float64()*420, rng.Float64()*110
		l := label{Text: fmt.Sprint("label ", i), Size: 10, Spots: []spot{{x, y, anchorStart}, {x, y, anchorMiddle}, {x, y, anchorEnd}}}
		if got, ok := p.place(l); ok {
			boxes = append(boxes, got.box)
		}
	}
	if len(boxes) < 20 {
		t.Errorf("only %d labels found room", len(boxes))
	}
	for i, b := range boxes {
		if !b.inside(p.bounds) || b.meets(box{100, 0, 140, 100}) {
			t.Errorf("label at %v", b)
		}
		for _, o := range boxes[:i] {
			if b.meets(o) {
				t.Errorf("%v and %v overlap", b, o)
			}
		}
	}
}

func TestPlacerTakesTheFirstFreeSpot(t *testing.T) {
	p := placer{bounds: box{0, 0, 200, 50}}
	spots := []spot{{100, 20, anchorStart}, {92, 20, anchorEnd}, {100, 40, anchorStart}}
	for _, want := range []anchor{anchorStart, anchorEnd, anchorStart} {
		got, ok := p.place(label{Text: "stalled", Size: 10, Spots: spots})
		if !ok || got.Anchor != want {
			t.Fatalf("got %v, %v; want %s", got, ok, want)
		}
	}
	if _, ok := p.place(label{Text: "stalled", Size: 10, Spots: spots}); ok {
		t.Error("a fourth label found room")
	}
}

func TestBoxAtAnchors(t *testing.T) {
	l := label{Text: "abcd", Size: 10}
	w := textWidth(l.Text, l.Size)
	for a, left := range map[anchor]float64{anchorStart: 100, anchorMiddle: 100 - w/2, anchorEnd: 100 - w} {
		if got := l.boxAt(spot{100, 20, a}); got.Left != left || got.Right != left+w {
			t.Errorf("%s: %v", a, got)
		}
	}
}

func TestClipWidth(t *testing.T) {
	for _, tc := range []struct {
		in    string
		width float64
		want  string
	}{
		{"short", 100, "short"},
		{"a rather long label", 60, "a rather…"},
		{"词语很长很长", 40, "词语…"},
		{"x", 1, ""},
	} {
		if got := clipWidth(tc.in, 10, tc.width); got != tc.want {
			t.Errorf("clipWidth(%q, %v) = %q, want %q", tc.in, tc.width, got, tc.want)
		}
		if got := clipWidth(tc.in, 10, tc.width); textWidth(got, 10) > tc.width {
			t.Errorf("%q is wider than %v", got, tc.width)
		}
	}
}
