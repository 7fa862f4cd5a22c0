package logparse

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"etcd-autopsy/fixtures/biglog"
)

var logsDir = flag.String("logs", "", "folder of real logs to run BenchmarkRealLogs on")

// benchmarkRead reads data over and over; b.SetBytes gives MB/s.
func benchmarkRead(b *testing.B, data []byte) {
	b.Helper()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var records int
	before := mallocs()
	for b.Loop() {
		records = 0
		for _, err := range Read(context.Background(), bytes.NewReader(data), Options{Before: benchmarkBefore}) {
			if err != nil {
				b.Fatal(err)
			}
			records++
		}
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/sec")
	b.ReportMetric(float64(mallocs()-before)/float64(b.N)/float64(records), "allocs/record")
}

// benchmarkBefore lets every record have a time, as a file's own does.
var benchmarkBefore = time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)

// benchmarkSize is how much of a log of fixtures/biglog is read.
const benchmarkSize = 16 << 20

// BenchmarkRead reads logs of the programs whose formats there are, as they are
// and as a container runtime keeps them.
func BenchmarkRead(b *testing.B) {
	for _, program := range biglog.Programs() {
		for _, cri := range []bool{false, true} {
			name := program
			if cri {
				name += "/cri"
			}
			b.Run(name, func(b *testing.B) {
				benchmarkRead(b, bigLog(b, biglog.Options{Program: program, Size: benchmarkSize, Seed: 1, CRI: cri}))
			})
		}
	}
}

func bigLog(tb testing.TB, o biglog.Options) []byte {
	tb.Helper()
	var text bytes.Buffer
	if _, err := biglog.Write(&text, o); err != nil {
		tb.Fatal(err)
	}
	return text.Bytes()
}

// Lines that are all the same, and lines of a mebibyte.
func BenchmarkReadSame(b *testing.B) {
	benchmarkRead(b, []byte(strings.Repeat(klogNoLeader, 100_000)))
}

func BenchmarkReadGiant(b *testing.B) {
	giant := strings.Replace(zapLeader, `became leader`, strings.Repeat("x", MaxLine-len(zapLeader)), 1)
	benchmarkRead(b, []byte(strings.Repeat(giant, 16)))
}

func BenchmarkReadPlain(b *testing.B) {
	benchmarkRead(b, []byte(strings.Repeat("a line that no format claims, of the usual length\n", 20000)))
}

// mallocs counts the allocations so far.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func BenchmarkIdentify(b *testing.B) {
	head := []byte(strings.Repeat(klogNoLeader+klogRetrying, 1000))
	b.SetBytes(int64(min(len(head), headLimit)))
	for b.Loop() {
		Identify("x.log", head)
	}
}

func BenchmarkMatcher(b *testing.B) {
	for b.Loop() {
		buildMatcher()
	}
}

// BenchmarkRealLogs reads every *.log of -logs as one sub-benchmark each.
func BenchmarkRealLogs(b *testing.B) {
	if *logsDir == "" {
		b.Skip("no -logs")
	}
	files, err := filepath.Glob(filepath.Join(*logsDir, "*.log"))
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(f), func(b *testing.B) { benchmarkRead(b, data) })
	}
}
