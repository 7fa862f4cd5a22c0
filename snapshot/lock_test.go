//go:build unix && !solaris && !aix && !android

package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLockedStore(t *testing.T) {
	path := story().file(t, filepath.Join(t.TempDir(), "db"))
	other, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer func() { must(t, other.Close()) }()
	must(t, syscall.Flock(int(other.Fd()), syscall.LOCK_EX))
	want := list(load(t, story().file(t, filepath.Join(t.TempDir(), "db"))))
	h := load(t, path)
	s := h.Stores()[0]
	if p := s.Problems; len(p) != 1 || !strings.HasPrefix(p[0], "locked by another process (a running etcd?): read while another process had it open") || !strings.HasPrefix(p[0], s.Salvaged) {
		t.Errorf("problems of a locked store: %q", p)
	}
	if d := cmp.Diff(want, list(h)); d != "" {
		t.Errorf("a locked store (-want +got):\n%s", d)
	}
	if v, err := h.Value(0); err != nil || string(v) != "one" || h.CompactRevision() != 0 {
		t.Errorf("value %q, %v; floor %d", v, err, h.CompactRevision())
	}
	must(t, syscall.Flock(int(other.Fd()), syscall.LOCK_UN))
	if p := load(t, path).Stores()[0].Problems; len(p) != 0 {
		t.Errorf("problems after the lock was given up: %q", p)
	}
}

// TestNoLockKept wants a starting etcd to get its exclusive lock while a history
// is open.
func TestNoLockKept(t *testing.T) {
	path := story().file(t, filepath.Join(t.TempDir(), "db"))
	h := load(t, path)
	other, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer func() { must(t, other.Close()) }()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("lock while the history is open: %v", err)
	}
	if v, err := h.Value(0); err != nil || string(v) != "one" {
		t.Errorf("value %q, %v", v, err)
	}
}

// TestFault maps more than a file has: touching what is missing is an error, not
// the end of the program.
func TestFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "short")
	must(t, os.WriteFile(path, make([]byte, 100), 0o600))
	f, err := os.Open(path)
	must(t, err)
	b, err := syscall.Mmap(int(f.Fd()), 0, 1<<16, syscall.PROT_READ, syscall.MAP_SHARED)
	must(t, err)
	defer func() { must(t, syscall.Munmap(b)) }()
	must(t, f.Close())
	var sum uint64
	err = guard(func() error {
		sum = hashRecord(false, b[20_000:30_000])
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), "damaged: ") {
		t.Errorf("error %v, sum %x", err, sum)
	}
}
