package main

import "time"

// moment is a time that a flag names: an instant, or a clock time whose day is
// that of the evidence's end. The zero value is unset.
type moment struct {
	t time.Time
	// clock is true if t's date means nothing yet.
	clock bool
}

// layouts are the forms of a time that flags accept.
var layouts = []struct {
	layout string
	clock  bool
}{
	{time.RFC3339Nano, false},
	{"2006-01-02T15:04:05.999999999", false},
	{"2006-01-02 15:04:05.999999999", false},
	{"2006-01-02 15:04:05.999999999Z07:00", false},
	{"2006-01-02T15:04", false},
	{"2006-01-02 15:04", false},
	{"15:04:05.999999999", true},
	{"15:04", true},
}

// parseMoment reads the value of a time flag. Stamps without a zone are in loc.
func parseMoment(flag, s string, loc *time.Location) (moment, error) {
	if s == "" {
		return moment{}, nil
	}
	for _, l := range layouts {
		if t, err := time.ParseInLocation(l.layout, s, loc); err == nil {
			return moment{t: t, clock: l.clock}, nil
		}
	}
	return moment{}, usagef("write 2006-01-02T15:04:05Z, '2006-01-02 15:04:05', or 15:04:05 for the day the evidence ends", "%s %q is no time", flag, s)
}

func (m moment) unset() bool { return m.t.IsZero() && !m.clock }

// on returns the instant of the moment; a clock time is put on the day of end,
// as the moment's zone has it.
func (m moment) on(end time.Time) time.Time {
	if !m.clock {
		return m.t
	}
	y, month, d := end.In(m.t.Location()).Date()
	return time.Date(y, month, d, m.t.Hour(), m.t.Minute(), m.t.Second(), m.t.Nanosecond(), m.t.Location())
}
