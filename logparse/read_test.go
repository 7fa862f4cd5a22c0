package logparse

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// mixed is a stream of every kind of line.
const mixed = "\ufeffstarting up\r\n" + klogNoLeader + klogTrace + zapSlowApply + "\n" + zapTrace + auditUpdate + auditCreate +
	"2026-11-30T21:51:02.60035585Z stdout F boom\n" +
	"2026-11-30T21:51:02.6Z stderr P I1130 21:51:02.000000       1 a.go:1] \"joi\n" +
	"2026-11-30T21:51:02.6Z stderr F ned\" n=1\n" +
	klogScheduled + zapClient + `{"level":"info","ts":"2026-11-30T21:51:0` + "\n" +
	"\x00\x00\x00" + klogRetrying + "caf\xe9 \xff\n" + "F1130 21:52:00.000000       1 c.go:1] leaderelection lost\npanic: x\n\ngoroutine 1 [running]:\nlast line"

// dumpRecords writes records so that a person can read them.
func dumpRecords(recs []Record) string {
	var b strings.Builder
	for _, r := range recs {
		fmt.Fprintf(&b, "line %d+%d %s %q %s %q", r.Line, r.Lines, r.Format, r.Component, r.Level, r.Caller)
		if !r.Time.IsZero() {
			fmt.Fprintf(&b, " %s %v", r.Time.Format(time.RFC3339Nano), r.Inferred.Names())
		}
		fmt.Fprintf(&b, "\n  message %q\n", r.Message)
		for _, f := range r.Fields {
			fmt.Fprintf(&b, "  field %s = %q\n", f.Key, f.Value)
		}
		if r.Audit != nil {
			fmt.Fprintf(&b, "  audit %+v\n", *r.Audit)
		}
		if r.Signatures != nil {
			fmt.Fprintf(&b, "  signatures %s\n", strings.Join(r.Signatures, " "))
		}
		if r.Problem != "" {
			fmt.Fprintf(&b, "  problem %s\n", r.Problem)
		}
		fmt.Fprintf(&b, "  text %q\n", r.Text)
	}
	return b.String()
}

func TestReadGolden(t *testing.T) {
	got := dumpRecords(readAll(t, mixed, Options{}))
	file := filepath.Join("testdata", "mixed.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("records differ (-want +got):\n%s", diff)
	}
}

// countLines is the number of lines of a stream.
func countLines(data []byte) int {
	if isUTF16(data) {
		data = decodedHead(data)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// checkRecords holds what is true of every reading: all lines belong to a
// record, in order, and the texts are sound.
func checkRecords(t *testing.T, data []byte, recs []Record) {
	t.Helper()
	lines, line := 0, 1
	for _, r := range recs {
		if r.Line < line || r.Lines < 1 || r.Line > lines+r.Lines+1 {
			t.Fatalf("record at line %d+%d, behind one at %d", r.Line, r.Lines, line)
		}
		line = r.Line
		lines += r.Lines
		if r.Shared {
			lines--
		}
		most := MaxText
		if r.Audit != nil {
			most = MaxAuditText
		}
		if len(r.Text) > most || !utf8.ValidString(r.Text) || !utf8.ValidString(r.Message) {
			t.Errorf("line %d: text of %d bytes, valid %v", r.Line, len(r.Text), utf8.ValidString(r.Text))
		}
		for _, f := range r.Fields {
			if !utf8.ValidString(f.Key) || !utf8.ValidString(f.Value) {
				t.Errorf("line %d: field %q is no utf-8", r.Line, f)
			}
		}
		if (r.Format == FormatAudit) != (r.Audit != nil) || !r.Time.IsZero() && r.Time.Location() != time.UTC {
			t.Errorf("line %d: format %s, audit %v, time %v", r.Line, r.Format, r.Audit, r.Time)
		}
		for _, id := range r.Signatures {
			if _, ok := LookupSignature(id); !ok {
				t.Errorf("line %d: signature %q", r.Line, id)
			}
		}
	}
	if want := countLines(data); lines != want {
		t.Errorf("%d lines in records, %d in the stream", lines, want)
	}
}

func TestReadAccounting(t *testing.T) {
	for cut := range len(mixed) {
		data := mixed[:cut]
		checkRecords(t, []byte(data), readAll(t, data, Options{}))
	}
	long := strings.Repeat("x", MaxLine+10)
	for _, data := range []string{
		"", "\n", "\n\n", "\ufeff", "\ufeff\n", "\x00", "a\x00\n\x00", long, long + "\n" + long, klogNoLeader + long + "\n" + klogNoLeader, long + zapLeader,
	} {
		checkRecords(t, []byte(data), readAll(t, data, Options{}))
	}
}

// How the source splits its reads must change nothing.
func TestReadSplit(t *testing.T) {
	want := readAll(t, mixed, Options{})
	read := func(r io.Reader) (out []Record) {
		for rec, err := range Read(t.Context(), r, Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, rec)
		}
		return out
	}
	for cut := range len(mixed) {
		got := read(io.MultiReader(strings.NewReader(mixed[:cut]), strings.NewReader(mixed[cut:])))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("split at byte %d (-want +got):\n%s", cut, diff)
		}
	}
	if diff := cmp.Diff(want, read(iotest.OneByteReader(strings.NewReader(mixed)))); diff != "" {
		t.Errorf("byte by byte (-want +got):\n%s", diff)
	}
}

