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
	// Year is that of the first stamp without one; later ones follow it past a new
	// year. 0 = infer.
	Year int
	// Location is the zone of stamps without one; nil = that of the wrapper around
	// them, else UTC.
	Location *time.Location
	// Zones are the zones that other evidence shows for stamps without one, in order of
	// their lines; that of a wrapper goes before them, and Location before all. nil =
	// none is known.
	Zones []ZoneFrom
	// Reference makes a stamp without a year fall into the year that puts it
	// nearest. Zero = the full dates that the stream itself shows. Year goes before
	// it.
	Reference time.Time
	// Before is a time that no record is later than, when the file was last
	// written: where nothing else shows the year it is the last possible one. Zero =
	// unknown; such records have no time.
	Before time.Time
	// Unclassified leaves the records without signatures, for callers that have
	// Classify give them where and when it suits.
	Unclassified bool

	_ struct{}
}

// ZoneFrom is the zone of the stamps from a line of the stream on.
type ZoneFrom struct {
	Line     int
	Location *time.Location
}

// checkEvery is how many lines are read between two looks at the context.
const checkEvery = 1024

// Read yields the records of a log in the order they begin, in a single pass and
// in bounded memory. Each line of the stream belongs to one record. The error
// pair, if any, is the last one and its record is zero: the source failed or ctx
// ended; what was read before it has been yielded.
func Read(ctx context.Context, r io.Reader, opts Options) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s := newStream(decoded(r), opts)
		s.yield = yield
		err := s.run(ctx)
		if s.end(); err != nil && err != io.EOF && !s.stopped {
			yield(Record{}, err)
		}
	}
}

// run reads to the end of the stream; io.EOF is the good one.
func (s *stream) run(ctx context.Context) error {
	next := s.nextRow
	switch {
	case s.export:
		next = s.nextEntry
	case isEventList(s.lines.head()):
		return s.readEventList(ctx)
	}
	for n := 0; !s.stopped; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.row = (row{}); !next(&s.row) {
			return s.failure()
		}
		s.take(&s.row)
	}
	return nil
}

// failure says why the source ended; io.EOF if it came to its end.
func (s *stream) failure() error {
	if s.lines.err == io.EOF {
		return io.EOF
	}
	return fmt.Errorf("read log after line %d: %w", s.lineNo, s.lines.err)
}

// stream is the state of one Read.
type stream struct {
	yield   func(Record, error) bool
	stopped bool // yield wants no more

	lines     *lineReader
	texts     texts
	fields    fieldLists
	lineNo    int
	component Component // of the whole stream
	section   Component // as a head between the lines names it
	known     bool      // most lines have a known format
	begun     bool      // a line with a format has been seen
	export    bool      // the stream is in journald's export format
	clock     clock
	match     *matcher // nil: no signatures are wanted

	// chains counts for each chain of wrappers the lines that a format claimed
	// behind it, less those that none did.
	chains map[uint64]int
	names  map[uint64][]string

	pieces parts  // a line that a container runtime has cut, as far as it was read
	header frame  // a wrapper that stood alone, for the line behind it
	torn   *torn  // an object whose end has not come yet
	held   held   // a record that lines without a mark may continue
	row    row    // the line at hand
	rec    Record // the record at hand
	dump   *dump  // a stack dump that lines of others may interrupt
}

func newStream(r io.Reader, opts Options) *stream {
	s := &stream{
		lines: newLineReader(r), component: opts.Component, clock: newClock(opts),
		chains: map[uint64]int{}, names: map[uint64][]string{},
	}
	if !opts.Unclassified {
		s.match = signatureMatcher()
	}
	head := s.lines.head()
	id := Identify("", head)
	if s.component == ComponentUnknown {
		s.component = id.Component
	}
	s.known = id.Format != FormatPlain && id.Format != ""
	s.export = isExport(head)
	s.clock.learnHead(string(head))
	return s
}

// row is one line as its program wrote it: without wrappers, and whole again if
// one has cut it.
type row struct {
	first, lines int // where it stands in the stream
	offset       int64
	raw          string // its first line there
	lost, nuls   int64  // bytes not kept
	shared       bool   // the row before it is of the same line
	peeled
	// cut says of an object that its end is missing, after what follows its end.
	cut   bool
	after string
}

// nextRow reads one line of the stream into an empty row.
func (s *stream) nextRow(r *row) bool {
	l, ok := s.lines.next()
	if !ok {
		return false
	}
	s.lineNo++
	r.first, r.lines, r.offset, r.raw, r.lost, r.nuls = s.lineNo, 1, l.offset, s.text(l.text), l.lost, l.nuls
	r.text = r.raw
	if s.held.on && s.held.chain == 0 && strings.HasPrefix(r.raw, "Trace[") {
		return true // a step of a trace: quick to know, and there are many
	}
	r.peel(s.knownChains())
	return true
}

// knownChains tells the chains of wrappers behind which formats claim most lines;
// nil while there are none.
func (s *stream) knownChains() func(uint64) bool {
	if len(s.chains) == 0 {
		return nil
	}
	return s.knownChain
}

