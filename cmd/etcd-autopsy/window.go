package main

import (
	"strings"
	"time"
)

// defaultAround is how far --around reaches to both sides.
const defaultAround = 5 * time.Minute

// window is the span of time that --since, --until and --around ask for. Its
// ends may be mere clock times until it is known when the evidence ends.
type window struct {
	since, until moment
	// reach widens the window to both sides; only with --around.
	reach time.Duration
}

func parseWindow(since, until, around string, loc *time.Location) (w window, err error) {
	if around == "" {
		if w.since, err = parseMoment("--since", since, loc); err != nil {
			return w, err
		}
		if w.until, err = parseMoment("--until", until, loc); err != nil {
			return w, err
		}
		return w, w.order()
	}
	if since != "" || until != "" {
		return w, usagef("leave one of them out", "--around cannot be combined with --since or --until")
	}
	at, reach, err := cutReach(around)
	if err != nil {
		return w, err
	}
	m, err := parseMoment("--around", at, loc)
	return window{since: m, until: m, reach: reach}, err
}

// order refuses a window that ends before it starts, as far as that can be told
// before the day is known.
func (w window) order() error {
	if w.since.unset() || w.until.unset() || w.since.clock != w.until.clock {
		return nil
	}
	if w.until.t.Before(w.since.t) {
		return usagef("a bare clock time is on the day the evidence ends; write the date too", "--until is before --since")
	}
	return nil
}

// cutReach takes TIME±DURATION apart.
func cutReach(around string) (at string, reach time.Duration, err error) {
	for _, sign := range []string{"±", "+-", "+/-"} {
		at, d, ok := strings.Cut(around, sign)
		if !ok {
			continue
		}
		reach, err := time.ParseDuration(strings.TrimSpace(d))
		if err != nil || reach <= 0 {
			return "", 0, usagef("write a duration like 90s, 10m or 1h30m", "--around %q: %q is no duration", around, d)
		}
		if at = strings.TrimSpace(at); at == "" {
			return "", 0, usagef("write TIME±DURATION, as in 21:10±5m", "--around %q names no time", around)
		}
		return at, reach, nil
	}
	return around, defaultAround, nil
}

// needsEnd reports whether the window depends on when the evidence ends.
func (w window) needsEnd() bool { return w.since.clock || w.until.clock }

// resolve returns the window as two instants, zero for an open end.
func (w window) resolve(end time.Time) (since, until time.Time) {
	since, until = w.since.on(end), w.until.on(end)
	if w.reach != 0 {
		return since.Add(-w.reach), until.Add(w.reach)
	}
	return since, until
}

// touches reports whether something that lasted from start to stop (nil: unknown,
// or still going on) has a part inside the window.
func (w window) touches(start, stop *time.Time, end time.Time) bool {
	since, until := w.resolve(end)
	if !until.IsZero() && start != nil && start.After(until) {
		return false
	}
	return since.IsZero() || stop == nil || !stop.Before(since)
}
