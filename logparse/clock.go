package logparse

import "time"

// moment is what a stamp's text shows. A part that it lacks is for the clock to
// supply.
type moment struct {
	// year is 0 where the stamp has none.
	year, month, day int
	// clock is the time since midnight.
	clock time.Duration
	// east is how far the stamp's zone is east of UTC, if zoned.
	east  time.Duration
	zoned bool
}

// utc is the stamp as if its zone were UTC; the year must be known.
func (m moment) utc() time.Time {
	return time.Unix(86400*daysSince1970(m.year, m.month, m.day), int64(m.clock)).UTC()
}

// full is the instant of a stamp that lacks nothing.
func (m moment) full() (time.Time, bool) {
	if m.year == 0 || !m.zoned {
		return time.Time{}, false
	}
	return m.utc().Add(-m.east), true
}

// clock supplies what stamps lack: a year and a zone. One stream has one clock.
type clock struct {
	year      int            // Options.Year; 0 = infer
	zone      *time.Location // never nil
	given     bool           // Options.Location was set: no other zone is learnt
	zoneless  Inferred       // what a stamp lacks that has no zone
	zones     []ZoneFrom     // Options.Zones that are still to come
	fixed     bool           // Options.Reference was given: full stamps teach nothing
	reference time.Time      // the moment a stamp must be near; zero = unknown
	latest    time.Time      // Options.Before: no stamp is later, if nothing else shows the year

	// The last day that was resolved, so that a stream of one day does it once.
	day      [4]byte
	midnight time.Time
	// The last second of a full stamp, for the same reason.
	second   [secondLen]byte
	secondAt time.Time
}

func newClock(o Options) clock {
	c := clock{year: o.Year, zone: o.Location, given: o.Location != nil, latest: o.Before}
	if o.Year == 0 {
		c.reference, c.fixed = o.Reference, !o.Reference.IsZero()
	}
	c.zoneless = InferredZone
	if c.zone == nil {
		c.zone, c.zones = time.UTC, o.Zones
		c.zoneless |= AssumedZone
	}
	c.turn(0)
	return c
}

// turn takes the zone that holds from a line on.
func (c *clock) turn(line int) {
	for len(c.zones) > 0 && c.zones[0].Line <= line {
		c.zone, c.zoneless, c.day = c.zones[0].Location, InferredZone, [4]byte{}
		c.zones = c.zones[1:]
	}
}

// saw notes a full stamp of the stream.
func (c *clock) saw(t time.Time) {
	if c.fixed || c.year != 0 || t.IsZero() {
		return
	}
	if d := t.Sub(c.reference); c.reference.IsZero() || d > 24*time.Hour || d < -24*time.Hour {
		c.reference, c.day = t, [4]byte{}
	}
}

// maxSkew is how far a record's stamp may be from the one that a wrapper put
// before it; what remains is a difference of zones, in steps of 15 minutes.
const (
	maxSkew  = 2 * time.Minute
	zoneStep = 15 * time.Minute
	maxZone  = 14 * time.Hour
)

// pair learns the zone of a stamp without one from the wrapper's stamp of the
// same line.
func (c *clock) pair(m moment, outer time.Time) {
	if c.given || m.zoned || outer.IsZero() {
		return
	}
	if m.year == 0 {
		m.year = outer.Year()
	}
	d := m.utc().Sub(outer)
	for _, turn := range [...]int{-1, 1} { // the zone may put them in two years
		if d > maxZone+maxSkew || d < -maxZone-maxSkew {
			n := m
			n.year += turn
			if x := n.utc().Sub(outer); x.Abs() < d.Abs() {
				d = x
			}
		}
	}
	east := d.Round(zoneStep)
	if (d-east).Abs() > maxSkew || east.Abs() > maxZone {
		return
	}
	c.zoneless, c.zones = InferredZone, nil
	if _, have := outer.In(c.zone).Zone(); have != int(east/time.Second) {
		c.zone, c.day = time.FixedZone("", int(east/time.Second)), [4]byte{}
	}
}

// at is the instant of a stamp and what of it was supplied. It is zero if nothing
// shows the year, or if there is no such day. outer is the full stamp that a
// wrapper put before the line; zero for none.
func (c *clock) at(m moment, outer time.Time) (time.Time, Inferred) {
	if t, ok := m.full(); ok {
		c.saw(t)
		return t, 0
	}
	c.pair(m, outer)
	if m.year != 0 {
		t := c.local(m.year, m)
		c.saw(t)
		return t, c.zoneless
	}
	year, ok := c.yearOf(m, outer)
	if !ok {
		return time.Time{}, 0
	}
	if m.zoned {
		m.year = year
		t, _ := m.full()
		return t, InferredYear
	}
	return c.local(year, m), InferredYear | c.zoneless
}

