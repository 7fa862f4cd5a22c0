package logparse

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// inner is a line of each kind that a wrapper may hold.
const (
	innerZap  = `{"level":"info","ts":"2026-11-30T21:48:28.1Z","logger":"raft","caller":"v3@v3.6.0/raft.go:988","msg":"5c76a90ae78bcee7 became leader at term 4"}`
	innerKlog = `E1130 21:48:28.100000    2041 watcher.go:342] watch chan error: etcdserver: no leader`
	innerCaps = `2026-11-30 21:48:28.100000 W | etcdserver: server is likely overloaded`
)

// framingTests are wrappers with a line inside.
var framingTests = []struct {
	name, in string
	chain    string // the framings, outermost first
	host     string // of the record, with its program, pod and container
	text     string
	time     string // of the innermost wrapper, "" for none
}{
	{"cri", "2026-11-30T21:51:02.6Z stderr F " + innerKlog, "cri", "", innerKlog, "2026-11-30T21:51:02.6Z"},
	{"cri in a zone", "2026-11-30T22:51:02.600000000+01:00 stdout F boom", "cri", "", "boom", "2026-11-30T21:51:02.6Z"},
	{"docker", `{"log":"` + innerKlog + `\n","stream":"stderr","time":"2026-11-30T21:51:02.6Z"}`, "docker", "", innerKlog, "2026-11-30T21:51:02.6Z"},
	{"docker with attributes", `{"log":"a\tb\r\n","stream":"stdout","attrs":{"tag":"x"},"time":"2026-11-30T21:51:02.6Z"}`, "docker", "", "a\tb", "2026-11-30T21:51:02.6Z"},
	{"journald json", `{"__CURSOR":"s=1","__REALTIME_TIMESTAMP":"1796075462600000","_HOSTNAME":"cp-1","SYSLOG_IDENTIFIER":"etcd","_PID":"7","MESSAGE":"boom"}`, "journald-json", "cp-1 etcd", "boom", "2026-11-30T21:51:02.6Z"},
	{"journald json of bytes", `{"MESSAGE":[98,111,195,182],"__REALTIME_TIMESTAMP":"1796075462600000"}`, "journald-json", "", "boö", "2026-11-30T21:51:02.6Z"},
	{"journald json twice", `{"MESSAGE":["one","two"],"__REALTIME_TIMESTAMP":"1796075462600000"}`, "journald-json", "", "one", "2026-11-30T21:51:02.6Z"},
	{"journald json-pretty", `	"MESSAGE" : "` + innerCaps + `",`, "journald-json", "", innerCaps, ""},
	{"journald short-full", "Mon 2026-11-30 21:51:02 UTC cp-1 kubelet[7]: " + innerKlog, "journald-full", "cp-1 kubelet", innerKlog, "2026-11-30T21:51:02Z"},
	{"journald short-full in a zone", "Mon 2026-11-30 22:51:02 +01 cp-1 kubelet[7]: x", "journald-full", "cp-1 kubelet", "x", "2026-11-30T21:51:02Z"},
	{"journald short-unix", "1796075462.600000 cp-1 kubelet[7]: x", "journald-unix", "cp-1 kubelet", "x", "2026-11-30T21:51:02.6Z"},
	{"journald short-iso", "2026-11-30T22:51:02+0100 cp-1 etcd[1442]: " + innerZap, "syslog-iso", "cp-1 etcd", innerZap, "2026-11-30T21:51:02Z"},
	{"rsyslog", "2026-11-30T22:51:02.600000+01:00 cp-1 k8s.kube-apiserver[608]: " + innerKlog, "syslog-iso", "cp-1 k8s.kube-apiserver", innerKlog, "2026-11-30T21:51:02.6Z"},
	{"syslog", "Nov 30 21:51:02 cp-1 etcd[52445]: server is likely overloaded", "syslog", "cp-1 etcd", "server is likely overloaded", "11-30 21:51:02"},
	{"syslog, short-precise", "Nov  3 21:51:02.600000 cp-1 kubelet[1]: x", "syslog", "cp-1 kubelet", "x", "11-3 21:51:02.6"},
	{"syslog without a pid", "Nov 30 21:51:02 cp-1 kube-controller-manager: " + innerKlog, "syslog", "cp-1 kube-controller-manager", innerKlog, "11-30 21:51:02"},
	{"syslog with a priority", "<30>Nov 30 21:51:02 cp-1 etcd[1]: x", "syslog", "cp-1 etcd", "x", "11-30 21:51:02"},
	{"syslog with a numbered month", "11月 30 21:51:02 cp-1 etcd[1]: x", "syslog", "cp-1 etcd", "x", "11-30 21:51:02"},
	{"syslog 5424", `<30>1 2026-11-30T21:51:02.6Z cp-1 etcd 12 ID7 [a@1 k="]\"v"][b@1] boom`, "syslog-5424", "cp-1 etcd", "boom", "2026-11-30T21:51:02.6Z"},
	{"syslog 5424 without data", "<30>1 2026-11-30T21:51:02Z - etcd - - - boom", "syslog-5424", " etcd", "boom", "2026-11-30T21:51:02Z"},
	{"kubectl --prefix", "[pod/etcd-cp-1/etcd] " + innerZap, "kubectl-prefix", " etcd-cp-1/etcd", innerZap, ""},
	{"kubectl --prefix --timestamps", "[pod/a-b/c] 2026-11-30T21:51:02.6Z " + innerKlog, "kubectl-prefix timestamps", " a-b/c", innerKlog, "2026-11-30T21:51:02.6Z"},
	{"kubectl --timestamps", "2026-11-30T21:51:02.6Z " + innerZap, "timestamps", "", innerZap, "2026-11-30T21:51:02.6Z"},
	{"Docker Desktop", "[2026-11-30T21:51:02.6Z][kubelet][I] " + innerKlog, "bracketed", " kubelet", innerKlog, "2026-11-30T21:51:02.6Z"},
	{"stern", "etcd-cp-1 etcd " + innerZap, "stern", " etcd-cp-1/etcd", innerZap, ""},
	{"a tag", "kubelet: " + innerKlog, "tag", " kubelet", innerKlog, ""},
	{"quoted", "> " + innerKlog, "quote", "", innerKlog, ""},
	{"indented and quoted", "\t\t* " + innerKlog, "quote quote", "", innerKlog, ""},
	{"logrus", `time="2026-11-30T21:51:02Z" level=info msg="` + innerKlog + `"`, "logrus", "", innerKlog, "2026-11-30T21:51:02Z"},
	{"dmesg", "[   12.345678] cp-1 etcd[1]: " + innerZap, "dmesg", "cp-1 etcd", innerZap, ""},
	{"Rancher's page", "30/11/2026 9:51:02 PM" + innerKlog, "rancher-ui", "", innerKlog, "2026-11-30 21:51:02"},
	{"colours", "\x1b[33m" + innerKlog + "\x1b[0m", "ansi", "", innerKlog, ""},
	{"an address", "192.0.2.3: " + innerZap, "prefix", "", innerZap, ""},
	{"seconds", "71.704 " + innerZap, "prefix", "", innerZap, ""},
	{"three deep", "Nov 30 21:51:02 cp-1 dockerd[1]: [pod/a/b] 2026-11-30T21:51:03Z stdout F " + innerZap, "syslog kubectl-prefix cri", "cp-1 a/b", innerZap, "2026-11-30T21:51:03Z"},

	{"text", "nothing of note", "", "", "nothing of note", ""},
	{"text with a stamp", "2026-11-30T21:51:02Z started", "", "", "2026-11-30T21:51:02Z started", ""},
	{"text with a colon", "error: it failed", "", "", "error: it failed", ""},
	{"a quoted record", `got "` + innerKlog + `"`, "", "", `got "` + innerKlog + `"`, ""},
	{"a month in text", "May 3 hosts be with you: yes", "", "", "May 3 hosts be with you: yes", ""},
	{"json that is no wrapper", `{"log":"x","severity":"INFO"}`, "", "", `{"log":"x","severity":"INFO"}`, ""},
	{"half a wrapper", `{"log":"x","stream":"stderr","time":"2026-11`, "", "", `{"log":"x","stream":"stderr","time":"2026-11`, ""},
	{"brackets", "[a] [b] c", "", "", "[a] [b] c", ""},
	{"an escape that ends nowhere", "a\x1b[", "", "", "a\x1b[", ""},
}

