package logparse

import "time"

// parseStamp reads the full stamps of etcd and the audit log:
// 2006-01-02T15:04:05 with a fraction of no to nine digits and Z, +hhmm or
// +hh:mm. etcd prints milliseconds up to 3.5.7, six digits without trailing
// zeros up to 3.5.14 and six digits since (client/pkg/logutil/zap.go).
func parseStamp(s string) (time.Time, bool) {
	day, ok := parseDay(s)
	if !ok || len(s) < len("2006-01-02T15:04:05Z") || (s[10] != 'T' && s[10] != ' ') {
		return time.Time{}, false
	}
	clock, ok := parseClock(s[11:19])
	if !ok {
		return time.Time{}, false
	}
	nanos, rest, ok := parseFraction(s[19:])
	if !ok {
		return time.Time{}, false
	}
	east, ok := parseZone(rest)
	if !ok {
		return time.Time{}, false
	}
	return day.Add(clock + nanos - east), true
}

// parseDay reads 2006-01-02 at the start of s, as UTC midnight.
func parseDay(s string) (time.Time, bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return time.Time{}, false
	}
	century, ok1 := twoDigits(s[0:])
	year, ok2 := twoDigits(s[2:])
	month, ok3 := twoDigits(s[5:])
	day, ok4 := twoDigits(s[8:])
	if !ok1 || !ok2 || !ok3 || !ok4 || !validDay(century*100+year, month, day) {
		return time.Time{}, false
	}
	return time.Date(century*100+year, time.Month(month), day, 0, 0, 0, 0, time.UTC), true
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
