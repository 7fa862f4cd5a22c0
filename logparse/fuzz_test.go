package logparse

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzRead reads any stream twice, whole and in pieces: no panic, every line
// accounted for, and the same records.
func FuzzRead(f *testing.F) {
	for _, s := range []string{mixed, klogTrace, zapSlowApply, auditCreate, "\x00\n\x00", "2026-11-30T21:51:02Z stdout P x\n"} {
		f.Add([]byte(s), 7)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		recs := readAll(t, string(data), Options{})
		checkRecords(t, data, recs)
		for _, r := range recs {
			RaftEventOf(r)
			APITraceOf(r)
			EtcdTraceOf(r)
			SlowApplyOf(r)
		}
		if n < 1 {
			return
		}
		var again []Record
		for rec, err := range Read(t.Context(), &chunkReader{s: string(data), n: n}, Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, rec)
		}
		if diff := cmp.Diff(recs, again); diff != "" {
			t.Errorf("read %d bytes at a time (-whole +pieces):\n%s", n, diff)
		}
	})
}

// fuzzLine reads one line as if a format had claimed it.
func fuzzLine(t *testing.T, s string, format Format) {
	if bytes.ContainsAny([]byte(s), "\n\x00") || len(s) > MaxLine {
		return
	}
	for _, rec := range readAll(t, s, Options{Year: 2026}) {
		if format == rec.Format && rec.Problem == "" && rec.Level == LevelUnknown && format == FormatKlog {
			t.Errorf("%q: no level", s)
		}
		if rec.Problem == "" && rec.Time.IsZero() && (format == FormatAudit && rec.Format == format) {
			t.Errorf("%q: no time and no problem", s)
		}
	}
}

func FuzzZap(f *testing.F) {
	for _, s := range []string{zapSlowApply, zapLeader, zapClient, zapTrace, `{"level":"info","ts":1.5,"msg":""}`} {
		f.Add(s[:len(s)-1])
	}
	f.Fuzz(func(t *testing.T, s string) { fuzzLine(t, s, FormatZapJSON) })
}

func FuzzAudit(f *testing.F) {
	for _, s := range []string{auditUpdate, auditCreate} {
		f.Add(s[:len(s)-1])
	}
	f.Fuzz(func(t *testing.T, s string) { fuzzLine(t, s, FormatAudit) })
}

func FuzzKlog(f *testing.F) {
	for _, s := range []string{klogNoLeader, klogRetrying, klogScheduled, klogTrace} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fuzzLine(t, s, FormatKlog)
		message, fields, ok := parseStructured(s, nil)
		if !ok {
			return
		}
		kept := len(message)
		for _, x := range fields {
			kept += len(x.Value)
		}
		if kept > 3*len(s) { // a bad byte in a literal becomes U+FFFD
			t.Errorf("%q: %d bytes of %d", s, kept, len(s))
		}
	})
}

// FuzzPeel takes wrappers off: what is left is no longer than the line, unless it
// was unescaped, and a second time gives the same.
func FuzzPeel(f *testing.F) {
	f.Add("2026-11-30T21:51:02.60035585Z stdout F boom")
	f.Add("2026-11-30T21:51:02+01:00 stderr P:x boom")
	for _, tt := range framingTests {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, known := range []bool{false, true} {
			p := peel(s, func(uint64) bool { return known })
			if len(p.text) > len(s) {
				t.Errorf("%q: rest %q is longer", s, p.text)
			}
			if p.chain == 0 && p.text != s || p.depth > maxFraming {
				t.Errorf("%q: cut to %q, %d deep", s, p.text, p.depth)
			}
			chainNames(p.chain)
		}
	})
}

