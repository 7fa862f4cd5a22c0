package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"
	"sigs.k8s.io/yaml"

	"etcd-autopsy/correlate"
)

// inputsFlags are the flags of the inputs command.
type inputsFlags struct {
	evidenceFlags
	listFlags
	manifest string
}

func (s *session) inputsCommand() *cli.Command {
	f := &inputsFlags{}
	formats := slices.DeleteFunc(inputListing(time.UTC).formats(), func(f string) bool { return f == "jsonl" })
	return &cli.Command{
		Name:        "inputs",
		Usage:       "say what each input was taken for and why, and what was left out",
		ArgsUsage:   "INPUT... [flags]",
		Description: "A line for each file, then what could not be read or was left out. Where a file is\ntaken for the wrong thing, --as PATTERN=KIND corrects it, here and in every command.",
		Flags: append([]cli.Flag{
			f.flag(formats),
			&cli.StringFlag{Name: "manifest", Destination: &f.manifest, Usage: "write the SHA-256, size and kind of every input and entry to `FILE`, for check --manifest"},
		}, f.flags()...),
		Action: func(c *cli.Context) error {
			q, err := f.query(c)
			if err != nil {
				return err
			}
			if err := f.check(formats); err != nil {
				return err
			}
			if f.manifest != "" && f.manifest != "-" {
				if err := checkOutput(f.manifest, q.inputs); err != nil {
					return err
				}
			}
			return s.inputs(c.Context, q, f)
		},
	}
}

func (s *session) inputs(ctx context.Context, q *query, f *inputsFlags) (err error) {
	q.muteSkipped = true // here it is the result, not a remark
	e, err := s.open(ctx, q, nil)
	if err != nil {
		return err
	}
	defer e.closeInto(&err)
	if f.manifest == "-" {
		return errors.Join(writeManifest(s.stdout, e.Inputs()), e.outcome(q))
	}
	if f.manifest != "" {
		if err := writeFile(f.manifest, func(w io.Writer) error { return writeManifest(w, e.Inputs()) }); err != nil {
			return err
		}
	}
	if err := printInputs(s.stdout, q.location, f.output, e.Inputs(), e.skipped); err != nil {
		return err
	}
	return e.outcome(q)
}

// inventory is what inputs -o json prints.
type inventory struct {
	Inputs []correlate.Input `json:"inputs"`
	// Skipped are sentences: what was left out or could not be read.
	Skipped []string `json:"skipped"`
}

func printInputs(w io.Writer, loc *time.Location, format string, inputs []correlate.Input, skipped []string) error {
	all := inventory{Inputs: append([]correlate.Input{}, inputs...), Skipped: append([]string{}, skipped...)}
	switch format {
	case "json":
		text, err := encode(all, "")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, text)
		return err
	case "yaml":
		b, err := yaml.Marshal(all)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	}
	if err := inputListing(loc).print(w, format, slices.Values(inputs)); err != nil {
		return err
	}
	if format == "name" || len(skipped) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nLeft out, or not fully read:\n")
	for _, line := range skipped {
		fmt.Fprintf(w, "  %s\n", printable(line))
	}
	return nil
}

// inputListing is the table of inputs.
func inputListing(loc *time.Location) listing[correlate.Input] {
	return listing[correlate.Input]{
		name: inputName,
		columns: []column[correlate.Input]{
			{head: "INPUT", cell: inputName},
			{head: "KIND", cell: func(in correlate.Input) string { return in.Kind }},
			{head: "COMPONENT", cell: func(in correlate.Input) string { return in.Component }},
			{head: "MEMBER", wide: true, cell: func(in correlate.Input) string { return in.Member }},
			{head: "NODE", wide: true, cell: func(in correlate.Input) string { return in.Node }},
			{head: "LAYOUT", wide: true, cell: func(in correlate.Input) string { return in.Layout }},
			{head: "RECORDS", cell: func(in correlate.Input) string { return strconv.Itoa(in.Records) }},
			{head: "FIRST", cell: func(in correlate.Input) string { return stamp(in.First, loc) }},
			{head: "LAST", cell: func(in correlate.Input) string { return stamp(in.Last, loc) }},
			{head: "ZONE", wide: true, cell: func(in correlate.Input) string { return in.Zone }},
			{head: "STEPS", wide: true, cell: func(in correlate.Input) string { return strconv.Itoa(len(in.Steps)) }},
			{head: "BYTES", wide: true, cell: func(in correlate.Input) string { return strconv.FormatInt(in.Bytes, 10) }},
			{head: "SHA256", wide: true, cell: func(in correlate.Input) string { return in.SHA256 }},
			{head: "PROBLEMS", cell: func(in correlate.Input) string { return strconv.Itoa(len(in.Problems)) }},
			{head: "WHY", cell: func(in correlate.Input) string { return in.Why }},
		},
	}
}

// inputName is the file's label and path: "incident/logs/etcd-1.log".
func inputName(in correlate.Input) string {
	if in.Path == "" || in.Path == in.Label {
		return in.Label
	}
	return in.Label + "/" + in.Path
}
