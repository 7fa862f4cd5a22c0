package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
)

func (s *session) rolloutsCommand() *cli.Command {
	var exitCode, stalled bool
	var end time.Time // of the evidence
	return list(s, listCommand[correlate.Rollout]{
		name:        "rollouts",
		usage:       "list the rollouts: trigger, outcome, stalls, cause",
		description: "A line each, in order of their triggers. A stall that is still open when the\nevidence ends is marked so.",
		flags:       []cli.Flag{exitCodeFlag(&exitCode)},
		table:       func(q *query) listing[correlate.Rollout] { return rolloutListing(q.location, end) },
		rows: func(ctx context.Context, e *evidence, q *query) (iter.Seq[correlate.Rollout], error) {
			a, err := e.Analyze(ctx)
			if err != nil {
				return nil, err
			}
			end = evidenceEnd(a.Inputs)
			list := slices.DeleteFunc(slices.Clone(a.Rollouts), func(r correlate.Rollout) bool {
				return !q.window.touches(r.Start, r.End, end)
			})
			stalled = anyStalled(list)
			return slices.Values(list), nil
		},
		outcome: func(e *evidence, q *query) error { return outcome(exitCode && stalled, e.outcome(q)) },
	})
}

// rolloutListing is the table of rollouts; end is when the evidence ends.
func rolloutListing(loc *time.Location, end time.Time) listing[correlate.Rollout] {
	return listing[correlate.Rollout]{
		name: func(r correlate.Rollout) string { return r.ID },
		columns: []column[correlate.Rollout]{
			{head: "ID", cell: func(r correlate.Rollout) string { return r.ID }},
			{head: "TRIGGER", cell: func(r correlate.Rollout) string { return stamp(r.Trigger.Time, loc) }},
			{head: "OUTCOME", cell: func(r correlate.Rollout) string { return string(r.Outcome) }},
			{head: "STALLS", cell: func(r correlate.Rollout) string { return stallCell(r, end) }},
			{head: "CAUSE", cell: causeCell},
			{head: "REVISION", wide: true, cell: func(r correlate.Rollout) string { return revisionCell(r.Trigger.Revision) }},
			{head: "ACTOR", wide: true, cell: func(r correlate.Rollout) string { return r.Trigger.Actor }},
			{head: "CHANGE", wide: true, cell: func(r correlate.Rollout) string { return r.Trigger.Change }},
		},
	}
}

// stallCell lists stage and duration of each stall: "6 prepare 1m1s (open)".
func stallCell(r correlate.Rollout, end time.Time) string {
	var out []string
	for _, s := range r.Stalls {
		text := strconv.Itoa(s.Stage)
		if name := stageName(r, s.Stage); name != "" {
			text += " " + name
		}
		to := s.To
		if to == nil && !end.IsZero() {
			to = &end
		}
		if s.From != nil && to != nil && to.After(*s.From) {
			text += " " + span(to.Sub(*s.From))
		}
		if !s.Recovered {
			text += " (open)"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func stageName(r correlate.Rollout, number int) string {
	for _, s := range r.Stages {
		if s.Number == number {
			return s.Name
		}
	}
	return ""
}

// causeCell names what the rollout's stalls are put down to: "image-pull
// (proven)"; a stall nobody could explain is "undecided".
func causeCell(r correlate.Rollout) string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, f := range r.Findings {
		if f.Role == correlate.RoleCause {
			add(fmt.Sprintf("%s (%s)", f.Cause, f.Confidence))
		}
	}
	if len(out) == 0 && len(r.Stalls) > 0 {
		add("undecided")
	}
	return strings.Join(out, ", ")
}

func revisionCell(r *int64) string {
	if r == nil {
		return ""
	}
	return strconv.FormatInt(*r, 10)
}
