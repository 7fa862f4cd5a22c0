package peertest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"etcd-autopsy/fixtures/biglog"
	"etcd-autopsy/fixtures/bigstore"
)

var logSize = 256 * bigstore.MiB

// dir holds what all tests of a run share: the program and the logs.
var dir string

func TestMain(m *testing.M) {
	if path := os.Getenv(readPath); path != "" {
		os.Exit(read(path, os.Stdout, os.Stderr))
	}
	flag.Var(&logSize, "log.size", "how large the logs for the benchmarks are")
	var err error
	if dir, err = os.MkdirTemp("", "peertest"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// program is the path of the program, which is built when it is first asked for.
func program(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(dir, "etcd-autopsy")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	out, err := exec.Command("go", "build", "-o", path, "etcd-autopsy/cmd/etcd-autopsy").CombinedOutput()
	if err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	return path
}

// logFile is a log of a program, made when it is first asked for, and how many
// lines it has. It was just written, so that all find it in the page cache.
func logFile(tb testing.TB, o biglog.Options) (path string, lines int64) {
	tb.Helper()
	name := o.Program
	if o.CRI {
		name += "-cri"
	}
	path = filepath.Join(dir, fmt.Sprintf("%s-%d.log", name, o.Size))
	f, err := os.Create(path)
	must(tb, err)
	s, err := biglog.Write(f, o)
	must(tb, errors.Join(err, f.Close()))
	return path, s.Lines
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
