package peertest

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	etcdutl "go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"

	"etcd-autopsy/fixtures/bigstore"
)

// TestStatus compares what etcdutl says of a made-up store with what we say, and
// with what the generator put into it.
func TestStatus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	want, err := bigstore.WriteSnapshot(path, bigstore.Options{Size: 4 * bigstore.MiB, Seed: 1})
	must(t, err)
	s, err := etcdutl.NewV3(zap.NewNop()).Status(path)
	must(t, err)
	if s.Revision != want.Revision || s.TotalKey != want.Live || s.TotalSize != want.Bytes-sha256.Size || s.Version != "3.6.0" {
		t.Errorf("etcdutl: %+v, want %+v", s, want)
	}
	h, err := open(path)
	must(t, err)
	if h.Len() != want.Records || h.Last() != s.Revision || h.Stores()[0].StorageVersion != s.Version {
		t.Errorf("%d records up to %d, of %s; want %+v and %+v", h.Len(), h.Last(), h.Stores()[0].StorageVersion, want, s)
	}
	must(t, h.Close())
}

// TestJobsLeaveTheFile sees that no job writes to the store that the next one is
// to read; it may not even be writable.
func TestJobsLeaveTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	_, err := bigstore.WriteSnapshot(path, bigstore.Options{Size: bigstore.MiB, Seed: 1})
	must(t, err)
	must(t, os.Chmod(path, 0o400))
	before, err := os.Stat(path)
	must(t, err)
	content, err := os.ReadFile(path)
	must(t, err)
	for _, j := range jobs {
		_, err := j.run(path)
		must(t, err)
		after, err := os.Stat(path)
		must(t, err)
		now, err := os.ReadFile(path)
		must(t, err)
		if !after.ModTime().Equal(before.ModTime()) || !bytes.Equal(now, content) {
			t.Errorf("%s changed the file", j.name)
		}
	}
}

// TestChild sees that a child does the job and that its memory is seen.
func TestChild(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	want, err := bigstore.WriteSnapshot(path, bigstore.Options{Size: 16 * bigstore.MiB, Seed: 1})
	must(t, err)
	for _, job := range []string{"load", "retained"} {
		o := start(t, job, path)
		if o.Records != want.Records || o.Took <= 0 {
			t.Errorf("%s: %+v, want %d records", job, o, want.Records)
		}
		if _, err := os.Stat("/proc/self/status"); err == nil && o.peak < 1<<20 {
			t.Errorf("%s: %d bytes of memory", job, o.peak)
		}
		if job == "retained" && o.Retained < uint64(want.Records)*16 {
			t.Errorf("an index of %d records takes %d bytes", want.Records, o.Retained)
		}
	}
}

func TestAnonymous(t *testing.T) {
	if n := anonymous([]byte("VmRSS:\t  9 kB\nRssAnon:\t    5 kB\nRssFile:\t 4 kB\n")); n != 5<<10 {
		t.Errorf("%d bytes", n)
	}
	if n := anonymous([]byte("RssAnon:\t 99999999999999999999 kB\nRssAnon: 5 MB\n")); n != 0 {
		t.Errorf("%d bytes", n)
	}
}

// TestUnsound sees that a store whose hash is wrong is not timed.
func TestUnsound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	_, err := bigstore.WriteSnapshot(path, bigstore.Options{Size: bigstore.MiB, Seed: 1})
	must(t, err)
	b, err := os.ReadFile(path)
	must(t, err)
	b[len(b)-1] ^= 1
	must(t, os.WriteFile(path, b, 0o600))
	if _, err := load(path); err == nil {
		t.Error("a store whose SHA-256 is wrong is loaded like any other")
	}
}
