package logparse

import (
	"slices"
	"strings"
)

// literalSet finds which of many literals stand in a text, after Wu and Manber: a
// window as long as the shortest literal moves over the text, and the three bytes at
// its end say how far it can move at once. Most triples of bytes stand in no literal,
// so most of a text is never looked at. The few literals that would make the window
// short are searched one by one.
type literalSet struct {
	words []string
	// starts are the literals that begin with "^": the rest of them counts at the
	// beginning of a text only. short are those below leastLiteral bytes.
	starts, short []uint16
	// least is the length of the window: of the shortest of the others.
	least int
	// shift is how far the window may move, by the hash of the triple at its end: 0
	// where literals may stand in it, which bucket has then.
	shift  [1 << tripleBits]uint8
	bucket [1 << tripleBits]uint16 // in buckets
	// buckets are the literals whose first least bytes end with triples of one hash;
	// the first bucket is empty.
	buckets [][]uint16
}

// leastLiteral is the length from which literals are searched by the window.
const leastLiteral = 8

// tripleBits are the bits of a triple's hash: tables of 16 and 32 KiB.
const tripleBits = 14

// newLiteralSet numbers the literals by their index. They must not be empty.
func newLiteralSet(words []string) *literalSet {
	l := &literalSet{words: words, least: 255, buckets: [][]uint16{nil}}
	for id, w := range words {
		switch {
		case w[0] == '^':
			l.starts = append(l.starts, uint16(id))
		case len(w) < leastLiteral:
			l.short = append(l.short, uint16(id))
		default:
			l.least = min(l.least, len(w))
		}
	}
	for i := range l.shift {
		l.shift[i] = uint8(l.least - 2)
	}
	for id, w := range words {
		if len(w) >= leastLiteral && w[0] != '^' {
			l.enter(uint16(id), w)
		}
	}
	return l
}

// enter makes the window stop at a literal.
func (l *literalSet) enter(id uint16, w string) {
	for end := 3; end <= l.least; end++ {
		h := tripleAt(w, end-3)
		l.shift[h] = min(l.shift[h], uint8(l.least-end))
	}
	h := tripleAt(w, l.least-3)
	if l.bucket[h] == 0 {
		l.bucket[h] = uint16(len(l.buckets))
		l.buckets = append(l.buckets, nil)
	}
	b := &l.buckets[l.bucket[h]]
	*b = append(*b, id)
}

// tripleAt is the hash of the three bytes at an offset.
func tripleAt(s string, i int) uint32 {
	t := s[i : i+3]
	return (uint32(t[0]) | uint32(t[1])<<8 | uint32(t[2])<<16) * 2654435761 >> (32 - tripleBits)
}

// candidates finds the next window, from an end on, in which literals may stand: the
// offset where it begins, and the literals; next is the end to go on from, -1 when
// there is none any more.
func (l *literalSet) candidates(text string, end int) (at int, ids []uint16, next int) {
	for end <= len(text) {
		h := tripleAt(text, end-3)
		if s := l.shift[h]; s > 0 {
			end += int(s)
			continue
		}
		return end - l.least, l.buckets[l.bucket[h]], end + 1
	}
	return 0, nil, -1
}

// contained lists the literals that stand in a text, in order.
func (l *literalSet) contained(text string) []int {
	var out []int
	for _, id := range l.starts {
		if strings.HasPrefix(text, l.words[id][1:]) {
			out = append(out, int(id))
		}
	}
	for _, id := range l.short {
		if strings.Contains(text, l.words[id]) {
			out = append(out, int(id))
		}
	}
	for end := l.least; end >= 0 && end <= len(text); {
		at, ids, next := l.candidates(text, end)
		for _, id := range ids {
			if strings.HasPrefix(text[at:], l.words[id]) && !slices.Contains(out, int(id)) {
				out = append(out, int(id))
			}
		}
		end = next
	}
	slices.Sort(out)
	return out
}