func TestFramings(t *testing.T) {
	for _, tt := range framingTests {
		t.Run(tt.name, func(t *testing.T) {
			p := peel(tt.in, nil)
			where := ""
			switch {
			case p.pod != "":
				where = " " + p.pod + "/" + p.container
			case p.program != "":
				where = " " + p.program
			}
			at := ""
			switch {
			case !p.outer.IsZero():
				at = p.outer.Format(time.RFC3339Nano)
			case p.stamped && p.stamp.year != 0:
				at = p.stamp.utc().Format(time.DateTime)
			case p.stamped:
				at = time.Date(2026, time.Month(p.stamp.month), p.stamp.day, 0, 0, 0, 0, time.UTC).Add(p.stamp.clock).Format("1-2 15:04:05.999")
			}
			got := []string{strings.Join(chainNames(p.chain), " "), p.host + where, p.text, at}
			if diff := cmp.Diff([]string{tt.chain, tt.host, tt.text, tt.time}, got); diff != "" {
				t.Errorf("chain, place, text and time differ (-want +got):\n%s", diff)
			}
		})
	}
}

// Each wrapper around each format gives the record that the bare line gives.
func TestFramingTimesFormat(t *testing.T) {
	wrappers := []string{
		"2026-11-30T21:48:28.1Z stderr F %", `{"log":"%\n","stream":"stderr","time":"2026-11-30T21:48:28.1Z"}`,
		`{"__REALTIME_TIMESTAMP":"1796075308100000","MESSAGE":"%"}`, "Nov 30 21:48:28 cp-1 prog[1]: %", "2026-11-30T21:48:28+00:00 cp-1 prog[1]: %",
		"Mon 2026-11-30 21:48:28 UTC cp-1 prog[1]: %", "<30>1 2026-11-30T21:48:28Z cp-1 prog 1 - - %", "[pod/p/c] %", "2026-11-30T21:48:28.1Z %",
		"p-1 c %", "prog: %", "> %", "* %", "\t%", "\x1b[1m%\x1b[0m", "[2026-11-30T21:48:28.1Z][u][I] %", "12.5 %",
		"[pod/p/c] 2026-11-30T21:48:28.1Z stdout F %", "Nov 30 21:48:28 cp-1 docker[1]: p-1 c 2026-11-30T21:48:28.1Z %",
	}
	lines := []string{
		innerZap, innerKlog, innerCaps,
		`{"ts":1796075308100.5,"caller":"a/b.go:1","msg":"m","v":0,"k":"v"}`,
		`I1130 21:48:28.100000       1 x.go:1] "quoted" err="a \"b\"" n=1`,
		"2026-11-30T21:48:28.1Z\twarn\twal/wal.go:805\tslow fdatasync\t{\"took\": \"1.1s\"}",
		"2026/11/30 21:48:28 [INFO] said", `time="2026-11-30T21:48:28Z" level=warning msg="said \"so\"" k=v`,
		strings.TrimSuffix(auditUpdate, "\n"),
	}
	opts := Options{Reference: at("2026-11-30T00:00:00Z")}
	for _, line := range lines {
		bare := readOne(t, line, opts)
		for _, w := range wrappers {
			if w == "12.5 %" && bare.Format == FormatGoLog {
				continue // too much looks like it
			}
			text := line
			if strings.HasPrefix(w, "{") {
				text = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(line)
			}
			got := readOne(t, strings.ReplaceAll(w, "%", text), opts)
			if len(got.Framing) == 0 {
				t.Errorf("%q around %q: no framing", w, line)
			}
			if got.Component == ComponentUnknown {
				got.Component = bare.Component
			}
			got.Framing, got.Host, got.Pod, got.Container, got.Text, got.Inferred = nil, "", "", "", bare.Text, bare.Inferred
			if got.Audit != nil {
				*got.Audit = *bare.Audit
			}
			if diff := cmp.Diff(bare, got); diff != "" {
				t.Errorf("%q around %q (-bare +wrapped):\n%s", w, line, diff)
			}
		}
	}
}

// A line that no format claims is behind the wrapper that those before it had, though
// it begins as another wrapper does: "Trace[1]: " looks like a program's tag.
func TestWrapperBeforeContinuation(t *testing.T) {
	const stamp = "2026-11-30T21:04:13.510449Z "
	text := strings.Repeat(stamp+"I1130 21:04:13.510449    2463 a.go:1] \"Started\"\n", 4) +
		stamp + "I1130 21:04:13.510449    2463 trace.go:236] Trace[12]: \"Update\" url:/x (total time: 5003ms):\n" +
		stamp + "Trace[12]: [\"GuaranteedUpdate etcd3\" key:/x 5003ms (21:04:08.506)\n" +
		stamp + "Trace[12]:  ---\"Txn call failed\" err:context deadline exceeded 4999ms (21:04:13.507)]\n" +
		stamp + "Trace[12]: [5.00388074s] [5.00388074s] END\n" +
		stamp + "I1130 21:04:14.510449    2463 a.go:1] \"Done\"\n"
	recs := readAll(t, text, Options{})
	if len(recs) != 6 || recs[4].Lines != 4 || !strings.Contains(recs[4].Message, "Txn call failed") {
		t.Errorf("%d records, %+v", len(recs), recs)
	}
}
