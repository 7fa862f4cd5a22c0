package logparse

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestKlogHeader(t *testing.T) {
	tests := []struct {
		in      string
		message string // "-" if it is no header
	}{
		{"I1130 21:02:47.721669    1230 flags.go:64] FLAG: --v=\"2\"", `FLAG: --v="2"`},
		{"E1130 21:02:47.721669       1 reflector.go:5]", ""},
		{"E1130 21:02:47.721669       1 reflector.go:5] ", ""},
		{"F1130 21:02:47.721669 1234567 controllermanager.go:300] leaderelection lost", "leaderelection lost"},
		{"W1130 21:02:47.721669 12345678 pkg/a/b.go:5] x]y", "x]y"},
		{"D1130 21:02:47.721669    1230 flags.go:64] x", "-"},
		{"I1130 21:02:47,721669    1230 flags.go:64] x", "-"},
		{"I1130 21:02:47.72166     1230 flags.go:64] x", "-"},
		{"I1130 21:02:47.721669    1230 flags.go] x", "-"},
		{"I1130 21:02:47.721669    1230 flags.go:x] x", "-"},
		{"I1130 21:02:47.721669    1230 no bracket here", "-"},
		{"I1130 21:02:47.721669         flags.go:64] x", "-"},
		{" I1130 21:02:47.721669    1230 flags.go:64] x", "-"},
		{"I1130 21:02:47.721669", "-"},
		{"It is a plain line that begins with a capital I", "-"},
		{"", "-"},
	}
	for _, tt := range tests {
		n, ok := klogHeader(tt.in)
		switch {
		case ok != (tt.message != "-"):
			t.Errorf("klogHeader(%q): %v", tt.in, ok)
		case ok && tt.in[n:] != tt.message:
			t.Errorf("klogHeader(%q): message %q, want %q", tt.in, tt.in[n:], tt.message)
		}
	}
}

func TestReadKlog(t *testing.T) {
	ref := Options{Component: ComponentScheduler, Reference: at("2026-11-30T00:00:00Z")}
	got := readOne(t, klogScheduled, ref)
	want := Record{
		Line: 1, Lines: 1, Time: at("2026-11-30T21:09:12.700001Z"), Inferred: InferredYear | InferredZone | AssumedZone,
		Format: FormatKlog, Component: ComponentScheduler, Level: LevelInfo, Caller: "schedule_one.go:314",
		Message: "Successfully bound pod to node",
		Fields: Fields{
			{"pod", "shop/web-5d4f8c7b9-x2x2p"}, {"node", "node-1"}, {"evaluatedNodes", "1"}, {"feasibleNodes", "1"},
		},
		Signatures: []string{"sched-bound"},
		Text:       strings.TrimSuffix(klogScheduled, "\n"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record differs (-want +got):\n%s", diff)
	}
}

func TestKlogBlocks(t *testing.T) {
	panicText := "F1130 21:02:47.721669       1 controllermanager.go:300] leaderelection lost\n" +
		"goroutine 1 [running]:\nmain.main()\n\t/src/main.go:12 +0x1d\n\ngoroutine 7 [select]:\n"
	tests := []struct {
		name, in string
		lines    []int
		formats  string
	}{
		{"trace", klogTrace + klogNoLeader, []int{5, 1}, "klog klog"},
		{"goroutines after a fatal line", panicText + klogNoLeader, []int{6, 1}, "klog klog"},
		{"zap line between", klogNoLeader + zapClient + klogNoLeader, []int{1, 1, 1}, "klog zap-json klog"},
		{"audit line between", klogNoLeader + auditUpdate + "x\n", []int{1, 1, 1}, "klog audit plain"},
		{"plain lines before", "Log file created at\nx\n" + klogNoLeader + "y\n", []int{1, 1, 2}, "noise noise klog"},
		{"a line with its own stamp", klogNoLeader + "2026/11/30 21:08:53 http: TLS handshake error\n" + klogNoLeader, []int{1, 1, 1}, "klog go-log klog"},
		{"a cut line of zap", klogNoLeader + `{"level":"warn","ts":"2026` + "\n", []int{1, 1}, "klog zap-json"},
		{"empty lines", klogNoLeader + "\n\n" + klogNoLeader, []int{3, 1}, "klog klog"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var lines []int
			var formats []string
			for _, rec := range readAll(t, tt.in, Options{}) {
				lines = append(lines, rec.Lines)
				formats = append(formats, string(rec.Format))
			}
			if diff := cmp.Diff(tt.lines, lines); diff != "" {
				t.Errorf("lines differ (-want +got):\n%s", diff)
			}
			if got := strings.Join(formats, " "); got != tt.formats {
				t.Errorf("formats %q, want %q", got, tt.formats)
			}
		})
	}
}

