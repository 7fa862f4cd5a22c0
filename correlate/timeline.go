package correlate

import (
	"context"
	"iter"
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
		var streams []*rowStream
		defer func() {
			for _, s := range streams {
				s.stop()
			}
		}()
		ref := c.reference()
		for _, l := range c.logs {
			if l != nil {
				streams = append(streams, newRowStream(l.rows(ctx, c, ref, all)))
			}
		}
		streams = append(streams, newRowStream(c.storedRows()))
		for {
			s := earliest(streams)
			if s == nil {
				return
			}
			row := s.row
			s.advance()
			if !c.inWindow(row.Time) {
				continue
			}
			if !yield(row) {
				return
			}
		}
	}
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
// times keep the order of the inputs.
func earliest(streams []*rowStream) *rowStream {
	var best *rowStream
	for _, s := range streams {
		if s.ok && (best == nil || s.at.Before(best.at)) {
			best = s
		}
	}
	return best
}

// rows reads a log once more as rows.
func (l *logFile) rows(ctx context.Context, c *Case, ref time.Time, all bool) iter.Seq[TimelineRow] {
	return func(yield func(TimelineRow) bool) {
		r, err := l.file.Open()
		if err != nil {
			return // the inventory has listed it when it was read first
		}
		defer func() { _ = r.Close() }()
		in := &c.inputs[l.input]
		opts := logparse.Options{Component: l.id.Component, Year: c.opts.LogYear, Location: c.opts.LogLocation, Reference: ref}
		for rec, err := range logparse.Read(ctx, r, opts) {
			if err != nil {
				return
			}
			if !all && len(rec.Signatures) == 0 && rec.Level < logparse.LevelWarn {
				continue
			}
			if !yield(recordRow(in, &rec)) {
				return
			}
		}
	}
}

func recordRow(in *Input, rec *logparse.Record) TimelineRow {
	row := TimelineRow{
		Time: timePtr(rec.Time), Inferred: orEmpty(rec.Inferred.Names()), Input: in.Label, Source: in.Path, Line: rec.Line, Lines: rec.Lines,
		Kind: "record", Component: string(rec.Component), Node: in.Node, Format: string(rec.Format), Framing: []string{},
		Level: rec.Level.String(), Signatures: orEmpty(rec.Signatures), Fields: map[string]string{}, Text: rec.Text,
	}
	for _, f := range rec.Fields {
		if _, ok := row.Fields[f.Key]; !ok {
			row.Fields[f.Key] = cutText(f.Value)
		}
	}
	if rec.Audit != nil {
		row.Text = redactAudit(rec.Audit.Resource, row.Text)
	}
	return row
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
		for rev := range c.Revisions() {
			row := TimelineRow{
				Time: rev.Time, Inferred: []string{"time"}, Kind: "revision", Framing: []string{}, Signatures: []string{}, Fields: map[string]string{},
				Lines: 1, Text: rev.Type + " " + objectPath(rev.Resource, rev.Namespace, rev.Name), Revision: rev.Revision, Key: rev.Key,
			}
			i := c.rowIndex(rev)
			s := c.hist.Stores()[c.hist.At(i).Stores[0]]
			row.Input, row.Source = s.Input, s.Path
			if rev.Resource == "events" && rev.Type == "put" {
				c.fillEvent(&row, i)
			}
			if !yield(row) {
				return
			}
		}
	}
}

// rowIndex finds a row's record in the history.
func (c *Case) rowIndex(row RevisionRow) int {
	for _, i := range c.hist.Key(row.Key) {
		if r := c.hist.At(i); r.Main == row.Revision && r.Sub == row.Sub {
			return i
		}
	}
	return -1
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