func TestReadPlain(t *testing.T) {
	recs := readAll(t, "one\n.\n  two\n\tthree", Options{Component: ComponentKubelet})
	if len(recs) != 4 {
		t.Fatalf("%d records, want one per line", len(recs))
	}
	if recs[1].Format != FormatNoise {
		t.Errorf("a dot is a record: %+v", recs[1])
	}
	for i, want := range map[int]string{0: "one", 2: "  two", 3: "\tthree"} {
		if r := recs[i]; r.Format != FormatPlain || r.Message != want || r.Component != ComponentKubelet || r.Level != LevelUnknown {
			t.Errorf("record %d: %+v", i, r)
		}
	}
}

func TestReadLongLine(t *testing.T) {
	in := strings.TrimSuffix(zapLeader, "\"}\n") + strings.Repeat("9", 3*MaxLine) + "\"}\n" + zapLeader
	recs := readAll(t, in, Options{})
	if len(recs) != 2 {
		t.Fatalf("%d records", len(recs))
	}
	if want := fmt.Sprintf("line cut: %d bytes not kept", len(in)-len(zapLeader)-1-MaxLine); recs[0].Problem != want {
		t.Errorf("problem %q, want %q", recs[0].Problem, want)
	}
	if recs[1].Line != 2 || recs[1].Problem != "" {
		t.Errorf("next record: line %d, problem %q", recs[1].Line, recs[1].Problem)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	r := io.MultiReader(strings.NewReader(klogNoLeader+klogTrace[:200]), iotest.ErrReader(broken))
	var recs []Record
	var got error
	for rec, err := range Read(t.Context(), r, Options{}) {
		if got != nil {
			t.Error("a pair after the error")
		}
		if got = err; err == nil {
			recs = append(recs, rec)
		} else if diff := cmp.Diff(Record{}, rec); diff != "" {
			t.Errorf("record beside the error: %s", diff)
		}
	}
	if !errors.Is(got, broken) || got.Error() != "read log after line 2: disk on fire" {
		t.Errorf("error %v", got)
	}
	if len(recs) != 2 {
		t.Errorf("%d records before the error, want 2", len(recs))
	}
}

func TestReadBreak(t *testing.T) {
	for stop := 1; stop <= 12; stop++ {
		n := 0
		for _, err := range Read(t.Context(), strings.NewReader(mixed), Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("%d records, want %d", n, stop)
		}
	}
}

func TestReadContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var got error
	for _, err := range Read(ctx, repeatLines{}, Options{}) {
		if got = err; err != nil {
			continue
		}
		if n++; n == 100 {
			cancel()
		}
	}
	if !errors.Is(got, context.Canceled) || n > 100+checkEvery {
		t.Errorf("%d records, error %v", n, got)
	}
}

// repeatLines is an endless log.
type repeatLines struct{}

func (repeatLines) Read(p []byte) (int, error) {
	return copy(p, klogNoLeader), nil
}

// What a caller keeps must not change as the reading goes on.
func TestReadKeeps(t *testing.T) {
	in := strings.Repeat(mixed+"\n", 200)
	recs := readAll(t, in, Options{})
	first := dumpRecords(recs[:10])
	again := readAll(t, in, Options{})
	if diff := cmp.Diff(first, dumpRecords(again[:10])); diff != "" {
		t.Errorf("records differ between two readings:\n%s", diff)
	}
	recs[1].Signatures[0] = "mine"
	if readAll(t, mixed, Options{})[1].Signatures[0] == "mine" {
		t.Error("signatures are shared")
	}
}
