package logparse

import (
	"fmt"
	"strings"
	"time"
)

// held is a record whose lines may not all have come: klog prints messages of
// several lines without a mark on the later ones.
type held struct {
	rec    Record
	on     bool
	finish func(*stream, *Record)
	chain  uint64
	// program and pid are the process that printed it, as a wrapper names it.
	program, pid, pod, container string
	// came is when the wrapper says that its last line came, if it does.
	came    moment
	stamped bool
	// open means that a value of several lines has begun: what is indented belongs
	// to it, whatever it looks like.
	open  bool
	block strings.Builder // the message, once it has two lines
	lost  int64           // bytes of it that were not kept
}

// hold keeps the record that has been read into rec.
func (h *held) hold(r *row) {
	h.on, h.finish, h.lost = true, r.format.finish, 0
	h.chain, h.program, h.pid, h.pod, h.container = r.chain, r.program, r.pid, r.pod, r.container
	h.came, h.stamped = r.stamp, r.stamped
	h.block.Reset()
	h.open = strings.HasSuffix(r.text, "=<")
}

// continues adds a row to the held record if it goes on there.
func (s *stream) continues(r *row) bool {
	h := &s.held
	if !h.on || r.nuls > 0 || r.chain != 0 && !h.sameSource(r) {
		return h.insideValue(r)
	}
	switch {
	case r.format != nil && r.format.name == FormatPanic && isGoroutine(r.text):
	case r.format != nil:
		return h.insideValue(r)
	case r.chain == 0 && beginsRecord(r.text), h.late(r):
		return false
	case isSection(r.raw):
		return false
	}
	h.extend(r, r.text)
	return true
}

// sameSource says whether a row came the same way as the record, from the same
// process. One without any wrapper may be a line that a wrapper has passed over.
func (h *held) sameSource(r *row) bool {
	return r.chain == h.chain && r.program == h.program && r.pid == h.pid && r.pod == h.pod && r.container == h.container
}

// maxPause is how long after each other the lines of one record may come. Some
// wrappers know full seconds only.
const maxPause = 2 * time.Second

// late says whether a row came too long after the last one to be part of it.
func (h *held) late(r *row) bool {
	if !h.stamped || !r.stamped || h.came.zoned != r.stamp.zoned || (h.came.year == 0) != (r.stamp.year == 0) {
		return false
	}
	a, b := h.came, r.stamp
	if a.year == 0 {
		a.year, b.year = leapYear, leapYear
	}
	return b.utc().Sub(a.utc()).Abs() > maxPause
}

// leapYear stands for a year that is not known, where only days are compared.
const leapYear = 2000

// insideValue adds a line to an open value: its tab may have been taken for an
// indent, and what it quotes for a record.
func (h *held) insideValue(r *row) bool {
	if !h.on || !h.open || r.nuls > 0 {
		return false
	}
	text := r.raw
	if h.chain != 0 {
		i := strings.Index(r.raw, "\t"+r.text)
		if i < 0 {
			return false
		}
		text = r.raw[i:]
	}
	if !strings.HasPrefix(text, "\t") {
		return false
	}
	h.extend(r, text)
	return true
}

// extend adds a row, within MaxBlock.
func (h *held) extend(r *row, text string) {
	if h.block.Len() == 0 {
		h.block.WriteString(h.rec.Message)
	}
	h.rec.Lines += r.lines
	if r.stamped {
		h.came, h.stamped = r.stamp, true
	}
	switch {
	case strings.HasPrefix(text, " >"):
		h.open = strings.HasSuffix(text, "=<")
	case strings.HasSuffix(text, "=<"):
		h.open = true
	}
	h.lost += appendLine(&h.block, text) + r.lost
}

// appendLine adds a line to a block, within MaxBlock, and counts the bytes that
// did not fit.
func appendLine(b *strings.Builder, text string) (lost int64) {
	room := MaxBlock - b.Len() - 1
	if room < len(text) {
		lost = int64(len(text))
		text = cutText(text, max(room, 0))
		lost -= int64(len(text))
	}
	if room > 0 {
		b.WriteByte('\n')
		b.WriteString(text)
	}
	return lost
}

// take lets go of the record and completes it; nil if there is none. It stays in
// its place until the next one is read there.
func (h *held) take(s *stream) *Record {
	if !h.on {
		return nil
	}
	h.on, h.open = false, false
	if h.block.Len() > 0 {
		h.rec.Message = h.block.String()
		h.block.Reset()
	}
	if h.lost > 0 {
		h.rec.problem(fmt.Sprintf("block cut: %d bytes not kept", h.lost))
	}
	h.finish(s, &h.rec)
	return &h.rec
}