func TestKlogBlockBounded(t *testing.T) {
	const n = 5000
	text := klogNoLeader + strings.Repeat(strings.Repeat("é", 40)+"\n", n) + klogNoLeader
	recs := readAll(t, text, Options{})
	if len(recs) != 2 || recs[0].Lines != n+1 {
		t.Fatalf("%d records, the first of %d lines", len(recs), recs[0].Lines)
	}
	kept := len(recs[0].Message)
	if kept > MaxBlock || kept < MaxBlock-200 {
		t.Errorf("%d bytes kept", kept)
	}
	if !strings.HasPrefix(recs[0].Problem, "block cut: ") {
		t.Errorf("problem %q", recs[0].Problem)
	}
	if recs[1].Problem != "" {
		t.Errorf("problem of the next record: %q", recs[1].Problem)
	}
}

func TestParseStructured(t *testing.T) {
	tests := []struct {
		name, in, message string
		fields            Fields
	}{
		{"message only", `"Caches are synced"`, "Caches are synced", nil},
		{"strings", `"a \"b\"" err="x \"y\" z" pod="ns/n"`, `a "b"`, Fields{{"err", `x "y" z`}, {"pod", "ns/n"}}},
		{"bare values", `"m" n=1 ok=true e=<nil> d=1.5s r=null`, "m", Fields{{"n", "1"}, {"ok", "true"}, {"e", "<nil>"}, {"d", "1.5s"}, {"r", "null"}}},
		{"json", `"m" id={"Type":"containerd","ID":"a} b"} pods=["a/b","c/d"] x=1`, "m", Fields{{"id", `{"Type":"containerd","ID":"a} b"}`}, {"pods", `["a/b","c/d"]`}, {"x", "1"}}},
		{"go structs", `"m" c={Foo:bar Baz:[a b]} k=map[a:1 b:2] x=1`, "m", Fields{{"c", "{Foo:bar Baz:[a b]}"}, {"k", "map[a:1 b:2]"}, {"x", "1"}}},
		{"unclosed bracket", `"m" c=[a b x=1`, "m", Fields{{"c", "[a b"}, {"x", "1"}}},
		{"several lines", "\"m\" config=<\n\tapiVersion: v1\n\t\tdeep: 1\n\n >\n", "m", Fields{{"config", "apiVersion: v1\n\tdeep: 1\n"}}},
		{"several lines and more", "\"m\" a=<\n\tx\n > b=\"y\"", "m", Fields{{"a", "x"}, {"b", "y"}}},
		{"several lines cut", "\"m\" a=<\n\tx", "m", Fields{{"a", "<"}, {"", "\tx"}}},
		{"empty values", `"m" a="" b= c=1`, "m", Fields{{"a", ""}, {"b", ""}, {"c", "1"}}},
		{"blank in a bare value", `"m" a=b c d e=1`, "m", Fields{{"a", "b c d"}, {"e", "1"}}},
		{"odd keys", `"m" a.b/c-d:e=1 GOGC=""`, "m", Fields{{"a.b/c-d:e", "1"}, {"GOGC", ""}}},
		{"bad escape", `"m" a="x\qy"`, "m", Fields{{"a", `x\qy`}}},
		{"text behind the quote", `"m" is no message`, "-", nil},
		{"quote not closed", `"m`, "-", nil},
		{"no quote", `m a=1`, "-", nil},
		{"nothing", ``, "-", nil},
		{"lines behind the fields", "\"m\" a=1\ngoroutine 1 [running]:", "m", Fields{{"a", "1"}, {"", "goroutine 1 [running]:"}}},
		{"lines behind the message", "\"m\"\n\npanic: x", "m", Fields{{"", "\npanic: x"}}},
		{"blank lines behind", "\"m\"\n\n", "m", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			message, fields, ok := parseStructured(tt.in, nil)
			if !ok {
				message = "-"
			}
			if message != tt.message {
				t.Errorf("message %q, want %q", message, tt.message)
			}
			if diff := cmp.Diff(tt.fields, fields); diff != "" {
				t.Errorf("fields differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A line that is all fields must not cost more than a look.
func TestParseStructuredHostile(t *testing.T) {
	start := time.Now()
	for _, unit := range []string{" a=[", ` a="`, " a=<", " a={[", " a"} {
		parseStructured(`"m"`+strings.Repeat(unit, MaxLine/len(unit)), nil)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

// What is unquoted by hand is what the standard library makes of it.
func TestUnquoted(t *testing.T) {
	for _, s := range []string{
		`"a"`, `"a \"b\" \\ c\n\td"`, `"\x41é"`, `"\u00e9\a\v\101"`, `"\'"`, `"\""`, `"\\"`, `"x\q"`, "\"a\\\"\nb\"", `""`, `"\\\\n"`,
	} {
		want, err := strconv.Unquote(s)
		if err != nil {
			want = jsonString(s)
		}
		if got := unquoted(s); got != want {
			t.Errorf("%s: %q, want %q", s, got, want)
		}
	}
}
