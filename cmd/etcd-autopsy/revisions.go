package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
)

// revisionsFlags are the flags of the revisions command.
type revisionsFlags struct {
	evidenceFlags
	listFlags
}

func (s *session) revisionsCommand() *cli.Command {
	f := &revisionsFlags{}
	formats := revisionListing(time.UTC).formats()
	return &cli.Command{
		Name:      "revisions",
		Usage:     "list every revision of the merged history in order",
		ArgsUsage: "INPUT... [flags]",
		Description: "The time is the best estimate; ± is how far the true time of the commit can be from\n" +
			"it. Revisions that nothing bounds have none.",
		Flags: append([]cli.Flag{f.flag(formats)}, f.flags()...),
		Action: func(c *cli.Context) error {
			q, err := f.query(c)
			if err != nil {
				return err
			}
			if err := f.check(formats); err != nil {
				return err
			}
			return s.revisions(c.Context, q, f.output)
		},
	}
}

func (s *session) revisions(ctx context.Context, q *query, format string) (err error) {
	e, err := s.open(ctx, q, nil)
	if err != nil {
		return err
	}
	defer e.closeInto(&err)
	if !e.readable() {
		return errNoEvidence
	}
	if err := revisionListing(q.location).print(s.stdout, format, until(ctx, e.Revisions())); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.outcome(q)
}

// revisionListing is the table of revisions.
func revisionListing(loc *time.Location) listing[correlate.RevisionRow] {
	return listing[correlate.RevisionRow]{
		name: func(r correlate.RevisionRow) string { return r.Key },
		columns: []column[correlate.RevisionRow]{
			{head: "REVISION", cell: func(r correlate.RevisionRow) string { return revisionNumber(r.Revision, r.Sub) }},
			{head: "TIME", cell: func(r correlate.RevisionRow) string { return stamp(r.Time, loc) }},
			{head: "±", cell: func(r correlate.RevisionRow) string { return width(r.Time, r.Earliest, r.Latest) }},
			{head: "TYPE", cell: func(r correlate.RevisionRow) string { return r.Type }},
			{head: "RESOURCE", cell: func(r correlate.RevisionRow) string { return r.Resource }},
			{head: "NAMESPACE", cell: func(r correlate.RevisionRow) string { return r.Namespace }},
			{head: "NAME", cell: func(r correlate.RevisionRow) string { return r.Name }},
			{head: "SOURCES", cell: func(r correlate.RevisionRow) string { return strings.Join(r.Sources, ",") }},
			{head: "KEY", wide: true, cell: func(r correlate.RevisionRow) string { return r.Key }},
		},
	}
}

// revisionNumber is "1050", or "1050.2" for a later change of one transaction.
func revisionNumber(revision, sub int64) string {
	s := strconv.FormatInt(revision, 10)
	if sub != 0 {
		s += "." + strconv.FormatInt(sub, 10)
	}
	return s
}

// width is how far the truth can be from the estimate.
func width(t, earliest, latest *time.Time) string {
	if t == nil || earliest == nil || latest == nil {
		return ""
	}
	return span(max(t.Sub(*earliest), latest.Sub(*t)))
}
