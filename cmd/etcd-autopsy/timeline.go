package main

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
)

// timelineFlags are the flags of the timeline command.
type timelineFlags struct {
	evidenceFlags
	listFlags
	all bool
}

func (s *session) timelineCommand() *cli.Command {
	f := &timelineFlags{}
	formats := timelineListing(time.UTC).formats()
	return &cli.Command{
		Name:      "timeline",
		Usage:     "list log records, revisions and Kubernetes Events, merged by time",
		ArgsUsage: "INPUT... [flags]",
		Description: "Of log records it lists those of a known signature and warnings or worse; --all lists\n" +
			"every one. The signatures are explained by: etcd-autopsy explain SIGNATURE.",
		Flags: append([]cli.Flag{
			f.flag(formats),
			&cli.BoolFlag{Name: "all", Destination: &f.all, Usage: "list every log record"},
		}, f.flags()...),
		Action: func(c *cli.Context) error {
			q, err := f.query(c)
			if err != nil {
				return err
			}
			if err := f.check(formats); err != nil {
				return err
			}
			return s.timeline(c.Context, q, f.output, f.all)
		},
	}
}

func (s *session) timeline(ctx context.Context, q *query, format string, all bool) (err error) {
	e, err := s.open(ctx, q, nil)
	if err != nil {
		return err
	}
	defer e.closeInto(&err)
	if !e.readable() {
		return errNoEvidence
	}
	if err := timelineListing(q.location).print(s.stdout, format, until(ctx, e.Timeline(ctx, all))); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if late := skipped(e.Case); len(late) > len(e.skipped) {
		// Reading the logs once more has failed somewhere.
		if !q.quiet {
			tellSkipped(s.stderr, late)
		}
		e.skipped = late
	}
	return e.outcome(q)
}

// until ends a sequence when the context does.
func until[T any](ctx context.Context, rows iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for row := range rows {
			if ctx.Err() != nil || !yield(row) {
				return
			}
		}
	}
}

// timelineListing is the table of the timeline.
func timelineListing(loc *time.Location) listing[correlate.TimelineRow] {
	return listing[correlate.TimelineRow]{
		columns: []column[correlate.TimelineRow]{
			{head: "TIME", cell: func(r correlate.TimelineRow) string { return stamp(r.Time, loc) }},
			{head: "SOURCE", cell: func(r correlate.TimelineRow) string { return sourceCell(r) }},
			{head: "LEVEL", cell: func(r correlate.TimelineRow) string { return r.Level }},
			{head: "SIGNATURES", wide: true, cell: func(r correlate.TimelineRow) string { return strings.Join(r.Signatures, ",") }},
			{head: "TEXT", cell: func(r correlate.TimelineRow) string { return r.Text }},
		},
	}
}

// sourceCell is where a row stands: "logs/etcd-1.log:12".
func sourceCell(r correlate.TimelineRow) string {
	if r.Line == 0 {
		return r.Source
	}
	return r.Source + ":" + strconv.Itoa(r.Line)
}
