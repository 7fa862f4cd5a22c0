package main

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
)

// checkFlags are the flags of the check command.
type checkFlags struct {
	evidenceFlags
	listFlags
	manifest string
}

func (s *session) checkCommand() *cli.Command {
	f := &checkFlags{}
	formats := checkListing().formats()
	return &cli.Command{
		Name:      "check",
		Usage:     "check the integrity of stores, and members against each other",
		ArgsUsage: "INPUT... [flags]",
		Description: "A line for each thing that was looked at: ok, fault with its place, or could-not-check.\n" +
			"Exit code 1 if a fault was found.",
		Flags: append([]cli.Flag{
			f.flag(formats),
			&cli.StringFlag{Name: "manifest", Destination: &f.manifest, Usage: "compare the inputs with the SHA-256 sums of `FILE`, as sha256sum writes them"},
		}, f.flags()...),
		Action: func(c *cli.Context) error {
			q, err := f.query(c)
			if err != nil {
				return err
			}
			if err := f.check(formats); err != nil {
				return err
			}
			manifest, err := readManifest(f.manifest)
			if err != nil {
				return err
			}
			return s.check(c.Context, q, f.output, manifest)
		},
	}
}

// errFault is a fault that check found: the list says which.
var errFault = errors.New("a fault was found")

func (s *session) check(ctx context.Context, q *query, format string, manifest []correlate.ManifestLine) (err error) {
	e, err := s.open(ctx, q, nil)
	if err != nil {
		return err
	}
	defer e.closeInto(&err)
	rows, err := e.Check(ctx, manifest)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errNoEvidence
	}
	if err := checkListing().print(s.stdout, format, slices.Values(rows)); err != nil {
		return err
	}
	if slices.ContainsFunc(rows, correlate.CheckRow.Fault) {
		return errFault
	}
	return e.outcome(q)
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

// readManifest reads lines of a SHA-256 in hex, two characters, and a path.
func readManifest(file string) ([]correlate.ManifestLine, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("", "--manifest %s: %v", file, bare(err))
	}
	var out []correlate.ManifestLine
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		sum, path, ok := strings.Cut(line, " ")
		if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != 32 || len(path) < 2 {
			return nil, usagef("write it with: sha256sum FILE... > manifest", "--manifest %s: %q is no line of a SHA-256 and a path", file, line)
		}
		out = append(out, correlate.ManifestLine{Path: strings.TrimPrefix(path[1:], "./"), SHA256: strings.ToLower(sum)})
	}
	return out, nil
}
