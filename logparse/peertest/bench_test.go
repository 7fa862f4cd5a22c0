package peertest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"etcd-autopsy/fixtures/biglog"
)

// input is what is looked at of an input in "inputs -o json".
type input struct{ Records, SkippedLines int }

func inputsOf(tb testing.TB, o outcome) []input {
	tb.Helper()
	var list struct{ Inputs []input }
	must(tb, json.Unmarshal(o.stdout, &list))
	return list.Inputs
}

// logs are those that are read, and whom ours is compared with.
var logs = []struct {
	name, peers string
	options     biglog.Options
}{
	{"etcd", "json", biglog.Options{Program: "etcd"}},
	{"etcd-cri", "text", biglog.Options{Program: "etcd", CRI: true}},
	{"apiserver", "text", biglog.Options{Program: "kube-apiserver"}},
	{"kubelet", "text", biglog.Options{Program: "kubelet"}},
	{"controllers", "text", biglog.Options{Program: "kube-controller-manager"}},
	{"audit", "audit", biglog.Options{Program: "audit"}},
}

// BenchmarkLogs does each job with a log of each format. x-jq and so on are how
// many times the CPU time of ours the other takes.
func BenchmarkLogs(b *testing.B) {
	for _, x := range logs {
		b.Run(x.name, func(b *testing.B) {
			x.options.Size, x.options.Seed = int64(logSize), 1
			path, _ := logFile(b, x.options)
			compare(b, peers[x.peers], path, int64(logSize))
			must(b, os.Remove(path))
		})
	}
}

// BenchmarkPacked does the same with a packed log: x-gzip is to be compared with 1,
// in wall time.
func BenchmarkPacked(b *testing.B) {
	for _, x := range []struct {
		suffix string
		pack   []string
	}{{".gz", []string{"gzip", "-k"}}, {".zst", []string{"zstd", "-q", "-k"}}} {
		b.Run(x.suffix[1:], func(b *testing.B) {
			if _, err := exec.LookPath(x.pack[0]); err != nil {
				b.Skip(err)
			}
			path, _ := logFile(b, biglog.Options{Program: "etcd", Size: int64(logSize), Seed: 1})
			out, err := exec.Command(x.pack[0], append(x.pack[1:], path)...).CombinedOutput()
			must(b, errors.Join(err, os.Remove(path)))
			if len(out) > 0 {
				b.Log(string(out))
			}
			compare(b, peers[x.suffix], path+x.suffix, int64(logSize))
			must(b, os.Remove(path+x.suffix))
		})
	}
}

// compare does the jobs one after the other, ours last: reading alone, then all that
// the program does. The least CPU time of each
// counts: it is the least disturbed.
func compare(b *testing.B, others []job, path string, size int64) {
	all := append(others[:len(others):len(others)], readJob(), ourJob(b))
	least := map[string]outcome{}
	for _, j := range all {
		b.Run(j.name, func(b *testing.B) {
			if !j.installed() {
				b.Skipf("%s is not installed", j.name)
			}
			b.SetBytes(size)
			best := outcome{cpu: time.Hour, wall: time.Hour}
			records := 0
			for b.Loop() {
				o := j.run(b, path)
				best.cpu, best.wall, best.peak = min(best.cpu, o.cpu), min(best.wall, o.wall), max(best.peak, o.peak)
				if j.own() {
					records = countRecords(b, o)
				}
			}
			least[j.name] = best
			b.ReportMetric(float64(size)/(1<<20)/best.cpu.Seconds(), "MiB/cpu-s")
			b.ReportMetric(float64(best.peak)/(1<<20), "peak-MiB")
			if !j.own() {
				return
			}
			b.ReportMetric(float64(records)/best.cpu.Seconds(), "records/cpu-s")
			for _, p := range others {
				if o, ok := least[p.name]; ok {
					b.ReportMetric(o.cpu.Seconds()/best.cpu.Seconds(), "x-"+p.name)
					b.ReportMetric(o.wall.Seconds()/best.wall.Seconds(), "x-"+p.name+"-wall")
				}
			}
		})
	}
}

// countRecords is how many records ours has found; none means that it has not read
// the file, and its time nothing.
func countRecords(b *testing.B, o outcome) int {
	n := 0
	for _, in := range inputsOf(b, o) {
		n += in.Records
	}
	if n == 0 {
		b.Skip("the program does not read such a file")
	}
	return n
}