const secondLen = len("2006-01-02T15:04:05")

// learnSecond remembers the second of a full stamp in UTC.
func (c *clock) learnSecond(text string, t time.Time) {
	if len(text) > secondLen && text[len(text)-1] == 'Z' {
		c.second, c.secondAt = [secondLen]byte([]byte(text[:secondLen])), t.Truncate(time.Second)
	}
}

// sameSecond is the instant of a stamp in UTC of the second that was remembered, as
// at gives it: the lines of a log come close together.
func (c *clock) sameSecond(text string) (time.Time, bool) {
	if len(text) <= secondLen || text[len(text)-1] != 'Z' || string(c.second[:]) != text[:secondLen] {
		return time.Time{}, false
	}
	fraction, rest, ok := parseFraction(text[secondLen:])
	if !ok || rest != "Z" {
		return time.Time{}, false
	}
	t := c.secondAt.Add(fraction)
	c.saw(t)
	return t, true
}

// klog is at for the stamp that a klog header begins with, which isKlogStamp has
// accepted.
func (c *clock) klog(text string, outer time.Time) (time.Time, Inferred) {
	month, day, sinceMidnight, ok := klogParts(text)
	if !ok {
		return time.Time{}, 0
	}
	m := moment{month: month, day: day, clock: sinceMidnight}
	if outer.IsZero() && c.zone == time.UTC && c.year == 0 && [4]byte([]byte(text[1:5])) == c.day {
		return c.midnight.Add(sinceMidnight), InferredYear | c.zoneless
	}
	t, inferred := c.at(m, outer)
	if !t.IsZero() && c.zone == time.UTC {
		c.day, c.midnight = [4]byte([]byte(text[1:5])), t.Add(-sinceMidnight)
	}
	return t, inferred
}

// local is a stamp of the clock's zone as an instant.
func (c *clock) local(year int, m moment) time.Time {
	if c.zone == time.UTC {
		m.year = year
		return m.utc()
	}
	// the day may have 23 or 25 hours
	return time.Date(year, time.Month(m.month), m.day, 0, 0, int(m.clock/time.Second), int(m.clock%time.Second), c.zone).UTC()
}

// yearOf picks the year of a stamp: that of the wrapper's stamp, the given one,
// the one that puts it nearest to the reference, or the last one before the file
// was written.
func (c *clock) yearOf(m moment, outer time.Time) (int, bool) {
	switch {
	case !outer.IsZero():
		return c.nearest(m, outer)
	case !c.reference.IsZero():
		year, ok := c.nearest(m, c.reference)
		if ok && c.year != 0 {
			c.reference = c.local(year, m) // later stamps of the stream go on from here
		}
		return year, ok
	case c.year != 0:
		if !validDay(c.year, m.month, m.day) {
			return 0, false
		}
		c.reference = c.local(c.year, m)
		return c.year, true
	case !c.latest.IsZero():
		year, ok := c.before(m)
		if ok {
			c.reference = c.local(year, m)
		}
		return year, ok
	}
	return 0, false
}

// maxYears is how many years are tried: a 29th of February comes every fourth.
const maxYears = 4

// halfYear is less than half of any year.
const halfYear = 182 * 24 * time.Hour

func (c *clock) nearest(m moment, reference time.Time) (int, bool) {
	best, found := 0, false
	var least time.Duration
	around := reference.In(c.zone).Year()
	if validDay(around, m.month, m.day) && c.local(around, m).Sub(reference).Abs() < halfYear {
		return around, true // any other is further
	}
	for year := around - maxYears; year <= around+maxYears; year++ {
		if !validDay(year, m.month, m.day) {
			continue
		}
		if d := c.local(year, m).Sub(reference).Abs(); !found || d < least {
			best, least, found = year, d, true
		}
	}
	return best, found
}

// before is the last year that puts a stamp no later than a day after the file's
// own time: zones differ, and copies keep the time.
func (c *clock) before(m moment) (int, bool) {
	limit := c.latest.Add(24 * time.Hour)
	for year := limit.Year(); year >= limit.Year()-maxYears; year-- {
		if validDay(year, m.month, m.day) && !c.local(year, m).After(limit) {
			return year, true
		}
	}
	return 0, false
}
