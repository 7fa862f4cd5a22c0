package report

import (
	"embed"
	"html/template"
	"io"

	"etcd-autopsy/correlate"
)

//go:embed templates
var templates embed.FS

var htmlPage = template.Must(template.ParseFS(templates, "templates/*.gohtml", "templates/report.css"))

func renderHTML(w io.Writer, a *correlate.Analysis, opts Options) error {
	return htmlPage.ExecuteTemplate(w, "report.gohtml", newDocument(a, opts))
}
