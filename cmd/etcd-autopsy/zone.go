package main

import (
	"time"
	_ "time/tzdata" // zones by name on machines that have no database of them
)

// parseZone reads the value of a zone flag: UTC, Local, a name of the zone
// database, or an offset like +08:00.
func parseZone(flag, s string) (*time.Location, error) {
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, s); err == nil {
			_, offset := t.Zone()
			return time.FixedZone(s, offset), nil
		}
	}
	if s == "" {
		return time.UTC, nil
	}
	loc, err := time.LoadLocation(s)
	if err != nil {
		return nil, usagef("write UTC, Local, a name like Europe/Berlin, or an offset like +08:00", "%s %q is no time zone", flag, s)
	}
	return loc, nil
}
