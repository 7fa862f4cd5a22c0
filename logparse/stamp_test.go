package logparse

import (
	"testing"
	"time"
)

func TestParseStamp(t *testing.T) {
	tests := []struct{ in, want string }{
		{"2026-11-30T21:02:46.480Z", "2026-11-30T21:02:46.48Z"},        // to 3.5.7
		{"2026-11-30T21:02:46.48088Z", "2026-11-30T21:02:46.48088Z"},   // 3.5.8: zeros dropped
		{"2026-11-30T21:02:46Z", "2026-11-30T21:02:46Z"},               // 3.5.8: no fraction
		{"2026-11-30T21:02:46.480888Z", "2026-11-30T21:02:46.480888Z"}, // 3.6
		{"2026-11-30T21:02:46.480888+0800", "2026-11-30T13:02:46.480888Z"},
		{"2026-11-30T21:02:46-0330", "2026-12-01T00:32:46Z"},
		{"2026-11-30T21:02:46.5+08:00", "2026-11-30T13:02:46.5Z"},
		{"2026-11-30T21:02:46.123456789Z", "2026-11-30T21:02:46.123456789Z"},
		{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"}, // a leap second
		{"2026-02-29T00:00:00Z", ""},
		{"2026-13-01T00:00:00Z", ""},
		{"2026-11-31T00:00:00Z", ""},
		{"2026-11-30T24:00:00Z", ""},
		{"2026-11-30T21:02:46", ""},
		{"2026-11-30T21:02:46.Z", ""},
		{"2026-11-30T21:02:46.1234567890Z", ""},
		{"2026-11-30T21:02:46+8", ""},
		{"2026-11-30T21:02:46+9900", ""},
		{"2026-11-30", ""},
		{"yesterday", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got, ok := parseStamp(tt.in)
		if !ok {
			if tt.want != "" {
				t.Errorf("parseStamp(%q) failed", tt.in)
			}
			continue
		}
		if s := got.Format(time.RFC3339Nano); s != tt.want {
			t.Errorf("parseStamp(%q) = %s, want %s", tt.in, s, tt.want)
		}
	}
}

func TestLeadingStamp(t *testing.T) {
	tests := []struct {
		in, want string
		inferred Inferred
	}{
		{"2026-11-30T21:51:02.5Z boom", "2026-11-30T21:51:02.5Z", 0},
		{"2026-11-30T21:51:02+01:00\tboom", "2026-11-30T20:51:02Z", 0},
		{"2026/11/30 21:08:53 WARNING: [core] grpc", "2026-11-30T21:08:53Z", InferredZone},
		{"2026/11/30 21:08:53.000001 x", "2026-11-30T21:08:53.000001Z", InferredZone},
		{"2026-11-30 21:08:53.123456 W | etcdserver: x", "2026-11-30T21:08:53.123456Z", InferredZone},
		{"[2026-11-30 21:51:02,5] x", "2026-11-30T21:51:02.5Z", InferredZone},
		{"2026/11-30 21:08:53 x", "", 0},
		{"2026/11/31 21:08:53 x", "", 0},
		{"20261130 21:08:53 x and more", "", 0},
		{"no stamp at all in this line", "", 0},
	}
	for _, tt := range tests {
		m, _, ok := leadingStamp(tt.in)
		c := newClock(Options{})
		got, inferred := c.at(m, time.Time{})
		if !ok {
			if tt.want != "" {
				t.Errorf("leadingStamp(%q) failed", tt.in)
			}
			continue
		}
		if s := got.Format(time.RFC3339Nano); s != tt.want || inferred&^AssumedZone != tt.inferred {
			t.Errorf("leadingStamp(%q) = %s %v, want %s %v", tt.in, s, inferred.Names(), tt.want, tt.inferred.Names())
		}
	}
}
