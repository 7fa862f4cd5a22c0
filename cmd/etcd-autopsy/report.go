package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
	"etcd-autopsy/internal/source"
	"etcd-autopsy/report"
)

// reportFlags are the flags of the report command.
type reportFlags struct {
	evidenceFlags
	documentFlags
	exitCode bool
}

func (s *session) reportCommand() *cli.Command {
	f := &reportFlags{}
	return &cli.Command{
		Name:      "report",
		Usage:     "read everything and write the postmortem",
		ArgsUsage: "INPUT... [-o FILE] [flags]",
		Description: "The verdict is also printed on stderr. Without -o the document goes to stdout, as\n" +
			"Markdown. --since, --until and --around do not shorten it: it always is about all\n" +
			"of the evidence.",
		Flags: append(append(f.documentFlags.flags(), exitCodeFlag(&f.exitCode)), f.evidenceFlags.flags()...),
		Action: func(c *cli.Context) error {
			q, err := f.query(c)
			if err != nil {
				return err
			}
			d, err := f.document(q.inputs)
			if err != nil {
				return err
			}
			return s.report(c.Context, q, d, f.exitCode)
		},
	}
}

// exitCodeFlag is the flag of the commands that know how rollouts ended.
func exitCodeFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "exit-code", Destination: to, Usage: "exit with 3 if a rollout is stalled or was refused"}
}

// report reads the evidence, writes the document and tells the verdict.
func (s *session) report(ctx context.Context, q *query, d document, withCode bool) (err error) {
	if !q.quiet && q.window != (window{}) {
		fmt.Fprintln(s.stderr, "note: --since, --until and --around limit lists; a report is about all of the evidence")
	}
	apart := func(set *source.Set) error {
		if d.path == "-" {
			return nil
		}
		return checkOutputApart(d.path, set)
	}
	e, err := s.open(ctx, q, apart)
	if err != nil {
		return err
	}
	defer e.closeInto(&err)
	if !e.readable() {
		return errNoEvidence
	}
	a, err := e.Analyze(ctx)
	if err != nil {
		return err
	}
	if err := s.write(d, a, q.location, ctx.Err); err != nil {
		return err
	}
	if !q.quiet {
		fmt.Fprintln(s.stderr, report.Summary(a))
	}
	return outcome(withCode && anyStalled(a.Rollouts), e.outcome(q))
}

// outcome decides between the two exit codes of a written result: a rollout
// that is known to be stalled is stalled whatever was skipped.
func outcome(stalled bool, skipped error) error {
	if stalled {
		return errStalled
	}
	return skipped
}

// anyStalled reports whether a rollout ended without the new version.
func anyStalled(rollouts []correlate.Rollout) bool {
	for _, r := range rollouts {
		if r.Outcome == correlate.Stalled || r.Outcome == correlate.Refused {
			return true
		}
	}
	return false
}
