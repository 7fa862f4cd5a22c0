package logparse

import (
	"strings"
	"testing"
	"time"
)

func klogAt(stamp string) string { return "I" + stamp + ".000000       1 a.go:1] x\n" }

func TestKlogYear(t *testing.T) {
	trace := strings.Replace(klogTrace, "I1130 21:33:57", "I0101 00:00:01", 1)
	trace = strings.Replace(trace, "30-Nov-2026 21:33:54.506", "31-Dec-2026 23:59:58.000", 1)
	loc := time.FixedZone("", 8*3600)
	tests := []struct {
		name, in string
		opts     Options
		want     string // times of the records, "-" for none
	}{
		{"nothing shows the year", klogAt("1130 21:02:47"), Options{}, "-"},
		{"reference after", klogAt("1231 23:59:59"), Options{Reference: at("2027-01-02T00:00:00Z")}, "2026-12-31T23:59:59Z"},
		{"reference before", klogAt("0101 00:00:01"), Options{Reference: at("2026-12-30T00:00:00Z")}, "2027-01-01T00:00:01Z"},
		{"29th of February", klogAt("0229 12:00:00"), Options{Reference: at("2026-11-30T00:00:00Z")}, "2028-02-29T12:00:00Z"},
		{"year given", klogAt("1231 23:59:59") + klogAt("0101 00:00:01"), Options{Year: 2025}, "2025-12-31T23:59:59Z 2026-01-01T00:00:01Z"},
		{"year given and reference", klogAt("1130 21:02:47"), Options{Year: 2025, Reference: at("2020-01-01T00:00:00Z")}, "2025-11-30T21:02:47Z"},
		{"year without that day", klogAt("0229 12:00:00"), Options{Year: 2025}, "-"},
		{"no such day", klogAt("1131 21:02:47"), Options{Year: 2026}, "-"},
		{"no such hour", klogAt("1130 25:02:47"), Options{Year: 2026}, "-"},
		{"zone", klogAt("0101 07:30:00"), Options{Year: 2026, Location: loc}, "2025-12-31T23:30:00Z"},
		{"trace behind", klogAt("1231 23:59:59") + trace, Options{}, "2026-12-31T23:59:59Z 2027-01-01T00:00:01.526677Z"},
		{"zap line behind", klogAt("1130 21:02:47") + zapClient, Options{}, "2026-11-30T21:02:47Z 2026-11-30T21:34:04.531086Z"},
		{"file head", "Log file created at: 2024/11/30 21:00:00\n" + klogAt("1130 21:02:47"), Options{}, "- 2024-11-30T21:02:47Z"},
		{"certificate", klogAt("1130 21:02:47") + "I1130 21:02:48.000000       1 t.go:1] \"Loaded SNI cert\" certDetail=\"x (2026-11-30 20:02:53 +0000 UTC to 2029-11-30 20:02:53 +0000 UTC (now=2026-11-30 21:02:53.9 +0000 UTC))\"\n", Options{}, "2026-11-30T21:02:47Z 2026-11-30T21:02:48Z"},
		{"reference outweighs the stream", klogAt("1130 21:02:47") + zapClient, Options{Reference: at("2020-11-30T00:00:00Z")}, "2020-11-30T21:02:47Z 2026-11-30T21:34:04.531086Z"},
		{"container runtime", "2023-11-30T21:02:48.5Z stderr F " + klogAt("1130 21:02:47"), Options{}, "2023-11-30T21:02:47Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, rec := range readAll(t, tt.in, tt.opts) {
				switch {
				case rec.Time.IsZero():
					got = append(got, "-")
					if rec.Inferred != 0 || rec.Problem != "" {
						t.Errorf("no time, but inferred %v, problem %q", rec.Inferred.Names(), rec.Problem)
					}
				default:
					got = append(got, rec.Time.Format(time.RFC3339Nano))
					if rec.Format == FormatKlog && rec.Inferred&^AssumedZone != InferredYear|InferredZone {
						t.Errorf("inferred %v", rec.Inferred.Names())
					}
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("times %s, want %s", s, tt.want)
			}
		})
	}
}

