package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
	"etcd-autopsy/report"
)

// documentFlags say where a document goes, and in which format.
type documentFlags struct {
	output, format string
}

func (f *documentFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &f.output, Value: "-", Usage: "write the document to `FILE`; - is stdout and the default"},
		&cli.StringFlag{Name: "format", Destination: &f.format, Usage: "`md|html|json` format of the document; by the ending of FILE by default, md for stdout"},
	}
}

// formatWords are the names of formats that --format accepts.
var formatWords = map[string]report.Format{
	"md": report.Markdown, "markdown": report.Markdown, "html": report.HTML, "json": report.JSON,
}

// document is a valid destination of a report.
type document struct {
	// path is "-" for stdout.
	path   string
	format report.Format
}

// document checks the flags; inputs are what the output must not touch.
func (f *documentFlags) document(inputs []string) (document, error) {
	d := document{path: f.output}
	if _, ok := formatWords[strings.ToLower(f.output)]; ok {
		return d, usagef(fmt.Sprintf("did you mean --format %s? To write a file of that name: -o ./%s", f.output, f.output),
			"-o takes a file, and %q is a format", f.output)
	}
	if f.output == "" {
		return d, usagef("write -o FILE, or -o - for stdout", "-o names no file")
	}
	var err error
	if d.format, err = f.formatOf(); err != nil {
		return d, err
	}
	if d.path == "-" {
		return d, nil
	}
	return d, checkOutput(d.path, inputs)
}

func (f *documentFlags) formatOf() (report.Format, error) {
	if f.format != "" {
		format, ok := formatWords[strings.ToLower(f.format)]
		if !ok {
			return "", usagef("formats are md, html and json", "--format %q: unknown format", f.format)
		}
		return format, nil
	}
	if f.output == "-" {
		return report.Markdown, nil
	}
	format, ok := report.FormatOf(f.output)
	if !ok {
		return "", usagef("add --format md, html or json, or let the file end in .md, .html or .json", "cannot tell the format from the name %q", f.output)
	}
	return format, nil
}

// write renders the analysis to the document's place.
func (s *session) write(d document, a *correlate.Analysis, loc *time.Location, interrupted func() error) error {
	render := func(w io.Writer) error {
		if err := report.Render(w, a, d.format, report.Options{Location: loc}); err != nil {
			return err
		}
		return interrupted()
	}
	if d.path == "-" {
		return render(s.stdout)
	}
	return writeFile(d.path, render)
}
