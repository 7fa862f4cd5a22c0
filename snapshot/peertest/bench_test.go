package peertest

import (
	"os"
	"testing"
	"time"

	"etcd-autopsy/fixtures/bigstore"
)

// subject is the store of the benchmarks and how large it is.
func subject(b *testing.B) (path string, size int64) {
	b.Helper()
	path = *storeFile
	if path == "" {
		path = store(b, storeSize)
	}
	info, err := os.Stat(path)
	must(b, err)
	must(b, copyTo(discard{}, path))
	return path, info.Size()
}

// discard has no ReadFrom.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// fastest does a job again and again with a store, and returns the records of one
// time and how long the fastest took: ratios of those are the least disturbed by
// what else the machine does.
func fastest(b *testing.B, run func(path string) (int, error), path string) (best time.Duration, records int) {
	for b.Loop() {
		begin := time.Now()
		n, err := run(path)
		must(b, err)
		if took := time.Since(begin); best == 0 || took < best {
			best = took
		}
		records = n
	}
	return best, records
}

// BenchmarkStore does each job with one store. Ours comes last and is compared
// with the others of the run: x-sha256 and so on are how many times as long it
// takes.
func BenchmarkStore(b *testing.B) {
	path, size := subject(b)
	took := map[string]time.Duration{}
	for _, j := range jobs {
		b.Run(j.name, func(b *testing.B) {
			b.SetBytes(size)
			best, records := fastest(b, j.run, path)
			took[j.name] = best
			if j.name != "load" {
				return
			}
			b.ReportMetric(float64(records)/best.Seconds(), "records/s")
			b.ReportMetric(float64(records), "records")
			for _, peer := range jobs[:len(jobs)-1] {
				if took[peer.name] > 0 {
					b.ReportMetric(float64(best)/float64(took[peer.name]), "x-"+peer.name)
				}
			}
		})
	}
}

// allowance is the memory that opening a store may take whatever its size.
const allowance = 256 << 20

// BenchmarkMemory does ours and etcdutl's job in a process each and sees how much
// memory it takes that is no file's.
func BenchmarkMemory(b *testing.B) {
	path, _ := subject(b)
	for _, job := range []string{"etcdutl", "load"} {
		b.Run(job, func(b *testing.B) {
			var o outcome
			var peak int64
			for b.Loop() {
				o = start(b, job, path)
				peak = max(peak, o.peak)
			}
			if peak == 0 {
				b.Skip("the system does not tell the memory of a process")
			}
			b.ReportMetric(float64(peak)/(1<<20), "peak-anon-MiB")
			if job == "load" {
				b.ReportMetric(float64(max(0, peak-allowance))/float64(o.Records), "B/revision-over-256MiB")
				kept := start(b, "retained", path)
				b.ReportMetric(float64(kept.Retained)/float64(kept.Records), "heap-B/revision")
			}
		})
	}
}

// BenchmarkLinear opens a store and one of a tenth of its size: time-ratio-10x is
// how many times as long the larger takes, records-ratio how many times as many
// records it has.
func BenchmarkLinear(b *testing.B) {
	if *storeFile != "" {
		b.Skip("only for made-up stores")
	}
	var tenth time.Duration
	var few int
	for _, x := range []struct {
		name string
		size bigstore.Size
	}{{"1x", storeSize / 10}, {"10x", storeSize}} {
		b.Run(x.name, func(b *testing.B) {
			path := store(b, x.size)
			must(b, copyTo(discard{}, path))
			best, records := fastest(b, load, path)
			if x.name == "1x" {
				tenth, few = best, records
			} else if few > 0 {
				b.ReportMetric(float64(best)/float64(tenth), "time-ratio-10x")
				b.ReportMetric(float64(records)/float64(few), "records-ratio")
			}
		})
	}
}
