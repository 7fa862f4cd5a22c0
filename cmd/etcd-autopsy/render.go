package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
	"etcd-autopsy/internal/source"
	"etcd-autopsy/report"
)

// renderFlags are the flags of the render command.
type renderFlags struct {
	documentFlags
	timezone string
}

func (s *session) renderCommand() *cli.Command {
	f := &renderFlags{}
	return &cli.Command{
		Name:        "render",
		Usage:       "write a saved JSON report in another format",
		ArgsUsage:   "REPORT.json [-o FILE] [flags]",
		Description: "The evidence is not needed: a JSON report holds everything that a report says.",
		Flags: append(f.documentFlags.flags(),
			&cli.StringFlag{Name: "timezone", Destination: &f.timezone, Value: "UTC", Usage: "show times in `ZONE`: UTC (the default), Local, Europe/Berlin, +08:00"}),
		Action: func(c *cli.Context) error {
			if c.Args().Len() != 1 {
				return usagef(fmt.Sprintf("%s render report.json -o report.html", program), "render takes one saved report, got %d", c.Args().Len())
			}
			loc, err := parseZone("--timezone", f.timezone)
			if err != nil {
				return err
			}
			d, err := f.document(c.Args().Slice())
			if err != nil {
				return err
			}
			return s.render(c.Context, c.Args().First(), d, loc)
		},
	}
}

func (s *session) render(ctx context.Context, saved string, d document, loc *time.Location) error {
	a, err := s.readReport(saved)
	var syntax *json.SyntaxError
	if errors.Is(err, report.ErrNoReport) || errors.As(err, &syntax) {
		err = &hintedError{err, fmt.Sprintf("such a file is written by: %s report evidence/ -o report.json", program)}
	}
	if err != nil {
		return err
	}
	return s.write(d, a, loc, ctx.Err)
}

func (s *session) readReport(saved string) (*correlate.Analysis, error) {
	in := s.stdin
	if saved != source.StdinName {
		f, err := os.Open(saved)
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", saved, bare(err))
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	a, err := report.ReadJSON(io.LimitReader(in, maxReport))
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", saved, err)
	}
	return a, nil
}

// maxReport bounds what is taken for a saved report: 1 GB.
const maxReport = 1 << 30
