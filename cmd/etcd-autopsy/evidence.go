package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"etcd-autopsy/correlate"
	"etcd-autopsy/internal/source"
)

// evidence is what a query has opened and read.
type evidence struct {
	*correlate.Case
	set *source.Set
	// skipped are sentences: what was left out or could not be read, and why.
	skipped []string
}

// open reads the inputs of a query. Before anything is read it calls check, if
// there is one, with what was found.
func (s *session) open(ctx context.Context, q *query, check func(*source.Set) error) (*evidence, error) {
	set, err := s.openSet(ctx, q)
	if err != nil {
		return nil, err
	}
	if check != nil {
		if err := check(set); err != nil {
			return nil, errors.Join(err, set.Close())
		}
	}
	c, err := s.load(ctx, q, set)
	if err != nil {
		return nil, errors.Join(err, set.Close())
	}
	e := &evidence{Case: c, set: set, skipped: skipped(c)}
	if !q.quiet && !q.muteSkipped {
		tellSkipped(s.stderr, e.skipped)
	}
	return e, nil
}

// openSet opens the inputs. One that does not exist is listed with what was
// skipped, unless there is nothing else.
func (s *session) openSet(ctx context.Context, q *query) (*source.Set, error) {
	set, err := source.Open(ctx, q.inputs, source.Options{Stdin: s.stdin, TempDir: q.tempDir, Limits: q.limits})
	if err == nil || set == nil {
		return set, err
	}
	if !errors.Is(err, fs.ErrNotExist) || len(set.Files)+len(set.Skipped) == 0 {
		return nil, errors.Join(err, set.Close())
	}
	for _, missing := range notFound(err) {
		set.Skipped = append(set.Skipped, source.Skipped{Input: missing.Input, Reason: "no such file or folder"})
	}
	return set, nil
}

// notFound collects the missing inputs that an error joins.
func notFound(err error) []*source.NotFoundError {
	if m, ok := err.(*source.NotFoundError); ok {
		return []*source.NotFoundError{m}
	}
	var out []*source.NotFoundError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			out = append(out, notFound(e)...)
		}
	}
	return out
}

// load reads the set. A window of clock times needs to know when the evidence
// ends, so the set is then read twice.
func (s *session) load(ctx context.Context, q *query, set *source.Set) (*correlate.Case, error) {
	if !q.window.needsEnd() {
		q.opts.Since, q.opts.Until = q.window.resolve(time.Time{})
		return s.read(ctx, q, set)
	}
	c, err := s.read(ctx, q, set)
	if err != nil {
		return nil, err
	}
	end := evidenceEnd(c.Inputs())
	if err := c.Close(); err != nil {
		return nil, err
	}
	if end.IsZero() {
		return nil, &hintedError{errors.New("a clock time has no day: nothing in the evidence has a time"), "write the date too"}
	}
	q.opts.Since, q.opts.Until = q.window.resolve(end)
	return s.read(ctx, q, set)
}

// read reads the set with the query's options and shows the progress.
func (s *session) read(ctx context.Context, q *query, set *source.Set) (*correlate.Case, error) {
	mode := q.progress
	if q.quiet {
		mode = "none"
	}
	m := progressModes[mode](s.stderr)
	defer m.done()
	opts := q.opts
	opts.Progress = m.update
	return correlate.Load(ctx, set, opts)
}

// closeInto closes the case, then its files; an error of that counts on top of
// what err holds.
func (e *evidence) closeInto(err *error) {
	if closing := errors.Join(e.Case.Close(), e.set.Close()); closing != nil {
		*err = errors.Join(closing, *err)
	}
}

// outcome is the error that --strict asks for.
func (e *evidence) outcome(q *query) error {
	if q.strict && len(e.skipped) > 0 {
		return errSkipped
	}
	return nil
}

// readable reports whether anything among the inputs was evidence at all.
func (e *evidence) readable() bool {
	for _, in := range e.Inputs() {
		if in.Records > 0 {
			return true
		}
	}
	return false
}

// errNoEvidence is the lack of anything to judge.
var errNoEvidence = &hintedError{
	errors.New("none of the inputs holds a store or a log that could be read"),
	fmt.Sprintf(`"%s inputs" says what each was taken for`, program),
}

// evidenceEnd is the time of the last record of any input; zero if none has one.
func evidenceEnd(inputs []correlate.Input) time.Time {
	var end time.Time
	for _, in := range inputs {
		if in.Last != nil && in.Last.After(end) {
			end = *in.Last
		}
	}
	return end
}

// silentLog reports whether a file is the log of something that had nothing to
// say, as many containers do: an empty one in a folder.
func silentLog(in correlate.Input) bool {
	return in.Bytes == 0 && in.Path != in.Label && strings.HasSuffix(in.Path, ".log")
}

// maxTold is how many skipped inputs are told one by one.
const maxTold = 10

// skipped lists what was left out or could not be read: what the case says, then
// the files that nobody knows what to make of.
func skipped(c *correlate.Case) []string {
	out := c.Skipped()
	for _, in := range c.Inputs() {
		if in.Kind == "unknown" && len(in.Problems) == 0 && !silentLog(in) {
			out = append(out, inputName(in)+": "+in.Why)
		}
	}
	return out
}

// tellSkipped lists on stderr what was left out.
func tellSkipped(w io.Writer, skipped []string) {
	for i, line := range skipped {
		if i == maxTold {
			fmt.Fprintf(w, "skipped: %d more; \"%s inputs\" lists them all\n", len(skipped)-maxTold, program)
			return
		}
		fmt.Fprintf(w, "skipped: %s\n", printable(line))
	}
}
