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

func (s *session) revisionsCommand() *cli.Command {
	return list(s, listCommand[correlate.RevisionRow]{
		name:  "revisions",
		usage: "list every revision of the merged history in order",
		description: "The time is the best estimate; ± is how far the true time of the commit can be from\n" +
			"it. Revisions that nothing bounds have none.",
		table: func(q *query) listing[correlate.RevisionRow] { return revisionListing(q.location) },
		rows: func(_ context.Context, e *evidence, _ *query) (iter.Seq[correlate.RevisionRow], error) {
			return e.Revisions(), nil
		},
	})
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
