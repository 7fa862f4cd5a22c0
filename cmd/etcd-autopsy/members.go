package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
)

func (s *session) membersCommand() *cli.Command {
	return list(s, listCommand[correlate.MemberRow]{
		name:        "members",
		usage:       "list etcd's members: databases, terms led, restarts, alarms",
		description: "A line for each member that a store or a log names. A database is listed with a member\nif it lies in a folder of its name.",
		table:       func(q *query) listing[correlate.MemberRow] { return memberListing(q.location) },
		rows: func(_ context.Context, e *evidence, _ *query) (iter.Seq[correlate.MemberRow], error) {
			return slices.Values(e.Members()), nil
		},
	})
}

// memberListing is the table of members.
func memberListing(loc *time.Location) listing[correlate.MemberRow] {
	return listing[correlate.MemberRow]{
		name: func(m correlate.MemberRow) string { return m.ID },
		columns: []column[correlate.MemberRow]{
			{head: "ID", cell: func(m correlate.MemberRow) string { return m.ID }},
			{head: "NAME", cell: func(m correlate.MemberRow) string { return m.Name }},
			{head: "REVISION", cell: func(m correlate.MemberRow) string {
				return storeCells(m, func(s correlate.MemberStore) string { return fmt.Sprint(s.Revision) })
			}},
			{head: "SIZE", cell: func(m correlate.MemberRow) string {
				return storeCells(m, func(s correlate.MemberStore) string { return size(s.Bytes) })
			}},
			{head: "LED", cell: func(m correlate.MemberRow) string { return ledCell(m, loc) }},
			{head: "STARTS", cell: func(m correlate.MemberRow) string { return startCell(m, loc) }},
			{head: "DOWN", cell: func(m correlate.MemberRow) string { return downCell(m, loc) }},
			{head: "ALARMS", cell: func(m correlate.MemberRow) string { return strings.Join(m.Alarms, ",") }},
			{head: "VERSION", wide: true, cell: func(m correlate.MemberRow) string {
				return storeCells(m, func(s correlate.MemberStore) string { return s.Version })
			}},
			{head: "INDEX", wide: true, cell: func(m correlate.MemberRow) string {
				return storeCells(m, func(s correlate.MemberStore) string { return fmt.Sprintf("%d@%d", s.Index, s.Term) })
			}},
			{head: "ROLE", wide: true, cell: roleCell},
			{head: "AUTH", wide: true, cell: func(m correlate.MemberRow) string {
				return storeCells(m, func(s correlate.MemberStore) string { return authCell(s.Auth) })
			}},
			{head: "LEASES", wide: true, cell: func(m correlate.MemberRow) string {
				return storeCells(m, func(s correlate.MemberStore) string { return fmt.Sprint(s.Leases.Count) })
			}},
			{head: "WAL", wide: true, cell: walCell},
			{head: "STATUS", wide: true, cell: statusCell},
			{head: "CLIENTS", wide: true, cell: func(m correlate.MemberRow) string { return strings.Join(m.ClientURLs, ",") }},
			{head: "PEERS", wide: true, cell: func(m correlate.MemberRow) string { return strings.Join(m.PeerURLs, ",") }},
		},
	}
}

// statusCell is what a member answered to etcdctl: "3.6.4, 12 MiB at 1234".
func statusCell(m correlate.MemberRow) string {
	var out []string
	for _, s := range m.Status {
		out = append(out, fmt.Sprintf("%s, %s at %d", s.Version, size(s.DBSize), s.Revision))
	}
	return strings.Join(out, "; ")
}

// walCell is the range of raft indexes that a member's log has: "1-585".
func walCell(m correlate.MemberRow) string {
	var out []string
	for _, w := range m.WALs {
		if w.LeftOut != "" {
			out = append(out, "left out")
			continue
		}
		out = append(out, fmt.Sprintf("%d-%d", w.First, w.Last))
	}
	return strings.Join(out, ",")
}

// storeCells joins one cell of each database of a member.
func storeCells(m correlate.MemberRow, cell func(correlate.MemberStore) string) string {
	out := make([]string, len(m.Stores))
	for i, s := range m.Stores {
		out[i] = cell(s)
	}
	return strings.Join(out, ",")
}

// roleCell is what a member is in the cluster: voter, learner, removed; empty if
// no store lists it.
func roleCell(m correlate.MemberRow) string {
	switch {
	case m.Removed:
		return "removed"
	case m.Learner:
		return "learner"
	case len(m.PeerURLs) > 0:
		return "voter"
	}
	return ""
}

// authCell says whether etcd asks its clients who they are.
func authCell(a correlate.Auth) string {
	if a.Enabled {
		return "on"
	}
	return "off"
}

// ledCell lists the terms that a member led: "2 21:09:49–21:10:03".
func ledCell(m correlate.MemberRow, loc *time.Location) string {
	var out []string
	for _, t := range m.Led {
		out = append(out, fmt.Sprintf("term %d %s", t.Number, spanCell(t.Start, t.End, loc)))
	}
	return strings.Join(out, ", ")
}

func startCell(m correlate.MemberRow, loc *time.Location) string {
	var out []string
	for _, t := range m.Starts {
		out = append(out, t.In(loc).Format(time.TimeOnly))
	}
	return strings.Join(out, ", ")
}

func downCell(m correlate.MemberRow, loc *time.Location) string {
	var out []string
	for _, s := range m.Down {
		out = append(out, spanCell(s.Start, s.End, loc))
	}
	return strings.Join(out, ", ")
}

// spanCell is a time from start to end, open if it has none.
func spanCell(from, to *time.Time, loc *time.Location) string {
	out := from.In(loc).Format(time.TimeOnly) + "–"
	if to != nil {
		out += to.In(loc).Format(time.TimeOnly)
	}
	return out
}
