// Package report renders an analysis as Markdown, as one self-contained HTML
// page, or as JSON.
//
// A view is built first: which rollout the document is about, which rows are
// shown, how every time and number is written. The templates only lay out what
// the view says. Nothing here opens an input; a saved JSON report renders to
// the same bytes as the analysis it was saved from.
//
// All text that came out of a log or a store is treated as hostile. It is made
// printable (control and direction marks become visible escapes, long text is
// cut and says so) when the view is built, and escaped for its format when the
// view is printed.
package report
