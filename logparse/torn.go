package logparse

import "strings"

// torn is a line that begins an object and does not end it: a terminal has
// wrapped it, or another thread's line stands in its middle.
type torn struct {
	row    row
	rest   []row // the lines that may be its rest, as long as it does not end
	behind []row // what stands behind it already
	text   strings.Builder
}

// maxTorn is how many lines are tried as the rest of a torn one.
const maxTorn = 16

// tear puts a row aside whose object does not end, false if nothing may follow.
func (s *stream) tear(r *row) bool {
	if len(r.text) >= MaxLine {
		return false
	}
	t := &torn{row: *r}
	if i := recordInside(r.text); i > 0 {
		inner := *r
		inner.text, inner.format, inner.lines, inner.shared, inner.cut = r.text[i:], formatOf(r.text[i:]), 1, true, false
		inner.raw = inner.text
		t.row.text = r.text[:i]
		t.behind = append(t.behind, inner)
	}
	t.text.WriteString(t.row.text)
	s.torn = t
	return true
}

// recordInside finds a klog header in the middle of a line.
func recordInside(text string) int {
	for i := 1; i+klogStampLen < len(text); i++ {
		switch text[i] {
		case 'I', 'W', 'E', 'F':
			if isDigit(text[i+1]) && claimsKlog(text[i:]) {
				return i
			}
		}
	}
	return -1
}

// rejoin adds a row to the torn one, and goes on with the whole once it ends. A
// row that begins a record of its own ends the waiting.
func (s *stream) rejoin(r *row) bool {
	t := s.torn
	if t == nil {
		return false
	}
	if r.format != nil || r.nuls > 0 || r.chain != t.row.chain && r.chain != 0 || r.text == "" {
		s.giveUp()
		return false
	}
	t.text.WriteString(r.text)
	t.rest = append(t.rest, *r)
	_, err := jsonNestedEnd(t.text.String(), 0)
	switch {
	case err == nil:
		whole := t.row
		whole.text, whole.cut, whole.after = t.text.String(), false, ""
		for i := range t.rest {
			whole.lines += t.rest[i].lines
			whole.lost += t.rest[i].lost
		}
		s.torn = nil
		s.place(&whole)
		for i := range t.behind {
			s.place(&t.behind[i])
		}
	case len(t.rest) >= maxTorn || t.text.Len() > MaxLine:
		s.giveUp()
	}
	return true
}

// giveUp makes the torn row a broken record, and the rows behind it what they
// are.
func (s *stream) giveUp() {
	t := s.torn
	if t == nil {
		return
	}
	s.torn = nil
	s.flush()
	var rec Record
	s.begin(&rec, &t.row)
	rec.Format = t.row.format.name
	t.row.format.read(s, &t.row, &rec)
	s.emit(&rec)
	for i := range t.behind {
		s.place(&t.behind[i])
	}
	for i := range t.rest {
		s.place(&t.rest[i])
	}
}

// emitObject yields a record, and makes another one of what stands behind its
// object in the same line.
func (s *stream) emitObject(r *row, rec *Record) {
	if r.after == "" {
		s.emit(rec)
		return
	}
	next := row{first: r.first, lines: 1, offset: r.offset, raw: r.after, shared: true, peeled: peeled{text: r.after, frame: r.frame}}
	if next.format = formatOf(r.after); next.format == nil {
		rec.problem("text after the json object")
		s.emit(rec)
		return
	}
	s.emit(rec)
	s.place(&next)
}