// On the days when clocks change, a stamp is still what the clock showed.
func TestKlogDaylightSaving(t *testing.T) {
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	recs := readAll(t, klogAt("0329 01:30:00")+klogAt("0329 12:00:00"), Options{Year: 2026, Location: loc})
	for i, want := range []string{"2026-03-29T00:30:00Z", "2026-03-29T10:00:00Z"} {
		if !recs[i].Time.Equal(at(want)) {
			t.Errorf("time %v, want %s", recs[i].Time, want)
		}
	}
}

// A zone that other evidence shows holds from its line on; one of a wrapper goes
// before it, one that is given before both. Only what nothing shows is assumed.
func TestZones(t *testing.T) {
	lines := klogAt("1025 02:30:00") + klogAt("1025 02:40:00") + klogAt("1025 02:10:00")
	berlin := []ZoneFrom{{0, time.FixedZone("", 7200)}, {3, time.FixedZone("", 3600)}}
	wrapped := "2026-10-25T02:10:00.5Z stderr F " + klogAt("1025 02:10:00")
	tests := []struct {
		name, in string
		opts     Options
		want     string
	}{
		{"none", lines, Options{Year: 2026}, "02:30? 02:40? 02:10?"},
		{"two", lines, Options{Year: 2026, Zones: berlin}, "00:30 00:40 01:10"},
		{"given", lines, Options{Year: 2026, Zones: berlin, Location: time.FixedZone("", -3600)}, "03:30 03:40 03:10"},
		{"given as UTC", lines, Options{Year: 2026, Location: time.UTC}, "02:30 02:40 02:10"},
		{"wrapper", wrapped, Options{Zones: berlin}, "02:10"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, rec := range readAll(t, tt.in, tt.opts) {
				s := rec.Time.Format("15:04")
				if rec.Inferred&AssumedZone != 0 {
					s += "?"
				}
				if rec.Inferred&InferredZone == 0 {
					t.Errorf("line %d: inferred %v", rec.Line, rec.Inferred.Names())
				}
				got = append(got, s)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("times %s, want %s", s, tt.want)
			}
		})
	}
}

func TestDaysSince1970(t *testing.T) {
	for d := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() < 3000; d = d.AddDate(0, 0, 1) {
		if got, want := daysSince1970(d.Year(), int(d.Month()), d.Day()), d.Unix()/86400; got != want {
			t.Fatalf("%s: %d, want %d", d.Format(time.DateOnly), got, want)
		}
	}
}

// A stamp of a second that was seen before is read as any other.
func TestSameSecond(t *testing.T) {
	c := newClock(Options{})
	for _, s := range []string{
		"2026-11-30T21:48:28.100000Z", "2026-11-30T21:48:28.1Z", "2026-11-30T21:48:28Z", "2026-11-30T21:48:28.123456789Z", "2026-11-30T21:48:28.1234567891Z",
		"2026-11-30T21:48:28.Z", "2026-11-30T21:48:28", "2026-11-30T21:48:28.1+01:00", "2026-11-30T21:48:28,5Z", "2026-11-30T21:48:28.1ZZ", "2026-12-31T23:59:60.5Z",
		"2026-12-31T23:59:60Z", "2027-01-01T00:00:00.5Z", "2026-11-30T21:48:28Zulu",
	} {
		m, rest, ok := cutDateTime(s)
		want, full := m.full()
		got, same := c.sameSecond(s)
		if same && (!ok || rest != "" || !full || !got.Equal(want)) {
			t.Errorf("%s: %v, want %v (rest %q)", s, got, want, rest)
		}
		if ok && rest == "" && full {
			c.learnSecond(s, want)
			if got, same := c.sameSecond(s); s[len(s)-1] == 'Z' && (!same || !got.Equal(want)) {
				t.Errorf("%s: %v %v, want %v", s, got, same, want)
			}
		}
	}
}
