package report

import (
	"io"
	"strings"
	"text/template"

	"etcd-autopsy/correlate"
)

var markdownPage = template.Must(template.New("").Funcs(template.FuncMap{
	"line":    markdownLine,
	"item":    markdownItem,
	"escape":  escapeMarkdown,
	"heading": markdownHeading,
	"table":   markdownTable,
	"bars":    textBars,
}).ParseFS(templates, "templates/*.gomd"))

func renderMarkdown(w io.Writer, a *correlate.Analysis, opts Options) error {
	return markdownPage.ExecuteTemplate(w, "report.gomd", newDocument(a, opts))
}

// place of a phrase in Markdown: inside a table a pipe would end the cell.
type mdPlace bool

const (
	inLine mdPlace = false
	inCell mdPlace = true
)

func markdownLine(p phrase) string { return markdownPhrase(p, inLine) }

// markdownItem is a phrase at the start of a line, where a digit or a dash
// would begin a list.
func markdownItem(p phrase) string { return guardStart(markdownPhrase(p, inLine)) }

func markdownPhrase(p phrase, at mdPlace) string {
	var b strings.Builder
	for i, s := range p {
		if s.Kind == spanNote && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(markdownSpans[s.Kind](s, at))
	}
	return b.String()
}

// markdownSpans sets each kind of span.
var markdownSpans = map[spanKind]func(span, mdPlace) string{
	spanText:   func(s span, _ mdPlace) string { return escapeMarkdown(s.Text) },
	spanGap:    func(s span, _ mdPlace) string { return " " },
	spanMark:   func(s span, _ mdPlace) string { return escapeMarkdown(s.Text) },
	spanStrong: func(s span, _ mdPlace) string { return "**" + escapeMarkdown(s.Text) + "**" },
	spanNote:   func(s span, _ mdPlace) string { return "(" + escapeMarkdown(s.Text) + ")" },
	spanCite:   func(s span, _ mdPlace) string { return markdownLink(s.Text, s.Href) },
	spanLink:   func(s span, _ mdPlace) string { return markdownLink(s.Text, s.Href) },
	spanCode: func(s span, at mdPlace) string {
		if s.Class == "digest" {
			return markdownCode(s.Title, at)
		}
		return markdownCode(s.Text, at)
	},
}

func markdownLink(s, anchor string) string {
	if anchor == "" {
		return escapeMarkdown(s)
	}
	return "[" + escapeMarkdown(s) + "](#" + anchor + ")"
}

// markdownTable sets a table, or the sentence that stands in its place.
func markdownTable(t table) string {
	if len(t.Rows) == 0 {
		return markdownItem(t.Empty) + "\n"
	}
	var b strings.Builder
	for _, c := range t.Cols {
		b.WriteString("| " + escapeMarkdown(c.Title) + " ")
	}
	b.WriteString("|\n")
	for _, c := range t.Cols {
		if c.Class == "num" {
			b.WriteString("| ---: ")
		} else {
			b.WriteString("| --- ")
		}
	}
	b.WriteString("|\n")
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			b.WriteString("| " + markdownCell(c) + " ")
		}
		b.WriteString("|\n")
	}
	if len(t.Note) > 0 {
		b.WriteString("\n" + markdownItem(t.Note) + "\n")
	}
	return b.String()
}

func markdownCell(c cell) string {
	s := markdownPhrase(c.Text, inCell)
	if c.Anchor != "" {
		s = `<a id="` + c.Anchor + `"></a>` + s
	}
	return s
}
