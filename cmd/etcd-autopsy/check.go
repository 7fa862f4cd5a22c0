package main

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
)

// errFault is a fault that check found: the list says which.
var errFault = errors.New("a fault was found")

func (s *session) checkCommand() *cli.Command {
	var file string
	var manifest []correlate.ManifestLine
	fault := false
	return list(s, listCommand[correlate.CheckRow]{
		name:  "check",
		usage: "check the integrity of stores, and members against each other",
		description: "A line for each thing that was looked at: ok, fault with its place, or could-not-check.\n" +
			"Exit code 1 if a fault was found.",
		flags: []cli.Flag{&cli.StringFlag{Name: "manifest", Destination: &file, Usage: "compare the inputs with the SHA-256 sums of `FILE`, as inputs --manifest and sha256sum write them"}},
		table: func(*query) listing[correlate.CheckRow] { return checkListing() },
		prepare: func(*query) (err error) {
			manifest, err = readManifest(file)
			return err
		},
		unread: true,
		rows: func(ctx context.Context, e *evidence, _ *query) (iter.Seq[correlate.CheckRow], error) {
			rows, err := e.Check(ctx, manifest)
			if err == nil && len(rows) == 0 {
				err = errNoEvidence
			}
			fault = slices.ContainsFunc(rows, correlate.CheckRow.Fault)
			return slices.Values(rows), err
		},
		outcome: func(e *evidence, q *query) error {
			if fault {
				return errFault
			}
			return e.outcome(q)
		},
	})
}

// checkListing is the table of checks.
func checkListing() listing[correlate.CheckRow] {
	return listing[correlate.CheckRow]{
		columns: []column[correlate.CheckRow]{
			{head: "FILE", cell: func(r correlate.CheckRow) string {
				if r.Input == "" || r.Input == r.Source {
					return r.Source
				}
				return r.Input + "/" + r.Source
			}},
			{head: "CHECK", cell: func(r correlate.CheckRow) string { return r.Check }},
			{head: "STATUS", cell: func(r correlate.CheckRow) string { return r.Status }},
			{head: "WHERE", cell: func(r correlate.CheckRow) string { return r.Where }},
			{head: "TEXT", cell: func(r correlate.CheckRow) string { return r.Text }},
		},
	}
}
