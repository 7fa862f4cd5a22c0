package template

import (
	"slices"
	"time"
)

// maxBuckets bounds a histogram.
const maxBuckets = 64

// histogram counts by time. Its buckets are as narrow as maxBuckets of them allow
// for the whole span: 1, 2, 4, ... seconds. They are aligned, so that the order in
// which times come, and how they are spread over histograms, changes nothing. The
// zero value is empty.
type histogram struct {
	width   int64 // seconds; 0 = empty
	from    int64 // number of the first bucket: seconds since 1970 by width
	buckets []uint32
	// timeless counts what has no time.
	timeless int
}

// add counts n at a time.
func (h *histogram) add(t time.Time, n int) {
	if t.IsZero() {
		h.timeless += n
		return
	}
	h.put(t.Unix(), 1, uint32(n))
}

// put counts n in the bucket of a width that begins at a second.
func (h *histogram) put(second, width int64, n uint32) {
	if h.width == 0 {
		h.width, h.from, h.buckets = width, floorDiv(second, width), append(h.buckets[:0], n)
		return
	}
	for h.width < width || !h.fits(second) {
		h.widen()
	}
	at := floorDiv(second, h.width)
	if at < h.from {
		h.buckets = slices.Insert(h.buckets, 0, make([]uint32, h.from-at)...)
		h.from = at
	}
	for h.from+int64(len(h.buckets)) <= at {
		h.buckets = append(h.buckets, 0)
	}
	h.buckets[at-h.from] += n
}

// fits says whether a second can be counted without wider buckets.
func (h *histogram) fits(second int64) bool {
	at := floorDiv(second, h.width)
	return max(at, h.from+int64(len(h.buckets))-1)-min(at, h.from) < maxBuckets
}

// widen makes each two buckets one.
func (h *histogram) widen() {
	from := floorDiv(h.from, 2)
	var wide []uint32
	for i, n := range h.buckets {
		at := floorDiv(h.from+int64(i), 2) - from
		for int64(len(wide)) <= at {
			wide = append(wide, 0)
		}
		wide[at] += n
	}
	h.width, h.from, h.buckets = 2*h.width, from, wide
}

// join adds another histogram.
func (h *histogram) join(g *histogram) {
	h.timeless += g.timeless
	for i, n := range g.buckets {
		if n > 0 {
			h.put((g.from+int64(i))*g.width, g.width, n)
		}
	}
}

// between estimates how many were counted from one time to another: of a bucket
// that lies in part between them that part.
func (h *histogram) between(from, to time.Time) float64 {
	a, b := float64(from.UnixNano())/1e9, float64(to.UnixNano())/1e9
	sum := 0.0
	for i, n := range h.buckets {
		begin := float64((h.from + int64(i)) * h.width)
		end := begin + float64(h.width)
		if share := min(b, end) - max(a, begin); share > 0 {
			sum += float64(n) * share / float64(h.width)
		}
	}
	return sum
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
