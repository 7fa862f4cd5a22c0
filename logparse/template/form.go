package template

import (
	"slices"
	"strings"
	"time"

	"etcd-autopsy/logparse"
)

// Place is where a record stands.
type Place struct {
	// Log is the caller's number of the log, Line the record's first line.
	Log, Line int
	// Time is the record's, zero if it has none.
	Time time.Time
	// Text is the start of the record as it stands in the log.
	Text string
}

// before orders places by log and line.
func (p *Place) before(q *Place) bool {
	return p.Log < q.Log || p.Log == q.Log && p.Line < q.Line
}

// origin is what forms must share to become one template.
type origin struct {
	component logparse.Component
	level     logparse.Level
	caller    string
}

// form is a masked message with its origin.
type form struct {
	origin
	key         string // of origin and text
	text        string
	hash        uint64
	count       int
	first, last Place
	rate        histogram
}

// add counts a record, which stood for more if its program folded repeats.
func (f *form) add(rec *logparse.Record, log int) {
	n := 1 + rec.Repeats
	f.count += n
	f.rate.add(rec.Time, n)
	p := Place{Log: log, Line: rec.Line, Time: rec.Time, Text: rec.Text}
	if f.first.Line == 0 {
		f.first = p
		f.first.Text = strings.Clone(p.Text)
	}
	f.last = p
}

// clone is a copy that shares nothing that changes.
func (f *form) clone() *form {
	g := *f
	g.rate.buckets = slices.Clone(f.rate.buckets)
	return &g
}

// join adds what another miner found of the same form.
func (f *form) join(g *form) {
	f.count += g.count
	if g.first.before(&f.first) {
		f.first = g.first
	}
	if f.last.before(&g.last) {
		f.last = g.last
	}
	f.rate.join(&g.rate)
}