// formatSamples are lines of the formats that have no fuzz target of their own
// above, by the format's name.
var formatSamples = map[Format][]string{
	FormatCapnslog:   {innerCaps, "2017-01-11 14:19:14.704753 E | etcdhttp: x [merged 7 repeated lines in 1.37s]"},
	FormatZapConsole: {"2026-11-30T21:48:28.1Z\twarn\twal/wal.go:805\tslow fdatasync\t{\"took\": \"1.1s\"}", "2026-11-30T21:48:28Z  info  a/b.go:1  x {\"k\": 1}"},
	FormatKlogJSON:   {`{"ts":1796075308100.5,"caller":"a/b.go:1","msg":"m","v":0,"k":"v"}`, `{"ts":1796075308,"msg":"m","err":"e"}`},
	FormatJSON:       {`{"time":"2026-11-30T21:48:28Z","level":"ERROR","msg":"m"}`, `{"log":"x","severity":"INFO","source":"embed"}`},
	FormatLogrus:     {`time="2026-11-30T21:48:28Z" level=warning msg="said \"so\"" k=v`, "INFO[0039] text   key=value"},
	FormatGoLog:      {"2026/11/30 21:48:28 [INFO] said", "raft2025/06/13 04:49:55.759589 INFO: 1d became follower at term 2"},
	FormatPanic:      {"panic: boom", "goroutine 12 [running, 3 minutes]:", "fatal error: all goroutines are asleep"},
}

func fuzzFormat(f *testing.F, format Format) {
	for _, s := range formatSamples[format] {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { fuzzLine(t, s, format) })
}

func FuzzCapnslog(f *testing.F)   { fuzzFormat(f, FormatCapnslog) }
func FuzzZapConsole(f *testing.F) { fuzzFormat(f, FormatZapConsole) }
func FuzzKlogJSON(f *testing.F)   { fuzzFormat(f, FormatKlogJSON) }
func FuzzJSONLog(f *testing.F)    { fuzzFormat(f, FormatJSON) }
func FuzzLogrus(f *testing.F)     { fuzzFormat(f, FormatLogrus) }
func FuzzGoLog(f *testing.F)      { fuzzFormat(f, FormatGoLog) }
func FuzzPanic(f *testing.F)      { fuzzFormat(f, FormatPanic) }

// Each sample is of its format and has a time, where the format has one.
func TestFormatSamples(t *testing.T) {
	for format, samples := range formatSamples {
		for _, s := range samples {
			rec := readOne(t, s, Options{})
			if rec.Format != format || rec.Problem != "" && rec.Problem != "no readable ts" || rec.Message == "" {
				t.Errorf("%q: %+v", s, rec)
			}
		}
	}
}

// FuzzWhole reads the documents that are no lines.
func FuzzWhole(f *testing.F) {
	f.Add([]byte(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{"auditID":"a","stageTimestamp":"2026-11-30T21:02:50.779360Z"}]}`))
	f.Add([]byte("__CURSOR=s=1\n__REALTIME_TIMESTAMP=1796075462600000\nMESSAGE\n\x03\x00\x00\x00\x00\x00\x00\x00a\nb\n\n"))
	f.Add([]byte("\xff\xfea\x00\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRecords(t, data, readAll(t, string(data), Options{}))
	})
}

func FuzzParseStamp(f *testing.F) {
	for _, s := range []string{"2026-11-30T21:02:46.480888Z", "2026-11-30T21:02:46+0800", "2026-02-29T00:00:00Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := time.Parse(time.RFC3339Nano, s)
		got, ok := parseStamp(s)
		if ok && err == nil && !got.Equal(want) {
			t.Errorf("%q = %v, want %v", s, got, want)
		}
	})
}

func FuzzIdentify(f *testing.F) {
	f.Add("etcd.log", []byte(mixed))
	f.Add("", []byte(klogTrace))
	f.Fuzz(func(t *testing.T, name string, head []byte) {
		id := Identify(name, head)
		if id.Component != "" && id.Why == "" {
			t.Errorf("%+v: no reason", id)
		}
		if id.Format == "" && (id.Component != "" || id.Node != "") {
			t.Errorf("%+v without a format", id)
		}
	})
}
