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

func (s *session) timelineCommand() *cli.Command {
	var all bool
	return list(s, listCommand[correlate.TimelineRow]{
		name:  "timeline",
		usage: "list log records, revisions and Kubernetes Events, merged by time",
		description: "Of log records it lists those of a known signature and warnings or worse; --all lists\n" +
			"every one. The signatures are explained by: etcd-autopsy explain SIGNATURE.",
		flags: []cli.Flag{&cli.BoolFlag{Name: "all", Destination: &all, Usage: "list every log record"}},
		table: func(q *query) listing[correlate.TimelineRow] { return timelineListing(q.location) },
		rows: func(ctx context.Context, e *evidence, _ *query) (iter.Seq[correlate.TimelineRow], error) {
			return e.Timeline(ctx, all), nil
		},
		outcome: func(e *evidence, q *query) error {
			if late := skipped(e.Case); len(late) > len(e.skipped) {
				// Reading the logs once more has failed somewhere.
				if !q.quiet {
					tellSkipped(s.stderr, late)
				}
				e.skipped = late
			}
			return e.outcome(q)
		},
	})
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
