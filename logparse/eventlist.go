package logparse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// The API server's audit webhook sends events in lists, and people save those:
// one object {"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[…]},
// printed in one line or in many.

// isEventList says whether a stream is such a list.
func isEventList(head []byte) bool {
	head = bytes.TrimLeft(head[:min(len(head), 4096)], " \t\r\n")
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"EventList"`)) &&
		bytes.Contains(head, []byte(`"audit.k8s.io/`)) && !bytes.HasPrefix(head, []byte(`{"kind":"Event",`))
}

// readEventList yields the items of a list as audit records; several lists may
// follow each other. An item's line is the one that it begins in.
func (s *stream) readEventList(ctx context.Context) error {
	in := &countingReader{lines: s.lines}
	d := json.NewDecoder(in)
	for {
		if err := s.eventList(ctx, d, in); err != nil {
			s.listEnd(in, d, err)
			if err == io.EOF || ctx.Err() != nil {
				return err
			}
			if s.lines.err != io.EOF {
				return fmt.Errorf("read log after line %d: %w", s.lineNo, s.lines.err)
			}
			return io.EOF
		}
	}
}

// eventList reads one list; io.EOF if there is none.
func (s *stream) eventList(ctx context.Context, d *json.Decoder, in *countingReader) error {
	depth, items := 0, false
	for {
		if ctx.Err() != nil || s.stopped {
			return ctx.Err()
		}
		if items && depth == 2 && d.More() {
			var item json.RawMessage
			if err := d.Decode(&item); err != nil {
				return err
			}
			s.listItem(item, in, d.InputOffset())
			continue
		}
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else if depth--; depth == 0 {
				return nil
			} else if depth == 1 {
				items = false
			}
		case string:
			if depth == 1 && t == "items" {
				items = true
			}
		}
	}
}

// listItem yields one item, which ends at an offset of the stream.
func (s *stream) listItem(item json.RawMessage, in *countingReader, end int64) {
	line := in.lineAt(end - int64(len(item)))
	last := in.lineAt(end)
	in.forget(end)
	var b bytes.Buffer
	if json.Compact(&b, item) != nil {
		return
	}
	text := s.text(b.Bytes())
	r := row{first: max(line, s.lineNo+1), offset: end - int64(len(item)), raw: text, peeled: peeled{text: text}}
	if line <= s.lineNo { // several in one line
		r.first, r.shared = s.lineNo, true
	}
	if r.first > s.lineNo+1 {
		s.emit(&Record{Line: s.lineNo + 1, Lines: r.first - s.lineNo - 1, Format: FormatNoise, Text: "(between the items of a list)"})
	}
	r.lines = max(last-r.first+1, 1)
	s.lineNo = max(last, s.lineNo)
	var rec Record
	s.begin(&rec, &r)
	rec.Format = FormatAudit
	readAudit(s, &r, &rec)
	rec.Text = excerpt(text, MaxAuditText)
	s.emit(&rec)
}

// listEnd accounts for the lines behind the last item, and says where the list
// breaks off.
func (s *stream) listEnd(in *countingReader, d *json.Decoder, err error) {
	_, _ = io.Copy(io.Discard, in)
	rest := in.total() - s.lineNo
	if rest <= 0 && err == io.EOF {
		return
	}
	rec := Record{Line: s.lineNo + 1, Lines: max(rest, 1), Offset: d.InputOffset(), Format: FormatNoise, Text: "(end of a list)"}
	if rest <= 0 {
		rec.Line, rec.Shared = max(s.lineNo, 1), true
	}
	if err != io.EOF {
		rec.Format, rec.Message = FormatPlain, "audit event list"
		rec.problem(fmt.Sprintf("the list breaks off at byte %d: %v", d.InputOffset(), err))
	}
	s.emit(&rec)
	s.lineNo += max(rest, 0)
}

// countingReader gives out the rest of a lineReader's stream and knows the line of
// an offset.
type countingReader struct {
	lines *lineReader
	// breaks are the offsets of the newlines that are still asked for, before the
	// ones forgotten.
	breaks    []int64
	forgotten int
	offset    int64
	endsLine  bool
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.lines.read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.breaks = append(c.breaks, c.offset+int64(i))
		}
	}
	if n > 0 {
		c.endsLine = p[n-1] == '\n'
	}
	c.offset += int64(n)
	return n, err
}

// lineAt is the 1-based line of an offset that has not been forgotten.
func (c *countingReader) lineAt(offset int64) int {
	n := 0
	for n < len(c.breaks) && c.breaks[n] < offset {
		n++
	}
	return c.forgotten + n + 1
}

// forget drops the newlines before an offset.
func (c *countingReader) forget(offset int64) {
	n := 0
	for n < len(c.breaks) && c.breaks[n] < offset {
		n++
	}
	c.forgotten += n
	c.breaks = c.breaks[:copy(c.breaks, c.breaks[n:])]
}

// total is how many lines were read.
func (c *countingReader) total() int {
	n := c.forgotten + len(c.breaks)
	if c.offset > 0 && !c.endsLine {
		n++
	}
	return n
}
