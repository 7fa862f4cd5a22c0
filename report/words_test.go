package report

import (
	"strings"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0 s", 40 * time.Millisecond: "40 ms", 420 * time.Millisecond: "0.42 s", 4120 * time.Millisecond: "4.1 s",
		12300 * time.Millisecond: "12 s", 63 * time.Second: "1 min 3 s", 2 * time.Minute: "2 min", 59*time.Second + 900*time.Millisecond: "1 min",
		2*time.Hour + 4*time.Minute: "2 h 4 min", 30 * time.Hour: "1 d 6 h", -2 * time.Second: "−2 s",
	} {
		if got := duration(in); got != want {
			t.Errorf("duration(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "−1,000"} {
		if got := count(in); got != want {
			t.Errorf("count(%d) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 4 << 20: "4.0 MiB", 200 << 30: "200 GiB"} {
		if got := size(in); got != want {
			t.Errorf("size(%d) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[int]string{1: "1 entry", 2: "2 entries"} {
		if got := plural(in, "entry"); got != want {
			t.Errorf("plural(%d) = %q", in, got)
		}
	}
}

func TestPrintable(t *testing.T) {
	for _, tc := range []struct{ name, got, want string }{
		{"line breaks of prose", prose(" a\r\n b\tc "), "a b c"},
		{"line breaks of a quotation", verbatim("a\nb\tc\n"), `a\nb\tc`},
		{"direction marks", verbatim("\u202e\u2066x\u200f"), `\u202e\u2066x\u200f`},
		{"invisible marks", verbatim("\u200b\ufeff\u00ad\U000e0041"), `\u200b\ufeff\u00ad\U000e0041`},
		{"odd spaces", verbatim("a\u00a0b\u3000"), `a\u00a0b\u3000`},
		{"escapes of terminals", verbatim("\x1b[31m"), `\x1b[31m`},
		{"broken UTF-8", verbatim("a\xffb"), `a\xffb`},
		{"letters of other scripts", verbatim("镜像 שלום é e\u0301"), "镜像 שלום é e\u0301"},
		{"stacked accents", verbatim("e\u0301\u0301\u0301"), "e\u0301\u0301" + `\u0301`},
		{"cut", cut("äöü", 2), "äö… (1 more characters)"},
		{"clip", clip("abcdef", 4), "abc…"},
		{"clip the middle", clipMiddle("web-7f6b4c9d5-x2k9p", 11), "web-7…x2k9p"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, tc.got, tc.want)
		}
	}
	if n := len(verbatim(strings.Repeat("\x00", 1<<20))); n > 10*maxVerbatim {
		t.Errorf("a megabyte of zeros became %d bytes", n)
	}
}

func TestClockColumns(t *testing.T) {
	c := newClock(nil, *at("10:00:00"))
	late := at("10:00:00").AddDate(0, 0, 1)
	for _, tc := range []struct {
		name  string
		times []*time.Time
		want  string
	}{
		{"one day", []*time.Time{at("10:00:00"), nil}, "10:00:00.000"},
		{"two days", []*time.Time{at("10:00:00"), &late}, "2026-09-14T10:00:00.000Z"},
	} {
		if got := c.column(tc.times)(at("10:00:00")); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := c.stamp(&late); got != "2026-09-15 10:00:00.000" {
		t.Errorf("stamp of another day: %q", got)
	}
	if got := c.window(*at("23:59:59"), late); got != "23:59:59–2026-09-15 10:00:00 UTC" {
		t.Errorf("window over midnight: %q", got)
	}
}

func TestTicksAreRoundAndFew(t *testing.T) {
	zone := time.FixedZone("IST", 5*3600+1800)
	for _, span := range []time.Duration{time.Millisecond, time.Second, 63 * time.Second, time.Hour, 26 * time.Hour, 90 * 24 * time.Hour, 200 * 365 * 24 * time.Hour} {
		from := *at("21:10:07.4")
		ticks := axis{from: from, to: from.Add(span), right: 1}.ticks(zone)
		if len(ticks) > maxTicks+1 {
			t.Errorf("%v: %d ticks", span, len(ticks))
		}
		if span > time.Second && len(ticks) < 2 {
			t.Errorf("%v: %d ticks", span, len(ticks))
		}
	}
	day := axis{from: *at("00:00:00"), to: at("00:00:00").Add(4 * 24 * time.Hour), right: 1}.ticks(zone)
	if got := day[0].At.In(zone).Format("15:04"); got != "12:00" {
		t.Errorf("half-daily ticks stand at %s", got)
	}
}
