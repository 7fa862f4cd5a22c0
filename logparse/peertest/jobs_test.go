package peertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"etcd-autopsy/logparse"
)

// ours is the name of the program's own job, which comes last.
const ours = "inputs"

// job is a command that is given a file as its last argument.
type job struct {
	name string
	args []string
}

// peers are compared with ours, by the kind of file they are for.
var peers = map[string][]job{
	"json":  {{"jq", []string{"jq", "-c", "."}}, {"lnav", []string{"lnav", "-n"}}, {"rg", []string{"rg", "-c", `"level":"warn"`}}},
	"text":  {{"lnav", []string{"lnav", "-n"}}, {"rg", []string{"rg", "-c", "error|warn"}}},
	".gz":   {{"gzip", []string{"gzip", "-dc"}}},
	".zst":  {{"zstd", []string{"zstd", "-dc"}}},
	"audit": {{"jq", []string{"jq", "-c", "."}}, {"rg", []string{"rg", "-c", `"code":409`}}},
}

// ourJob reads a file, takes its digest, parses and classifies its records, keeps
// the facts, and says how many records there are.
func ourJob(tb testing.TB) job {
	tb.Helper()
	return job{ours, []string{program(tb), "inputs", "-o", "json", "--quiet"}}
}

// readPath names the file for a child that only reads.
const readPath = "PEERTEST_READ"

// readJob reads a log in a process of its own and no more: its records are parsed,
// classified and timed.
func readJob() job { return job{"read", []string{os.Args[0]}} }

func read(path string, stdout, stderr io.Writer) int {
	n, err := countOf(path)
	if err == nil {
		_, err = fmt.Fprintf(stdout, `{"inputs":[{"records":%d}]}`, n)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func countOf(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for rec, err := range logparse.Read(context.Background(), f, logparse.Options{Before: time.Now()}) {
		if err != nil {
			return n, err
		}
		if rec.Format != logparse.FormatNoise {
			n++
		}
	}
	return n, nil
}

// own says whether a job is the program's.
func (j job) own() bool { return j.name == ours || j.name == "read" }

// outcome is what a job took.
type outcome struct {
	cpu, wall time.Duration
	// peak is the most memory it had, in bytes; 0 where the system does not tell.
	peak   int64
	stdout []byte // of ours
}

// run does a job with a file. What peers print is not looked at.
func (j job) run(tb testing.TB, path string) outcome {
	tb.Helper()
	cmd := exec.Command(j.args[0], append(j.args[1:len(j.args):len(j.args)], path)...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir) // lnav keeps things there
	if j.name == "read" {
		cmd.Env = append(cmd.Env, readPath+"="+path)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stderr = &stderr
	if j.own() {
		cmd.Stdout = &stdout
	}
	begin := time.Now()
	must(tb, cmd.Start())
	peak, done := make(chan int64), make(chan struct{})
	go func() { peak <- watch(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	close(done)
	if err != nil {
		tb.Fatalf("%s: %v: %s", j.name, err, stderr.String())
	}
	p := cmd.ProcessState
	return outcome{cpu: p.UserTime() + p.SystemTime(), wall: time.Since(begin), peak: <-peak, stdout: stdout.Bytes()}
}

// watch returns the most memory that a process had as it was last seen, in bytes
// (Linux, Documentation/filesystems/proc.rst: VmHWM); 0 where the system does not
// tell.
func watch(pid int, done <-chan struct{}) (peak int64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if m := highWater.FindSubmatch(b); m != nil {
			n, _ := strconv.ParseInt(string(m[1]), 10, 64)
			peak = max(peak, n<<10)
		}
		select {
		case <-done:
			return peak
		case <-tick.C:
		}
	}
}

var highWater = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// installed says whether a job can be done here.
func (j job) installed() bool {
	_, err := exec.LookPath(j.args[0])
	return err == nil
}
