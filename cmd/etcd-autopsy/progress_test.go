package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"etcd-autopsy/correlate"
)

func TestLineMeter(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)
	m := &lineMeter{w: &out, now: func() time.Time { return now }, format: plainLine}
	for i := range 25 {
		m.update(correlate.Progress{File: "etcd-1.log", Done: int64(i+1) * 1e6, Total: 100e6, FilesDone: i / 10, Files: 4})
		now = now.Add(100 * time.Millisecond)
	}
	m.done()
	want := `reading: 0 of 4 files, 1.0 MB of 100.0 MB: etcd-1.log
reading: 1 of 4 files, 11.0 MB of 100.0 MB, 11.0 MB/s, 8s left: etcd-1.log
reading: 2 of 4 files, 21.0 MB of 100.0 MB, 10.5 MB/s, 8s left: etcd-1.log
reading: 2 of 4 files, 25.0 MB of 100.0 MB, 10.0 MB/s, 8s left: etcd-1.log
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	m.done()
	if strings.Count(out.String(), "\n") != 4 {
		t.Error("the last line was printed twice")
	}
}

func TestLineMeterWithoutProgress(t *testing.T) {
	var out bytes.Buffer
	progressModes["plain"](&out).done()
	if out.Len() != 0 {
		t.Errorf("printed %q", out.String())
	}
}

func TestJSONLine(t *testing.T) {
	line := jsonLine(correlate.Progress{File: "a\n\"b\x1b", Done: 1, Total: 2, FilesDone: 3, Files: 4}, 1500*time.Millisecond)
	var got map[string]any
	if err := json.Unmarshal([]byte(line), &got); err != nil || strings.Contains(line, "\n") {
		t.Fatalf("%v: %q", err, line)
	}
	if got["type"] != "progress" || got["filesDone"] != 3.0 || got["seconds"] != 1.5 {
		t.Errorf("got %v", got)
	}
}

func TestAutoMeterIsSilentWithoutTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, m := range []meter{autoMeter(f), autoMeter(&bytes.Buffer{})} {
		if _, ok := m.(noMeter); !ok {
			t.Errorf("got a %T", m)
		}
	}
}

func TestSize(t *testing.T) {
	tests := map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 64_000_000: "64.0 MB", 3_500_000_000: "3.5 GB", 2_000_000_000_000: "2.0 TB"}
	for n, want := range tests {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}
