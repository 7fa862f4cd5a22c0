package logparse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadCRI(t *testing.T) {
	const pre = "2026-11-30T21:51:02.60035585Z stderr F "
	type short struct {
		line, lines int
		format      Format
		message     string
		problem     string
	}
	tests := []struct {
		name, in string
		want     []short
	}{
		{"plain", "2026-11-30T21:51:02.60035585Z stdout F boom\n", []short{{1, 1, FormatPlain, "boom", ""}}},
		{"empty message", pre + "\n2026-11-30T21:51:02Z stdout F\n", []short{{1, 1, FormatPlain, "", ""}, {2, 1, FormatPlain, "", ""}}},
		{"klog with lines behind", pre + klogNoLeader + pre + "\tmore\n" + pre + klogNoLeader,
			[]short{{1, 2, FormatKlog, "watch chan error: etcdserver: no leader\n\tmore", ""}, {3, 1, FormatKlog, "watch chan error: etcdserver: no leader", ""}}},
		{"zap", pre + zapLeader, []short{{1, 1, FormatZapJSON, "5c76a90ae78bcee7 became leader at term 4", ""}}},
		{"joined", "2026-11-30T21:51:02Z stdout P one \n2026-11-30T21:51:02Z stdout P two \n2026-11-30T21:51:02Z stdout F three\n",
			[]short{{1, 3, FormatPlain, "one two three", ""}}},
		{"joined to the end", "2026-11-30T21:51:02Z stdout P one \n2026-11-30T21:51:02Z stdout P two", []short{{1, 2, FormatPlain, "one two", ""}}},
		{"other stream between", "2026-11-30T21:51:02Z stdout P one\n2026-11-30T21:51:02Z stderr F x\n",
			[]short{{1, 1, FormatPlain, "one", ""}, {2, 1, FormatPlain, "x", ""}}},
		{"unwrapped line between", "2026-11-30T21:51:02Z stdout P one\nx\n", []short{{1, 1, FormatPlain, "one", ""}, {2, 1, FormatPlain, "x", ""}}},
		{"no tag", "2026-11-30T21:51:02Z stdout X one\n", []short{{1, 1, FormatPlain, "2026-11-30T21:51:02Z stdout X one", ""}}},
		{"no stream", "2026-11-30T21:51:02Z something F one\n", []short{{1, 1, FormatPlain, "2026-11-30T21:51:02Z something F one", ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []short
			for _, r := range readAll(t, tt.in, Options{}) {
				got = append(got, short{r.Line, r.Lines, r.Format, r.Message, r.Problem})
				if r.Format == FormatPlain && r.Component == "" && strings.HasPrefix(r.Text, "2026") && r.Time.IsZero() {
					t.Errorf("no time: %q", r.Text)
				}
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(short{})); diff != "" {
				t.Errorf("records differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadCRIBounded(t *testing.T) {
	piece := "2026-11-30T21:51:02Z stdout P " + strings.Repeat("x", 16<<10) + "\n"
	const n = 100
	rec := readOne(t, strings.Repeat(piece, n), Options{})
	if rec.Lines != n || len(rec.Message) != MaxLine || rec.Problem != "line cut: 589824 bytes not kept" {
		t.Errorf("%d lines, %d bytes, problem %q", rec.Lines, len(rec.Message), rec.Problem)
	}
}
