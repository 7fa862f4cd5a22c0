package logparse

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// journald's export format (systemd's Journal Export Formats): an entry is a
// block of lines FIELD=value that a blank line ends. A value with control bytes
// stands otherwise: its name alone on a line, then eight bytes with its length
// (little endian), the value and a newline.

// isExport says whether a stream is in that format.
func isExport(head []byte) bool {
	return bytes.HasPrefix(head, []byte("__CURSOR=")) || bytes.HasPrefix(head, []byte("__REALTIME_TIMESTAMP="))
}

// nextEntry reads one entry into an empty row.
func (s *stream) nextEntry(r *row) bool {
	found := false
	for {
		l, ok := s.lines.next()
		if !ok {
			return r.lines > 0
		}
		s.lineNo++
		if r.lines == 0 {
			r.first, r.offset = s.lineNo, l.offset
		}
		r.lines++
		r.lost, r.nuls = r.lost+l.lost, r.nuls+l.nuls
		text := s.text(l.text)
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			value, ok = s.binaryValue(r)
			if !ok {
				break
			}
		}
		switch {
		case name == "MESSAGE" && !found:
			found, r.text, r.raw = true, value, text
			if l, _, many := strings.Cut(value, "\n"); many || r.raw == name {
				r.raw = "MESSAGE=" + l
			}
		default:
			r.frame.journal(name, value)
		}
	}
	if !found {
		r.text, r.raw = "", ""
		return true
	}
	r.push(framingExport)
	inner := peel(r.text, s.knownChain)
	r.text, r.format = inner.text, inner.format
	r.frame.inside(&inner.frame)
	return true
}

// binaryValue reads a value with its length before it.
func (s *stream) binaryValue(r *row) (string, bool) {
	head := bytes.Clone(s.lines.bytes(8))
	r.lines += s.countLines(head)
	if len(head) < 8 {
		return "", false
	}
	size := binary.LittleEndian.Uint64(head)
	if size > MaxLine {
		r.lost += int64(min(size, 1<<62))
		return "", false
	}
	value := bytes.Clone(s.lines.bytes(int(size)))
	r.lines += s.countLines(value)
	text := strings.TrimRight(s.text(value), "\n")
	whole := uint64(len(value)) == size
	if l, ok := s.lines.next(); ok { // the newline behind it
		s.lineNo++
		r.lines++
		r.lost += l.lost + int64(len(l.text))
	}
	return text, whole
}

// countLines counts the lines that end in bytes taken as they are, and one that the
// end of the stream ends.
func (s *stream) countLines(b []byte) int {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' && s.lines.atEnd() {
		n++
	}
	s.lineNo += n
	return n
}
