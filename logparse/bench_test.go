package logparse

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var logsDir = flag.String("logs", "", "folder of real logs to run BenchmarkRealLogs on")

// benchmarkRead reads data over and over; b.SetBytes gives MB/s.
func benchmarkRead(b *testing.B, data []byte) {
	b.Helper()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var records int
	for b.Loop() {
		records = 0
		for _, err := range Read(context.Background(), bytes.NewReader(data), Options{}) {
			if err != nil {
				b.Fatal(err)
			}
			records++
		}
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/sec")
}

func BenchmarkReadKlog(b *testing.B) {
	lines := klogNoLeader + klogRetrying + klogRetrying + klogNoLeader + klogTrace
	benchmarkRead(b, []byte(strings.Repeat(lines, 5000)))
}

func BenchmarkReadZap(b *testing.B) {
	benchmarkRead(b, []byte(strings.Repeat(zapSlowApply+zapLeader, 5000)))
}

func BenchmarkReadAudit(b *testing.B) {
	benchmarkRead(b, []byte(strings.Repeat(auditUpdate, 2000)))
}

func BenchmarkReadPlain(b *testing.B) {
	benchmarkRead(b, []byte(strings.Repeat("a line that no format claims, of the usual length\n", 20000)))
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
