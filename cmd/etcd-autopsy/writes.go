package main

import (
	"context"
	"iter"
	"strconv"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
)

func (s *session) writesCommand() *cli.Command {
	var failed bool
	return list(s, listCommand[correlate.WriteRow]{
		name:  "writes",
		usage: "list write requests and what became of each: landed, rejected, not-proposed, lost",
		description: "Requests are those of audit logs, of the slow and aborted ones in API servers' logs, of\n" +
			"etcd's lines about slow writes, and of the raft log. Each is joined to its raft entry and\n" +
			"revision where the evidence allows it; WHY says by what, or what would settle it. With\n" +
			"-o yaml the object that a rejected or lost write attempted is shown, secrets masked.",
		flags: []cli.Flag{&cli.BoolFlag{Name: "failed", Destination: &failed, Usage: "list only those that were answered with an error or did not land"}},
		table: func(q *query) listing[correlate.WriteRow] { return writeListing(q) },
		rows: func(_ context.Context, e *evidence, q *query) (iter.Seq[correlate.WriteRow], error) {
			return e.Writes(correlate.WriteQuery{Failed: failed, Attempted: q.output == "yaml"}), nil
		},
	})
}

// writeListing is the table of writes.
func writeListing(q *query) listing[correlate.WriteRow] {
	return listing[correlate.WriteRow]{
		columns: []column[correlate.WriteRow]{
			{head: "TIME", cell: func(w correlate.WriteRow) string { return stamp(w.Time, q.location) }},
			{head: "VERB", cell: func(w correlate.WriteRow) string { return w.Verb }},
			{head: "OBJECT", cell: func(w correlate.WriteRow) string { return w.Object }},
			{head: "CODE", cell: func(w correlate.WriteRow) string { return codeCell(w.Code) }},
			{head: "FATE", cell: func(w correlate.WriteRow) string { return string(w.Fate) }},
			{head: "REVISION", cell: func(w correlate.WriteRow) string { return revisionCell(w.Revision) }},
			{head: "WHY", cell: whyCell},
			{head: "ANSWER", wide: true, cell: func(w correlate.WriteRow) string { return w.Answer }},
			{head: "USER", wide: true, cell: func(w correlate.WriteRow) string { return w.User }},
			{head: "LANDED", wide: true, cell: func(w correlate.WriteRow) string { return stamp(w.LandedAt, q.location) }},
			{head: "MEMBER", wide: true, cell: func(w correlate.WriteRow) string { return w.Member }},
			{head: "REQUEST", wide: true, cell: func(w correlate.WriteRow) string { return w.RequestID }},
			{head: "AUDIT-ID", wide: true, cell: func(w correlate.WriteRow) string { return w.AuditID }},
		},
	}
}

func codeCell(code int32) string {
	if code == 0 {
		return ""
	}
	return strconv.Itoa(int(code))
}

// whyCell is the reason for the fate, and what would settle an unknown one.
func whyCell(w correlate.WriteRow) string {
	if w.WouldSettle == "" {
		return w.Why
	}
	return w.Why + "; would settle it: " + w.WouldSettle
}
