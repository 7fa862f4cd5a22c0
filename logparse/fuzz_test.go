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
		message, fields, ok := parseStructured(s)
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
