package logparse

import (
	"fmt"
	"strings"
)

// dump is a stack dump that is still going on. Records of other threads that
// stand in its middle wait behind it, so that records come in the order they
// begin.
type dump struct {
	rec    Record
	block  strings.Builder
	lost   int64
	behind []Record
}

// maxBehind is how many records wait for the end of a dump.
const maxBehind = 64

func newDump(rec Record) *dump {
	d := &dump{rec: rec}
	d.block.WriteString(rec.Message)
	return d
}

// joinDump adds a row to the open dump if it is part of it: whatever follows its
// lines directly, and after other records what looks like a stack.
func (s *stream) joinDump(r *row) bool {
	d := s.dump
	switch {
	case d == nil || r.nuls > 0:
		return false
	case r.format != nil && (r.format.name != FormatPanic || !isGoroutine(r.text)):
		if r.format.name == FormatPanic {
			s.flush()
			s.endDump()
		}
		return false
	case (len(d.behind) > 0 || s.held.on) && !isStackLine(r.text):
		return false
	case beginsRecord(r.text), isSection(r.raw):
		return false
	}
	d.rec.Lines += r.lines
	d.lost += appendLine(&d.block, r.text) + r.lost
	return true
}

// endDump yields the dump and what has waited for it.
func (s *stream) endDump() {
	d := s.dump
	if d == nil {
		return
	}
	s.dump = nil
	d.rec.Message = strings.TrimRight(d.block.String(), "\n")
	if d.lost > 0 {
		d.rec.problem(fmt.Sprintf("block cut: %d bytes not kept", d.lost))
	}
	finishPanic(s, &d.rec)
	s.classify(&d.rec)
	s.give(&d.rec)
	for i := range d.behind {
		s.give(&d.behind[i])
	}
}
