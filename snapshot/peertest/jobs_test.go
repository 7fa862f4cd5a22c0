package peertest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	etcdutl "go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"

	"etcd-autopsy/snapshot"
)

// jobs are what is done with a store; each returns how many records it saw, 0 for
// those that see none.
var jobs = []struct {
	name string
	run  func(path string) (records int, err error)
}{
	{"read", read},
	{"sha256", hash},
	{"etcdutl", status},
	{"load", load},
}

// buffer is how much is read at a time.
const buffer = 1 << 20

func read(path string) (int, error) { return 0, copyTo(io.Discard, path) }

// hash is the least that checking a snapshot takes; it runs on one core.
func hash(path string) (int, error) { return 0, copyTo(sha256.New(), path) }

// copyTo hides what the two ends could do by themselves: every byte is read.
func copyTo(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, buffer))
	return errors.Join(err, f.Close())
}

// status is "etcdutl snapshot status", which checks the pages and hashes the
// records, but not the trailer.
func status(path string) (int, error) {
	s, err := etcdutl.NewV3(zap.NewNop()).Status(path)
	return s.TotalKey, err
}

// load is ours: the index of all revisions, with the trailer's SHA-256 checked.
func load(path string) (records int, err error) {
	h, err := open(path)
	if err != nil {
		return 0, err
	}
	return h.Len(), h.Close()
}

// open refuses a store that is not sound: its time would mean nothing.
func open(path string) (*snapshot.History, error) {
	h, err := snapshot.Load(context.Background(), []snapshot.File{{Input: "store", Path: "db", OSPath: path}}, snapshot.Options{})
	if err != nil {
		return nil, err
	}
	if s := h.Stores()[0]; s.HashOK == nil || !*s.HashOK || len(s.Problems) > 0 {
		return nil, errors.Join(fmt.Errorf("hash %v, problems %q", s.HashOK, s.Problems), h.Close())
	}
	return h, nil
}

// retained is what the index takes once it is built, in bytes of the heap.
func retained(path string) (bytes uint64, records int, err error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	h, err := open(path)
	if err != nil {
		return 0, 0, err
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	return after.HeapAlloc - before.HeapAlloc, h.Len(), h.Close()
}
