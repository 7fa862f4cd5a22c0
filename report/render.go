package report

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"etcd-autopsy/correlate"
)

// Format is a form in which an analysis can be written.
type Format string

// The formats of a report.
const (
	Markdown Format = "md"
	HTML     Format = "html"
	JSON     Format = "json"
)

// endings maps the ending of a file name to the format it asks for.
var endings = map[string]Format{
	".md":       Markdown,
	".markdown": Markdown,
	".html":     HTML,
	".htm":      HTML,
	".json":     JSON,
}

// FormatOf returns the format that a file name asks for by its ending; false
// if the ending is none of a report's.
func FormatOf(filename string) (Format, bool) {
	f, ok := endings[strings.ToLower(path.Ext(filename))]
	return f, ok
}

// Options are the choices of a reader that change how a report looks, never
// what it says.
type Options struct {
	// Location is the zone in which times are shown; nil is UTC. JSON is always UTC.
	Location *time.Location

	_ struct{}
}

// renderers has a function for each format. Each gets a canonical analysis.
var renderers = map[Format]func(io.Writer, *correlate.Analysis, Options) error{
	Markdown: renderMarkdown,
	HTML:     renderHTML,
	JSON:     renderJSON,
}

// Render writes the analysis in a format. The same analysis gives the same
// bytes. Nothing is written to w if an error is found before the end.
func Render(w io.Writer, a *correlate.Analysis, f Format, opts Options) error {
	render, ok := renderers[f]
	if !ok {
		return fmt.Errorf("unknown report format %q: want md, html or json", f)
	}
	c, err := canonical(a)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := render(&buf, c, opts); err != nil {
		return fmt.Errorf("render %s: %w", f, err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
