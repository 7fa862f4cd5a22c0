package logparse

import (
	"strings"
	"time"
)

// klogClock supplies what klog's stamps lack: a year and a zone.
type klogClock struct {
	year      int            // Options.Year; 0 = infer
	zone      *time.Location // never nil
	fixed     bool           // Options.Reference was given: full stamps teach nothing
	reference time.Time      // the moment a stamp must be near; zero = unknown

	// The last stamp's day, so that a stream of one day resolves it once.
	day      [4]byte
	dayYear  int
	midnight time.Time
	utc      bool
}

func newKlogClock(o Options) klogClock {
	c := klogClock{year: o.Year, zone: o.Location}
	if o.Year == 0 {
		c.reference, c.fixed = o.Reference, !o.Reference.IsZero()
	}
	if c.zone == nil {
		c.zone = time.UTC
	}
	c.utc = c.zone == time.UTC
	return c
}

// saw notes a full stamp of the stream.
func (c *klogClock) saw(t time.Time) {
	if c.fixed || c.year != 0 {
		return
	}
	if d := t.Sub(c.reference); c.reference.IsZero() || d > 24*time.Hour || d < -24*time.Hour {
		c.reference, c.day = t, [4]byte{}
	}
}

// klog returns the time of a stamp that isKlogStamp has accepted. It is zero if
// nothing shows the year, or if there is no such day.
func (c *klogClock) klog(text string) (time.Time, Inferred) {
	month, day, clock, ok := klogParts(text)
	if !ok {
		return time.Time{}, 0
	}
	if key := [4]byte([]byte(text[1:5])); key != c.day {
		year, ok := c.resolve(month, day, clock)
		if !ok {
			return time.Time{}, 0
		}
		c.day, c.dayYear = key, year
		c.midnight = time.Date(year, time.Month(month), day, 0, 0, 0, 0, c.zone)
		if c.year != 0 {
			c.reference = c.midnight // later stamps of the stream go on from here
		}
	}
	t := c.midnight.Add(clock)
	if !c.utc { // the day may have 23 or 25 hours
		t = time.Date(c.dayYear, time.Month(month), day, 0, 0, int(clock/time.Second), int(clock%time.Second), c.zone).UTC()
	}
	return t, InferredYear | InferredZone
}

// resolve picks the year that puts a stamp nearest to the reference. With a
// year given, the first stamp gets it and the rest follow, past a new year too.
func (c *klogClock) resolve(month, day int, clock time.Duration) (int, bool) {
	if c.reference.IsZero() {
		return c.year, c.year != 0 && validDay(c.year, month, day)
	}
	best, found := 0, false
	var least time.Duration
	around := c.reference.In(c.zone).Year()
	for year := around - 4; year <= around+4; year++ { // 4: a 29th of February
		if !validDay(year, month, day) {
			continue
		}
		d := time.Date(year, time.Month(month), day, 0, 0, 0, 0, c.zone).Add(clock).Sub(c.reference).Abs()
		if !found || d < least {
			best, least, found = year, d, true
		}
	}
	return best, found
}

// Marks before a full date in klog text, and the layout of the date: the head of
// a utiltrace block (k8s.io/utils/trace), the certificates that a server loads
// (apiserver/pkg/server/dynamiccertificates), the kubelet's machine description,
// the head of a klog file.
var dateMarks = []struct{ mark, layout string }{
	{" (total time: ", "(02-Jan-2006 15:04:05.000)"},
	{"(now=", "2006-01-02 15:04:05"},
	{"Machine: {Timestamp:", "2006-01-02 15:04:05"},
	{"Log file created at: ", "2006/01/02 15:04:05"},
}

// learn looks for a full date in the text of a record.
func (c *klogClock) learn(text string) {
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
func (c *klogClock) learnHead(head string) {
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
