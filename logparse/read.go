package logparse

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"
)

// Options say what a stream does not.
type Options struct {
	// Component is the program whose log it is; empty = look at the first block.
	Component Component
	// Year is that of the first klog stamp; later ones follow it past a new
	// year. 0 = infer.
	Year int
	// Location is the zone of klog stamps; nil = UTC.
	Location *time.Location
	// Reference makes a klog stamp fall into the year that puts it nearest.
	// Zero = the full dates that the stream itself shows; if it shows none,
	// klog records have no time. Year goes before it.
	Reference time.Time

	_ struct{}
}

// checkEvery is how many lines are read between two looks at the context.
const checkEvery = 1024

// Read yields the records of a log in the order they stand, in a single pass
// and in bounded memory. Each line of the stream belongs to one record. The
// error pair, if any, is the last one and its record is zero: the source failed
// or ctx ended; what was read before it has been yielded.
func Read(ctx context.Context, r io.Reader, opts Options) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s := newStream(r, opts)
		for {
			if s.lineNo%checkEvery == 0 && ctx.Err() != nil {
				if s.end(yield) {
					yield(Record{}, ctx.Err())
				}
				return
			}
			l, ok := s.lines.next()
			if !ok {
				break
			}
			if !s.take(l, yield) {
				return
			}
		}
		if !s.end(yield) {
			return
		}
		if err := s.lines.err; err != io.EOF {
			yield(Record{}, fmt.Errorf("read log after line %d: %w", s.lineNo, err))
		}
	}
}

// stream is the state of one Read.
type stream struct {
	lines     *lineReader
	lineNo    int
	component Component
	clock     klogClock
	match     *matcher

	// pieces is a line that a container runtime has cut, as far as it was read.
	pieces parts

	// held is a record that lines without a mark may continue.
	held    Record
	holding bool
	block   strings.Builder // the held record's message, once it has two lines
	lost    int64           // bytes of it that were not kept
}

func newStream(r io.Reader, opts Options) *stream {
	s := &stream{lines: newLineReader(r), component: opts.Component, clock: newKlogClock(opts), match: signatureMatcher()}
	head := s.lines.head()
	if s.component == ComponentUnknown {
		s.component = Identify("", head).Component
	}
	s.clock.learnHead(string(head))
	return s
}

// row is one line as its program wrote it: without the wrapper of a container
// runtime, and whole again if that has cut it.
type row struct {
	first, lines int    // where it stands in the stream
	raw          string // its first line there
	text         string
	lost, nuls   int64 // bytes not kept
	wrap         wrapped
}

// take turns one line of the stream into a row, or adds it to the pieces of one.
func (s *stream) take(l line, yield func(Record, error) bool) bool {
	s.lineNo++
	r := row{first: s.lineNo, lines: 1, raw: validText(l.text), lost: l.lost, nuls: l.nuls}
	r.wrap, r.text = cutCRI(r.raw)
	if s.pieces.count > 0 {
		if s.pieces.join(r) {
			return r.wrap.partial || s.place(s.pieces.whole(), yield)
		}
		if !s.place(s.pieces.whole(), yield) {
			return false
		}
	}
	if r.wrap.partial {
		s.pieces.join(r)
		return true
	}
	return s.place(r, yield)
}

// place makes a row a record, or adds it to the one held.
func (s *stream) place(r row, yield func(Record, error) bool) bool {
	f := formatOf(r.text)
	if f == nil && s.holding && r.nuls == 0 && !beginsRecord(r.text) {
		s.extend(r)
		return true
	}
	if !s.flush(yield) {
		return false
	}
	rec := Record{Line: r.first, Lines: r.lines, Format: FormatPlain, Text: excerpt(r.raw, MaxText)}
	if r.lost > 0 {
		rec.problem(fmt.Sprintf("line cut: %d bytes not kept", r.lost))
	}
	if r.nuls > 0 {
		rec.problem(fmt.Sprintf("%d NUL bytes skipped", r.nuls))
	}
	if !r.wrap.time.IsZero() {
		s.clock.saw(r.wrap.time)
	}
	if f == nil {
		readPlain(s, r, &rec)
		return s.emit(&rec, yield)
	}
	rec.Format = f.name
	f.read(s, r.text, &rec)
	if rec.Audit != nil {
		rec.Text = excerpt(r.raw, MaxAuditText)
	}
	if f.finish != nil {
		s.held, s.holding = rec, true
		return true
	}
	return s.emit(&rec, yield)
}

// extend adds a row to the held record, within MaxBlock.
func (s *stream) extend(r row) {
	if s.block.Len() == 0 {
		s.block.WriteString(s.held.Message)
	}
	s.held.Lines += r.lines
	text := r.text
	room := MaxBlock - s.block.Len() - 1
	if room < len(text) {
		s.lost += int64(len(text))
		text = cutText(text, max(room, 0))
		s.lost -= int64(len(text))
	}
	s.lost += r.lost
	if room > 0 {
		s.block.WriteByte('\n')
		s.block.WriteString(text)
	}
}

// end yields what is still held at the end of the stream.
func (s *stream) end(yield func(Record, error) bool) bool {
	if s.pieces.count > 0 && !s.place(s.pieces.whole(), yield) {
		return false
	}
	return s.flush(yield)
}

// flush yields the held record, if there is one.
func (s *stream) flush(yield func(Record, error) bool) bool {
	if !s.holding {
		return true
	}
	s.holding = false
	rec := s.held
	s.held = Record{}
	if s.block.Len() > 0 {
		rec.Message = s.block.String()
		s.block.Reset()
	}
	if s.lost > 0 {
		rec.problem(fmt.Sprintf("block cut: %d bytes not kept", s.lost))
		s.lost = 0
	}
	formatNamed(rec.Format).finish(&rec)
	return s.emit(&rec, yield)
}

func (s *stream) emit(rec *Record, yield func(Record, error) bool) bool {
	rec.Signatures = s.match.signatures(rec)
	return yield(*rec, nil)
}

// problem notes a fault; the first one stays, it is nearest to the cause.
func (r *Record) problem(text string) {
	if r.Problem == "" {
		r.Problem = text
	}
}

// validText copies a line out of the buffer, with U+FFFD for what is no UTF-8.
func validText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// excerpt is the start of a line; of a long one a copy, which does not keep the
// whole line in memory.
func excerpt(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := cutText(text, most)
	if len(text) > 8*most {
		return strings.Clone(cut)
	}
	return cut
}

// cutText cuts at most n bytes, on a rune boundary.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
