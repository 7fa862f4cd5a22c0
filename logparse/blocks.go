package logparse

import (
	"slices"
	"strings"
)

// Most records are let go at once, and an allocation for each of their strings
// would cost more than reading them. So the texts of neighbouring records stand in
// one block, and so do their fields. A block is filled once and never written
// again: whoever keeps a string of it keeps the block, see [Record.Clone].

const (
	textBlock  = 8 << 10
	fieldBlock = 256
	// fieldRoom is how many fields at least fit behind those that a block holds.
	fieldRoom = 16
)

// texts hands out strings that share blocks.
type texts struct{ block strings.Builder }

// keep copies a text; a long one gets a block of its own.
func (t *texts) keep(b []byte) string {
	if len(b) > textBlock/4 {
		return string(b)
	}
	if t.block.Len()+len(b) > t.block.Cap() {
		t.block.Reset()
		t.block.Grow(textBlock)
	}
	at := t.block.Len()
	t.block.Write(b)
	return t.block.String()[at:]
}

// fieldLists hands out lists of fields that share blocks.
type fieldLists struct{ free Fields }

// open is an empty list to append to; one at a time.
func (l *fieldLists) open() Fields {
	if cap(l.free) < fieldRoom {
		l.free = make(Fields, 0, fieldBlock)
	}
	return l.free
}

// done takes such a list back and returns it as it is to stay, nil for an empty
// one. The fields of a long text get memory of their own: in a block they would
// keep it from being freed.
func (l *fieldLists) done(list Fields, text string) Fields {
	n := len(list)
	if n == 0 {
		return nil
	}
	if len(text) > textBlock/4 {
		own := slices.Clone(list)
		clear(list)
		return slices.Clip(own)
	}
	if n <= cap(l.free) { // else append has moved it
		l.free = l.free[n:n:cap(l.free)]
	}
	return list[:n:n]
}
