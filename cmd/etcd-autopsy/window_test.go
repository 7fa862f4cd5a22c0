package main

import (
	"testing"
	"time"
)

func TestParseWindow(t *testing.T) {
	end := time.Date(2026, 11, 30, 21, 11, 9, 0, time.UTC)
	plus8 := time.FixedZone("+08:00", 8*3600)
	tests := []struct {
		name                 string
		since, until, around string
		loc                  *time.Location
		wantSince, wantUntil string // "" for open
	}{
		{"nothing", "", "", "", time.UTC, "", ""},
		{"RFC 3339", "2026-11-30T21:10:00Z", "2026-11-30T22:11:00.5+01:00", "", time.UTC, "2026-11-30T21:10:00Z", "2026-11-30T21:11:00.5Z"},
		{"date and time", "2026-11-30 21:10:00", "2026-11-30 21:11", "", time.UTC, "2026-11-30T21:10:00Z", "2026-11-30T21:11:00Z"},
		{"date and time in a zone", "2026-12-01 05:10:00", "", "", plus8, "2026-11-30T21:10:00Z", ""},
		{"clock", "21:10", "21:11:05.250", "", time.UTC, "2026-11-30T21:10:00Z", "2026-11-30T21:11:05.25Z"},
		{"clock in a zone, on its day", "05:10", "", "", plus8, "2026-11-30T21:10:00Z", ""},
		{"around", "", "", "2026-11-30T21:10:00Z±90s", time.UTC, "2026-11-30T21:08:30Z", "2026-11-30T21:11:30Z"},
		{"around with ASCII", "", "", "21:10+-1m", time.UTC, "2026-11-30T21:09:00Z", "2026-11-30T21:11:00Z"},
		{"around without reach", "", "", "21:10", time.UTC, "2026-11-30T21:05:00Z", "2026-11-30T21:15:00Z"},
		{"around across midnight", "", "", "00:01±2m", time.UTC, "2026-11-29T23:59:00Z", "2026-11-30T00:03:00Z"},
		{"midnight", "00:00", "", "", time.UTC, "2026-11-30T00:00:00Z", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, err := parseWindow(tt.since, tt.until, tt.around, tt.loc)
			if err != nil {
				t.Fatal(err)
			}
			since, until := w.resolve(end)
			if got := text(since); got != tt.wantSince {
				t.Errorf("since %s, want %s", got, tt.wantSince)
			}
			if got := text(until); got != tt.wantUntil {
				t.Errorf("until %s, want %s", got, tt.wantUntil)
			}
		})
	}
}

func text(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func TestParseWindowRefuses(t *testing.T) {
	tests := []struct{ name, since, until, around string }{
		{"no time", "yesterday", "", ""},
		{"hour 25", "", "25:00", ""},
		{"backwards", "2026-11-30T21:10:00Z", "2026-11-30T21:09:00Z", ""},
		{"backwards clock", "21:10", "21:09", ""},
		{"both", "21:00", "", "21:10"},
		{"no duration", "", "", "21:10±soon"},
		{"negative duration", "", "", "21:10±-5m"},
		{"duration alone", "", "", "±5m"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if w, err := parseWindow(tt.since, tt.until, tt.around, time.UTC); !isUsage(err) {
				t.Errorf("parseWindow = %+v, %v; want a usage error", w, err)
			}
		})
	}
}

func TestWindowTouches(t *testing.T) {
	at := func(minute int) *time.Time {
		t := time.Date(2026, 11, 30, 21, minute, 0, 0, time.UTC)
		return &t
	}
	w, err := parseWindow("21:10", "21:20", "", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name        string
		start, stop *time.Time
		want        bool
	}{
		{"before", at(1), at(9), false},
		{"into", at(1), at(10), true},
		{"inside", at(11), at(12), true},
		{"out of", at(20), at(30), true},
		{"after", at(21), at(30), false},
		{"over", at(1), at(50), true},
		{"open", at(1), nil, true},
		{"open, after", at(21), nil, false},
		{"start unknown", nil, at(9), false},
		{"unknown", nil, nil, true},
	}
	for _, tt := range tests {
		if got := w.touches(tt.start, tt.stop, *at(30)); got != tt.want {
			t.Errorf("%s: touches = %v", tt.name, got)
		}
	}
}

func TestParseZone(t *testing.T) {
	when := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		zone   string
		offset int // minutes
		ok     bool
	}{
		{"UTC", 0, true}, {"", 0, true}, {"+08:00", 480, true}, {"-0330", -210, true}, {"+02", 120, true},
		{"Europe/Berlin", 120, true}, {"Asia/Shanghai", 480, true}, {"Mars/Base", 0, false}, {"8", 0, false}, {"../etc/passwd", 0, false},
	}
	for _, tt := range tests {
		loc, err := parseZone("--timezone", tt.zone)
		if (err == nil) != tt.ok {
			t.Errorf("parseZone(%q): %v", tt.zone, err)
			continue
		}
		if !tt.ok {
			continue
		}
		if _, offset := when.In(loc).Zone(); offset != tt.offset*60 {
			t.Errorf("parseZone(%q): offset %d s, want %d min", tt.zone, offset, tt.offset)
		}
	}
}
