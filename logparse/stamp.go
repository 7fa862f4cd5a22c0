package logparse

import (
	"strings"
	"time"
)

// parseStamp reads the full stamps of etcd and the audit log:
// 2006-01-02T15:04:05 with a fraction of no to nine digits and Z, +hhmm or
// +hh:mm. etcd prints milliseconds up to 3.5.7, six digits without trailing
// zeros up to 3.5.14 and six digits since (client/pkg/logutil/zap.go).
func parseStamp(s string) (time.Time, bool) {
	m, rest, ok := cutDateTime(s)
	if !ok || rest != "" {
		return time.Time{}, false
	}
	return m.full()
}

// cutDateTime reads a date and a time of day from the start of s:
//
//	2006-01-02T15:04:05  2006-01-02 15:04:05  2006/01/02 15:04:05
//
// with an optional fraction after a point or a comma, and behind it an optional
// zone: Z, +hhmm, +hh:mm. What follows is the rest.
func cutDateTime(s string) (m moment, rest string, ok bool) {
	const layout = "2006-01-02T15:04:05"
	if len(s) < len(layout) || s[10] != 'T' && s[10] != ' ' || s[4] != s[7] || s[4] != '-' && s[4] != '/' {
		return m, s, false
	}
	century, ok1 := twoDigits(s)
	year, ok2 := twoDigits(s[2:])
	month, ok3 := twoDigits(s[5:])
	day, ok4 := twoDigits(s[8:])
	m.year, m.month, m.day = century*100+year, month, day
	if !ok1 || !ok2 || !ok3 || !ok4 || m.year == 0 || !validDay(m.year, month, day) {
		return m, s, false
	}
	if m.clock, rest, ok = cutClock(s[11:]); !ok {
		return m, s, false
	}
	m.east, m.zoned, rest = cutZone(rest)
	return m, rest, true
}

// cutClock reads 15:04:05 and an optional fraction.
func cutClock(s string) (d time.Duration, rest string, ok bool) {
	d, ok = parseClock(s)
	if !ok {
		return 0, s, false
	}
	fraction, rest, ok := parseFraction(s[len("15:04:05"):])
	if !ok {
		return d, s[len("15:04:05"):], true
	}
	return d + fraction, rest, true
}

// cutZone reads Z, +hhmm or +hh:mm, if one stands there.
func cutZone(s string) (east time.Duration, ok bool, rest string) {
	if strings.HasPrefix(s, "Z") {
		return 0, true, s[1:]
	}
	for _, n := range [...]int{len("+00:00"), len("+0000")} {
		if len(s) >= n {
			if east, ok := parseZone(s[:n]); ok {
				return east, true, s[n:]
			}
		}
	}
	return 0, false, s
}

// parseClock reads 15:04:05 as the time since midnight; a leap second counts.
func parseClock(s string) (time.Duration, bool) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return 0, false
	}
	h, ok1 := twoDigits(s)
	m, ok2 := twoDigits(s[3:])
	sec, ok3 := twoDigits(s[6:])
	if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || sec > 60 {
		return 0, false
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(sec)*time.Second, true
}

// parseFraction reads an optional fraction of a second.
func parseFraction(s string) (d time.Duration, rest string, ok bool) {
	if s == "" || (s[0] != '.' && s[0] != ',') {
		return 0, s, true
	}
	i, unit := 1, time.Second/10
	for ; i < len(s) && i <= 9 && isDigit(s[i]); i++ {
		d += time.Duration(s[i]-'0') * unit
		unit /= 10
	}
	return d, s[i:], i > 1
}

// parseZone reads Z, +hhmm or +hh:mm and returns how far east it is.
func parseZone(s string) (time.Duration, bool) {
	if s == "Z" {
		return 0, true
	}
	if len(s) == 6 && s[3] == ':' {
		s = s[:3] + s[4:]
	}
	if len(s) != 5 || (s[0] != '+' && s[0] != '-') {
		return 0, false
	}
	h, ok1 := twoDigits(s[1:])
	m, ok2 := twoDigits(s[3:])
	if !ok1 || !ok2 || h > 18 || m > 59 {
		return 0, false
	}
	east := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if s[0] == '-' {
		east = -east
	}
	return east, true
}

func twoDigits(s string) (int, bool) {
	if len(s) < 2 || !isDigit(s[0]) || !isDigit(s[1]) {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// daysSince1970 counts the days of the Gregorian calendar. Years begin in March
// here, so that a leap day is the last one of its year.
func daysSince1970(year, month, day int) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	y := int64(year)
	return 365*y + y/4 - y/100 + y/400 + int64((153*month-457)/5) + int64(day) - 719469
}

var monthDays = [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func validDay(year, month, day int) bool {
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	if month == 2 && day == 29 {
		return year%4 == 0 && (year%100 != 0 || year%400 == 0)
	}
	return day <= monthDays[month-1]
}
