package correlate

import (
	"cmp"
	"context"
	"iter"
	"reflect"
	"slices"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"

	"etcd-autopsy/logparse"
)

// TimelineRow is a line of `timeline -o jsonl` (contract.md 3): a log record, a
// stored revision or a k8s Event.
type TimelineRow struct {
	Time       *time.Time        `json:"time"`
	Inferred   []string          `json:"inferred"`
	Input      string            `json:"input"`
	Source     string            `json:"source"`
	Line       int               `json:"line"`
	Lines      int               `json:"lines"`
	Kind       string            `json:"kind"`
	Component  string            `json:"component"`
	Node       string            `json:"node"`
	Format     string            `json:"format"`
	Framing    []string          `json:"framing"`
	Level      string            `json:"level"`
	Signatures []string          `json:"signatures"`
	Repeats    int               `json:"repeats"`
	Fields     map[string]string `json:"fields"`
	Text       string            `json:"text"`
	// Namespace, Pod and Container say what printed a record, where the log's path or
	// the line's wrapper does.
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	// Revision and Key are set for revisions and k8s Events.
	Revision int64  `json:"revision,omitempty"`
	Key      string `json:"key,omitempty"`
}

// Timeline merges log records, stored revisions and k8s Events in order of time.
// Without all, only records with a signature, warnings and worse are listed. The
// logs are read again, one stream each, so memory does not grow with them; a
// record whose clock steps back stands where its file has it. The list ends early
// when the context does.
func (c *Case) Timeline(ctx context.Context, all bool) iter.Seq[TimelineRow] {
	return func(yield func(TimelineRow) bool) {
		hide := newRedactor()
		m := merger{waiting: c.waitingLogs(ctx, all)}
		defer m.stop()
		m.open(newRowStream(c.storedRows()))
		m.open(newRowStream(c.raftRows))
		for {
			row, ok := m.next()
			if !ok {
				return
			}
			if !c.inWindow(row.Time) {
				continue
			}
			hide.all(reflect.ValueOf(&row))
			if !yield(row) {
				return
			}
		}
	}
}

// waitingLogs are the logs in order of their first record: each is opened when the
// merge has come to it, so that a set of rotated files is open one at a time.
func (c *Case) waitingLogs(ctx context.Context, all bool) []waitingLog {
	ref, scope := c.reference(), c.recordScope()
	var out []waitingLog
	for _, l := range c.logs {
		if l != nil {
			out = append(out, waitingLog{first: l.first, rows: l.rows(ctx, c, ref, rowFilter{all, scope})})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].first.Before(out[j].first) })
	return out
}

// waitingLog is a log that has not been opened again yet.
type waitingLog struct {
	first time.Time
	rows  iter.Seq[TimelineRow]
}

// merger merges ordered streams of rows by time.
type merger struct {
	waiting []waitingLog
	streams []*rowStream
}

func (m *merger) open(s *rowStream) {
	if s.ok {
		m.streams = append(m.streams, s)
		return
	}
	s.stop()
}

func (m *merger) stop() {
	for _, s := range m.streams {
		s.stop()
	}
}

// next is the earliest row. A log is opened before anything later than its first
// record is given out; one that is read to its end is closed.
func (m *merger) next() (TimelineRow, bool) {
	best := earliest(m.streams)
	for len(m.waiting) > 0 && (best == nil || !m.waiting[0].first.After(best.at)) {
		m.open(newRowStream(m.waiting[0].rows))
		m.waiting = m.waiting[1:]
		best = earliest(m.streams)
	}
	if best == nil {
		return TimelineRow{}, false
	}
	row := best.row
	if best.advance(); !best.ok {
		best.stop()
		m.streams = slices.DeleteFunc(m.streams, func(s *rowStream) bool { return s == best })
	}
	return row, true
}

// rowStream is one ordered source of rows, with its next row at hand.
type rowStream struct {
	next func() (TimelineRow, bool)
	stop func()
	row  TimelineRow
	ok   bool
	// at is the highest time seen, which orders rows without one.
	at time.Time
}

func newRowStream(seq iter.Seq[TimelineRow]) *rowStream {
	s := &rowStream{}
	s.next, s.stop = iter.Pull(seq)
	s.advance()
	return s
}

func (s *rowStream) advance() {
	s.row, s.ok = s.next()
	if s.ok && s.row.Time != nil && s.row.Time.After(s.at) {
		s.at = *s.row.Time
	}
}

// earliest is the stream whose next row comes first, nil when all are done. Equal
// times keep the order in which the streams were opened.
func earliest(streams []*rowStream) *rowStream {
	var best *rowStream
	for _, s := range streams {
		if s.ok && (best == nil || s.at.Before(best.at)) {
			best = s
		}
	}
	return best
}

