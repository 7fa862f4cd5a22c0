package report

import (
	"fmt"
	"math"
	"time"
)

const (
	dayForm   = "2006-01-02"
	clockForm = "15:04:05.000"
	fullForm  = "2006-01-02T15:04:05.000Z07:00"
	noTime    = "time not known"
)

// clock writes times: as a time of day while they are on the report's own day,
// which the header states once, and with their date when they are not.
type clock struct {
	loc  *time.Location
	day  string
	zone string
}

// newClock takes the day and the zone's offset from ref; a zero ref has no day.
func newClock(loc *time.Location, ref time.Time) clock {
	if loc == nil {
		loc = time.UTC
	}
	c := clock{loc: loc, zone: "UTC"}
	if ref.IsZero() {
		return c
	}
	local := ref.In(loc)
	c.day = local.Format(dayForm)
	if _, offset := local.Zone(); offset != 0 {
		c.zone = "UTC" + local.Format("-07:00")
	}
	return c
}

func (c clock) sameDay(t time.Time) bool { return t.In(c.loc).Format(dayForm) == c.day }

// stamp writes a time for a sentence.
func (c clock) stamp(t *time.Time) string {
	if t == nil {
		return noTime
	}
	if c.sameDay(*t) {
		return t.In(c.loc).Format(clockForm)
	}
	return t.In(c.loc).Format(dayForm + " " + clockForm)
}

// short writes a time to the second, for titles and axes.
func (c clock) short(t time.Time) string {
	if c.sameDay(t) {
		return t.In(c.loc).Format(time.TimeOnly)
	}
	return t.In(c.loc).Format(time.DateTime)
}

// column returns how the times of one table column are written: RFC 3339 for
// all of them if any is of another day.
func (c clock) column(times []*time.Time) func(*time.Time) string {
	form := clockForm
	for _, t := range times {
		if t != nil && !c.sameDay(*t) {
			form = fullForm
			break
		}
	}
	return func(t *time.Time) string {
		if t == nil {
			return "–"
		}
		return t.In(c.loc).Format(form)
	}
}

// window writes a span, the second date only where it differs.
func (c clock) window(from, to time.Time) string {
	a := c.short(from)
	if to.IsZero() || to.Equal(from) {
		return a + " " + c.zone
	}
	b := to.In(c.loc).Format(time.DateTime)
	if from.In(c.loc).Format(dayForm) == to.In(c.loc).Format(dayForm) {
		b = to.In(c.loc).Format(time.TimeOnly)
	}
	return a + "–" + b + " " + c.zone
}

// durationUnit is a step of the scale on which durations are written.
type durationUnit struct {
	below time.Duration
	write func(time.Duration) string
}

var durationUnits = []durationUnit{
	{time.Millisecond, func(d time.Duration) string { return "0 s" }},
	{100 * time.Millisecond, func(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }},
	{9950 * time.Millisecond, func(d time.Duration) string { return fmt.Sprintf("%.2g s", d.Seconds()) }},
	{59500 * time.Millisecond, func(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }},
	{time.Hour, func(d time.Duration) string {
		return twoUnits(d.Round(time.Second), time.Minute, time.Second, "min", "s")
	}},
	{24 * time.Hour, func(d time.Duration) string {
		return twoUnits(d.Round(time.Minute), time.Hour, time.Minute, "h", "min")
	}},
	{math.MaxInt64, func(d time.Duration) string { return twoUnits(d.Round(time.Hour), 24*time.Hour, time.Hour, "d", "h") }},
}

// duration writes a length of time to two significant places.
func duration(d time.Duration) string {
	if d < 0 {
		return "−" + duration(-d)
	}
	for _, u := range durationUnits {
		if d < u.below {
			return u.write(d)
		}
	}
	return d.String()
}

func twoUnits(d, big, small time.Duration, bigName, smallName string) string {
	n, rest := d/big, d%big/small
	if rest == 0 {
		return fmt.Sprintf("%d %s", n, bigName)
	}
	return fmt.Sprintf("%d %s %d %s", n, bigName, rest, smallName)
}

// between writes the time from one moment to another, "–" if either is unknown.
func between(from, to *time.Time) string {
	if from == nil || to == nil {
		return "–"
	}
	return duration(to.Sub(*from))
}

// spread writes how far the true time may lie from the estimate.
func spread(t, earliest, latest *time.Time) string {
	if t == nil || earliest == nil || latest == nil {
		return ""
	}
	before, after := t.Sub(*earliest), latest.Sub(*t)
	if before < time.Millisecond && after < time.Millisecond {
		return ""
	}
	return "−" + duration(before) + " / +" + duration(after)
}
