package logparse

import (
	"strings"
	"time"
)

// The log of a pod's container, static control-plane pods among them, has each
// line behind the runtime's stamp, stream and tag:
//
//	2026-11-30T21:51:00.123456789Z stderr F message
//
// A line longer than the runtime's buffer (16 KiB) comes as several with the tag
// P and a last one with F (k8s.io/cri-client/pkg/logs/logs.go).

// wrapped is what stands before a line.
type wrapped struct {
	time    time.Time // zero: the line is not wrapped
	source  string    // stdout or stderr
	partial bool
}

// cutCRI takes the wrapper off a line; a line without one comes back whole.
func cutCRI(text string) (wrapped, string) {
	stamp, rest, ok := strings.Cut(text, " ")
	if !ok || len(stamp) < len("2006-01-02T15:04:05Z") || len(stamp) > len("2006-01-02T15:04:05.000000000+00:00") {
		return wrapped{}, text
	}
	source, rest, ok := strings.Cut(rest, " ")
	if !ok || source != "stdout" && source != "stderr" {
		return wrapped{}, text
	}
	tags, message, _ := strings.Cut(rest, " ") // an empty line may lack the blank
	tag, _, _ := strings.Cut(tags, ":")
	if tag != "F" && tag != "P" {
		return wrapped{}, text
	}
	t, ok := parseStamp(stamp)
	if !ok {
		return wrapped{}, text
	}
	return wrapped{time: t, source: source, partial: tag == "P"}, message
}

// parts joins the pieces of a line that the runtime has cut.
type parts struct {
	row   row
	text  strings.Builder
	count int
}

// join adds a piece, false if it does not continue the pieces before it: a line
// of the other stream, or one without a wrapper. What goes past MaxLine is
// counted only.
func (p *parts) join(r row) bool {
	if p.count > 0 && r.wrap.source != p.row.wrap.source {
		return false
	}
	if p.count == 0 {
		p.row = r
		p.text.Reset()
	} else {
		p.row.lines += r.lines
		p.row.lost += r.lost
		p.row.nuls += r.nuls
	}
	keep := cutText(r.text, MaxLine-p.text.Len())
	p.text.WriteString(keep)
	p.row.lost += int64(len(r.text) - len(keep))
	p.count++
	return true
}

// whole returns what was joined and starts anew.
func (p *parts) whole() row {
	r := p.row
	r.text = p.text.String()
	p.text.Reset()
	p.count = 0
	return r
}