// rowFilter chooses the records that are listed: all, or those with a signature,
// warnings and worse; and of these what the scope holds.
type rowFilter struct {
	all   bool
	scope *scope
}

func (f rowFilter) holds(rec *logparse.Record, by *containerLog) bool {
	return (f.all || len(rec.Signatures) > 0 || rec.Level >= logparse.LevelWarn) && f.scope.holds(rec, by)
}

// rows reads a log once more as rows.
func (l *logFile) rows(ctx context.Context, c *Case, ref time.Time, keep rowFilter) iter.Seq[TimelineRow] {
	return func(yield func(TimelineRow) bool) {
		r, err := l.file.Open()
		if err != nil {
			c.problem(l.input, "could not be read again: "+plainError(err))
			return
		}
		defer func() { _ = r.Close() }()
		in := &c.inputs[l.input]
		doubles := doubleWalk{left: l.duplicates}
		for rec, err := range records(ctx, r, l.options(c, ref)) {
			if err != nil {
				if ctx.Err() == nil {
					c.problem(l.input, "could not be read again to its end: "+plainError(err))
				}
				return
			}
			if rec.Format == logparse.FormatNoise || doubles.holds() {
				continue
			}
			if rec.Classify(); !keep.holds(rec, l.container) {
				continue
			}
			if !yield(recordRow(in, rec, l.container)) {
				return
			}
		}
	}
}

func recordRow(in *Input, rec *logparse.Record, by *containerLog) TimelineRow {
	row := TimelineRow{
		Time: timePtr(rec.Time), Inferred: orEmpty(rec.Inferred.Names()), Input: in.Label, Source: in.Path, Line: rec.Line, Lines: rec.Lines,
		Kind: "record", Component: string(rec.Component), Node: cmp.Or(in.Node, rec.Host), Format: string(rec.Format), Framing: orEmpty(rec.Framing),
		Level: rec.Level.String(), Signatures: orEmpty(rec.Signatures), Repeats: rec.Repeats, Fields: map[string]string{}, Text: cutBodies(rec.Text),
	}
	row.Pod, row.Container = rec.Pod, rec.Container
	if by != nil {
		row.Namespace, row.Pod, row.Container = by.namespace, by.pod, cmp.Or(by.container, rec.Container)
	}
	for _, f := range rec.Fields {
		if _, ok := row.Fields[f.Key]; !ok {
			row.Fields[f.Key] = cutText(cutBodies(f.Value))
		}
	}
	if len(rec.Fields) == 0 {
		addValues(row.Fields, rec)
	}
	if rec.Audit != nil {
		row.Fields = map[string]string{} // annotations: webhooks put patches there
		row.Text = auditText(rec.Audit, rec.Text)
	}
	return row
}

// addValues adds what the signatures of a record find in its text.
func addValues(fields map[string]string, rec *logparse.Record) {
	for _, id := range rec.Signatures {
		s, _ := logparse.LookupSignature(id)
		for _, v := range s.Values(rec) {
			if _, ok := fields[v.Name]; !ok {
				fields[v.Name] = cutText(cutBodies(v.Text))
			}
		}
	}
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// storedRows are the stored revisions as rows; a k8s Event is one of its own kind,
// with its message.
func (c *Case) storedRows() iter.Seq[TimelineRow] {
	return func(yield func(TimelineRow) bool) {
		for i, rev := range c.indexedRevisions() {
			row := TimelineRow{
				Time: rev.Time, Inferred: []string{"time"}, Kind: "revision", Framing: []string{}, Signatures: []string{}, Fields: map[string]string{},
				Lines: 1, Text: rev.Type + " " + objectPath(rev.Resource, rev.Namespace, rev.Name), Revision: rev.Revision, Key: rev.Key,
			}
			at := c.standsAt(i, c.hist.At(i))
			row.Input, row.Source = at.Input, at.Source
			if rev.Resource == "events" && rev.Type == "put" {
				c.fillEvent(&row, i)
			}
			if !yield(row) {
				return
			}
		}
	}
}

// fillEvent makes a row of a stored k8s Event.
func (c *Case) fillEvent(row *TimelineRow, i int) {
	o, err := c.hist.Object(i)
	if err != nil {
		return
	}
	e, ok := o.(*corev1.Event)
	if !ok {
		return
	}
	row.Kind, row.Component, row.Node = "event", e.Source.Component, e.Source.Host
	row.Level = map[string]string{corev1.EventTypeWarning: "warn", corev1.EventTypeNormal: "info"}[e.Type]
	row.Fields["reason"] = e.Reason
	row.Text = e.Reason + " " + e.InvolvedObject.Kind + " " + e.InvolvedObject.Name + ": " + e.Message
	if e.Count > 1 {
		row.Repeats = int(e.Count) - 1
	}
}
