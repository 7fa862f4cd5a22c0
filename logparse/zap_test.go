package logparse

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readAll reads a text in one go; the text must not end in an error.
func readAll(t testing.TB, text string, opts Options) []Record {
	t.Helper()
	var out []Record
	for rec, err := range Read(t.Context(), strings.NewReader(text), opts) {
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		out = append(out, rec)
	}
	return out
}

// readOne reads a text of one record.
func readOne(t testing.TB, text string, opts Options) Record {
	t.Helper()
	recs := readAll(t, text, opts)
	if len(recs) != 1 {
		t.Fatalf("%d records, want 1: %q", len(recs), text)
	}
	return recs[0]
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestReadZap(t *testing.T) {
	got := readOne(t, `{"level":"warn","ts":"2026-11-30T21:02:46.480888Z","logger":"raft","caller":"rafthttp/peer.go:12","msg":"a \"b\"","n":1,"took":"1.5ms","list":["x",1],"error":"e"}`, Options{})
	want := Record{
		Line: 1, Lines: 1, Time: at("2026-11-30T21:02:46.480888Z"), Format: FormatZapJSON, Component: ComponentEtcd,
		Level: LevelWarn, Caller: "rafthttp/peer.go:12", Message: `a "b"`,
		Fields: Fields{{"logger", "raft"}, {"n", "1"}, {"took", "1.5ms"}, {"list", `["x",1]`}, {"error", "e"}},
		Text:   got.Text,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record differs (-want +got):\n%s", diff)
	}
}

func TestReadZapDamage(t *testing.T) {
	tests := []struct{ name, in, problem, message string }{
		{"good", zapLeader, "", "5c76a90ae78bcee7 became leader at term 4"},
		{"cut in the message", `{"level":"info","ts":"2026-11-30T21:02:46Z","caller":"raft/raft.go:1","msg":"5c76a`, "json ends early", ""},
		{"cut in a field", `{"level":"info","ts":"2026-11-30T21:02:46Z","msg":"slow fdatasync","took":"1.`, "json ends early", "slow fdatasync"},
		{"cut at once", `{"level":`, "json ends early", ""},
		{"two in a line", `{"level":"info","ts":"2026-11-30T21:02:46Z","msg":"a"}{"x"}`, "text after the json object", "a"},
		{"broken", `{"level":"info" "ts":1}`, "json is broken", ""},
		{"no time", `{"level":"info","msg":"a"}`, "no readable ts", "a"},
		{"bad time", `{"level":"info","ts":"soon","msg":"a"}`, "no readable ts", "a"},
		{"nul bytes before", "\x00\x00" + zapLeader, "2 NUL bytes skipped", "5c76a90ae78bcee7 became leader at term 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := readOne(t, tt.in, Options{Component: ComponentEtcd})
			if got.Format != FormatZapJSON || got.Problem != tt.problem || got.Message != tt.message {
				t.Errorf("format %s, problem %q, message %q; want problem %q, message %q", got.Format, got.Problem, got.Message, tt.problem, tt.message)
			}
		})
	}
}

func TestZapTime(t *testing.T) {
	for in, want := range map[string]string{
		`"ts":"2026-11-30T21:02:46.1+0100"`: "2026-11-30T20:02:46.1Z",
		`"ts":1796072566.25`:                "2026-11-30T21:02:46.25Z",
		`"time":"2026-11-30T21:02:46Z"`:     "2026-11-30T21:02:46Z",
	} {
		got := readOne(t, `{"level":"info",`+in+`,"msg":"a"}`, Options{})
		if !got.Time.Equal(at(want)) || got.Problem != "" || got.Inferred != 0 {
			t.Errorf("%s: time %v, problem %q; want %s", in, got.Time, got.Problem, want)
		}
	}
}

// Whose line it is depends on the file that printed it.
func TestZapComponent(t *testing.T) {
	tests := []struct {
		name, in string
		stream   Component
		want     Component
	}{
		{"etcd's own", zapLeader, "", ComponentEtcd},
		{"client in an API server", zapClient, ComponentAPIServer, ComponentAPIServer},
		{"client of who knows", zapClient, "", ComponentUnknown},
		{"client of 1.19, without a logger", `{"level":"warn","ts":"2026-11-30T21:02:46Z","caller":"clientv3/retry_interceptor.go:61","msg":"x"}`, ComponentAPIServer, ComponentAPIServer},
		{"an operator's", `{"level":"info","ts":"2026-11-30T21:02:46Z","caller":"controller/controller.go:12","msg":"Reconciling"}`, "", ComponentUnknown},
		{"etcd in k3s", zapSlowApply, ComponentUnknown, ComponentEtcd},
	}
	for _, tt := range tests {
		if got := readOne(t, tt.in, Options{Component: tt.stream}); got.Component != tt.want {
			t.Errorf("%s: component %q, want %q", tt.name, got.Component, tt.want)
		}
	}
}
