package peertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// Environment of a child: the job to do, and with which store.
const (
	childJob  = "PEERTEST_JOB"
	childPath = "PEERTEST_PATH"
)

// outcome is what a child says of its job, and what was seen of it from outside.
type outcome struct {
	Records  int
	Took     time.Duration
	Retained uint64 // bytes of the heap that the result of the job takes
	peak     int64  // bytes of anonymous memory, the most that was seen
}

// child does a job in a process of its own, so that its memory is its own.
func child(job, path string, stdout, stderr io.Writer) int {
	var o outcome
	var err error
	begin := time.Now()
	if job == "retained" {
		o.Retained, o.Records, err = retained(path)
	}
	for _, j := range jobs {
		if j.name == job {
			o.Records, err = j.run(path)
		}
	}
	o.Took = time.Since(begin)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(o)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// polling is how often a child's memory is looked at.
const polling = 10 * time.Millisecond

// start does a job in a child and watches it.
func start(tb testing.TB, job, path string) outcome {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childJob+"="+job, childPath+"="+path)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must(tb, cmd.Start())
	done := make(chan struct{})
	peak := make(chan int64)
	go func() { peak <- watch(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	close(done)
	o := outcome{peak: <-peak}
	if err != nil {
		tb.Fatalf("%s: %v: %s", job, err, stderr.String())
	}
	must(tb, json.Unmarshal(stdout.Bytes(), &o))
	return o
}

// watch returns the most anonymous memory that a process had, 0 where the system
// does not tell.
func watch(pid int, done <-chan struct{}) (peak int64) {
	tick := time.NewTicker(polling)
	defer tick.Stop()
	for {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		peak = max(peak, anonymous(b))
		select {
		case <-done:
			return peak
		case <-tick.C:
		}
	}
}

// anonymous reads the memory of a process that is no file's (Linux,
// Documentation/filesystems/proc.rst: RssAnon), 0 if it is not there.
func anonymous(status []byte) int64 {
	m := regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`).FindSubmatch(status)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}