func (s *stream) knownChain(chain uint64) bool { return s.chains[chain] > 0 }

// maxChains bounds the memory for odd streams.
const maxChains = 1000

// learnChain notes whether a format claims what a chain of wrappers holds.
func (s *stream) learnChain(r *row) {
	if r.chain == 0 || len(s.chains) > maxChains {
		return
	}
	if r.format != nil {
		s.chains[r.chain]++
	} else {
		s.chains[r.chain]--
	}
}

// take turns a row into a record, or adds it to the pieces of one.
func (s *stream) take(r *row) {
	if s.pieces.count > 0 {
		if s.pieces.join(*r) {
			if !r.partial {
				whole := s.pieces.whole(s.knownChain)
				s.place(&whole)
			}
			return
		}
		whole := s.pieces.whole(s.knownChain)
		s.place(&whole)
	}
	switch {
	case r.partial:
		s.pieces.join(*r)
	case r.frame.header:
		s.header = r.frame
		s.noise(r)
	default:
		if s.header.depth > 0 {
			head := s.header
			head.inside(&r.frame)
			r.frame, s.header = head, frame{}
			r.frame.header = false
		}
		s.place(r)
	}
}

// place makes a row a record, or adds it to the one it continues.
func (s *stream) place(r *row) {
	s.learnChain(r)
	if s.rejoin(r) || s.joinDump(r) || s.continues(r) {
		return
	}
	s.flush()
	if s.isNoise(r) {
		s.noise(r)
		return
	}
	rec := &s.rec
	if r.format != nil && r.format.finish != nil {
		rec = &s.held.rec // flushed above
	}
	s.begin(rec, r)
	if r.format == nil {
		readPlain(s, r, rec)
		s.emit(rec)
		return
	}
	s.begun = true
	rec.Format = r.format.name
	r.format.read(s, r, rec)
	if rec.Audit != nil {
		rec.Text = excerpt(r.raw, MaxAuditText)
	}
	switch {
	case r.cut && r.lost == 0 && s.tear(r):
	case r.format.name == FormatPanic:
		s.dump = newDump(*rec)
	case r.format.finish != nil:
		s.held.hold(r)
	default:
		s.emitObject(r, rec)
	}
}

// begin fills in the start of a record: where it stands and what is around it.
func (s *stream) begin(rec *Record, r *row) {
	if len(s.clock.zones) > 0 {
		s.clock.turn(r.first)
	}
	*rec = Record{}
	rec.Line, rec.Lines, rec.Offset, rec.Shared = r.first, r.lines, r.offset, r.shared
	rec.Format, rec.Text, rec.Framing = FormatPlain, excerpt(r.raw, MaxText), s.chainNames(r.chain)
	rec.Host, rec.Pod, rec.Container = r.host, r.pod, r.container
	if r.lost > 0 {
		rec.problem(fmt.Sprintf("line cut: %d bytes not kept", r.lost))
	}
	if r.nuls > 0 {
		rec.problem(fmt.Sprintf("%d NUL bytes skipped", r.nuls))
	}
	if !r.outer.IsZero() {
		s.clock.saw(r.outer)
	}
}

func (s *stream) chainNames(chain uint64) []string {
	if chain == 0 {
		return nil
	}
	names, ok := s.names[chain]
	if !ok {
		names = chainNames(chain)
		if len(s.names) < maxChains {
			s.names[chain] = names
		}
	}
	return names
}

// end yields what is still held at the end of the stream.
func (s *stream) end() {
	if s.pieces.count > 0 {
		whole := s.pieces.whole(s.knownChain)
		s.place(&whole)
	}
	s.giveUp()
	s.flush()
	s.endDump()
}

// flush yields the held record, if there is one.
func (s *stream) flush() {
	if rec := s.held.take(s); rec != nil {
		s.emit(rec)
	}
}

// emit yields a record; while a stack dump is open, behind it.
func (s *stream) emit(rec *Record) {
	if rec.Format != FormatNoise {
		rec.findPager()
	}
	s.classify(rec)
	if s.dump != nil {
		s.dump.behind = append(s.dump.behind, *rec)
		if len(s.dump.behind) >= maxBehind {
			s.endDump()
		}
		return
	}
	s.give(rec)
}

// classify tests a record against the signatures, unless its reader wants none.
func (s *stream) classify(rec *Record) {
	if s.match != nil && rec.Format != FormatNoise {
		rec.Signatures = s.match.signatures(rec)
	}
}

func (s *stream) give(rec *Record) {
	if !s.stopped && !s.yield(*rec, nil) {
		s.stopped = true
	}
}

// problem notes a fault; the first one stays, it is nearest to the cause.
func (r *Record) problem(text string) {
	if r.Problem == "" {
		r.Problem = text
	}
}

// text copies a line out of the buffer, with U+FFFD for what is no UTF-8.
func (s *stream) text(b []byte) string {
	if utf8.Valid(b) {
		return s.texts.keep(b)
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
