package peertest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"etcd-autopsy/fixtures/bigstore"
)

// Flags; the store of -store.file takes the place of made-up ones.
var (
	storeSize = 256 * bigstore.MiB
	storeFile = flag.String("store.file", "", "the output of \"snapshot save\" to run the benchmarks on")
)

// stores keeps what was made up, by size, for all benchmarks of a run.
var stores = map[bigstore.Size]string{}

func TestMain(m *testing.M) {
	flag.Var(&storeSize, "store.size", "about how large a store to make up for the benchmarks")
	if job := os.Getenv(childJob); job != "" {
		os.Exit(child(job, os.Getenv(childPath), os.Stdout, os.Stderr))
	}
	dir, err := os.MkdirTemp("", "peertest")
	if err != nil {
		panic(err)
	}
	stores[0] = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// store is the output of "snapshot save" that the benchmarks read. It was read
// once, so that all of them find it in the page cache.
func store(tb testing.TB, size bigstore.Size) string {
	tb.Helper()
	if path, ok := stores[size]; ok {
		return path
	}
	path := filepath.Join(stores[0], size.String())
	_, err := bigstore.WriteSnapshot(path, bigstore.Options{Size: size, Seed: 1})
	must(tb, err)
	must(tb, os.Chmod(path, 0o400))
	stores[size] = path
	return path
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
