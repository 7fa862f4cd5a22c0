package logparse

import (
	"strings"
	"time"
)

// Marks before a full date in klog text, and the layout of the date: the head of
// a utiltrace block (k8s.io/utils/trace), the certificates that a server loads
// (apiserver/pkg/server/dynamiccertificates), the kubelet's machine description,
// the head of a klog file.
var dateMarks = []struct{ mark, layout string }{
	{" (total time: ", "(02-Jan-2006 15:04:05.000)"},
	{"(now=", "2006-01-02 15:04:05"},
	{"Machine: {Timestamp:", "2006-01-02 15:04:05"},
	{"Log file created at: ", "2006/01/02 15:04:05"},
	{" (started: ", "2006-01-02 15:04:05"},
	{"current time ", "2006-01-02T15:04:05"},
}

// learn looks for a full date in the text of a record.
func (c *clock) learn(text string) {
	if c.fixed || c.year != 0 {
		return
	}
	if !strings.HasPrefix(text, "Trace[") && !c.reference.IsZero() {
		return // a trace's head is short to find; the rest is needed once
	}
	if t, ok := fullDate(text, c.zone); ok {
		c.saw(t)
	}
}

func fullDate(text string, zone *time.Location) (time.Time, bool) {
	for _, m := range dateMarks {
		i := strings.Index(text, m.mark)
		if i < 0 {
			continue
		}
		from := i + len(m.mark)
		if m.layout[0] == '(' { // stands before its mark
			from = i - len(m.layout)
		}
		if from < 0 || from+len(m.layout) > len(text) {
			continue
		}
		if t, err := time.ParseInLocation(m.layout, text[from:from+len(m.layout)], zone); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// learnHead looks through the first block of a stream, so that its first
// records have a year too.
func (c *clock) learnHead(head string) {
	if c.fixed || c.year != 0 {
		return
	}
	const zapMark = `"ts":"`
	if i := strings.Index(head, zapMark); i >= 0 {
		rest := head[i+len(zapMark):]
		if end := strings.IndexByte(rest, '"'); end > 0 {
			if t, ok := parseStamp(rest[:end]); ok {
				c.saw(t)
				return
			}
		}
	}
	if t, ok := fullDate(head, c.zone); ok {
		c.saw(t)
	}
}
