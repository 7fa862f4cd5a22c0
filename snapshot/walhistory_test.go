package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// workload is what a seeded run against an etcd of one member left behind.
type workload struct {
	data  string   // directory
	saved string   // snapshot from halfway
	last  int64    // revision
	lines []string // every change, as a watch saw it
}

// runWorkload runs it.
func runWorkload(t testing.TB, seed uint64, requests int) *workload {
	t.Helper()
	smallSegments(t, 64<<10)
	ctx := context.Background()
	w := &workload{data: filepath.Join(t.TempDir(), "data")}
	_, c, stop := quickEtcd(t, w.data)
	seen := watching(ctx, t, c)
	writes := newWriter(t, c, seed, seen)
	writes.run(ctx, requests/2)
	w.saved = filepath.Join(t.TempDir(), "saved.db")
	r, err := c.Snapshot(ctx)
	must(t, err)
	out, err := os.Create(w.saved)
	must(t, err)
	_, err = out.ReadFrom(r)
	must(t, err)
	must(t, out.Close())
	writes.run(ctx, requests/2)
	p, err := c.Put(ctx, "/registry/last", "x")
	must(t, err)
	w.last = p.Header.Revision
	w.lines = slices.Clone(seen(w.last))
	stop()
	return w
}

// records are those of the key bucket of a backend, by revision.
func records(t testing.TB, path string) map[string]string {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	must(t, err)
	list := map[string]string{}
	must(t, db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(keyBucket).ForEach(func(k, v []byte) error {
			list[string(k)] = string(v)
			return nil
		})
	}))
	must(t, db.Close())
	return list
}

// asRecords writes the revisions of a history that are not carved as etcd stores
// them.
func asRecords(t testing.TB, h *History) map[string]string {
	t.Helper()
	list := map[string]string{}
	for i := range h.Len() {
		r := h.At(i)
		if r.Carved {
			continue
		}
		kv := &mvccpb.KeyValue{Key: []byte(r.Key)}
		if !r.Tombstone {
			value, err := h.Value(i)
			must(t, err)
			if len(value) != r.Size {
				t.Errorf("revision %d has a value of %d bytes, not of %d", r.Main, len(value), r.Size)
			}
			kv = &mvccpb.KeyValue{Key: []byte(r.Key), CreateRevision: r.Create, ModRevision: r.Main, Version: r.Version, Lease: r.Lease, Value: value}
		}
		b, err := proto.Marshal(kv)
		must(t, err)
		list[string(revisionKey{main: r.Main, sub: r.Sub, tombstone: r.Tombstone}.append(nil))] = string(b)
	}
	return list
}

// checkTrue wants every revision of a history that is not carved to be one that
// happened, and its Value to be readable.
func checkTrue(t *testing.T, h *History, w *workload) {
	t.Helper()
	true_ := map[string]bool{}
	for _, line := range w.lines {
		true_[line] = true
	}
	carved := map[string]bool{}
	for i := range h.Len() {
		if r := h.At(i); r.Carved {
			carved[revisionName(r.Main, r.Sub)] = true
		}
	}
	for _, line := range asWatched(t, h, 0) {
		name, _, _ := strings.Cut(line, " ")
		if !true_[line] && !carved[name] {
			t.Errorf("invented: %.200s", line)
		}
	}
}

// checkSound wants a history without any problem.
func checkSound(t *testing.T, h *History) {
	t.Helper()
	for _, s := range h.Stores() {
		if len(s.Problems) > 0 || s.Rejected != "" {
			t.Errorf("store %s: %q %q", s.Path, s.Problems, s.Rejected)
		}
	}
	for _, l := range h.WALs() {
		if len(l.Problems) > 0 || l.Rejected != "" {
			t.Errorf("WAL %s: %q %q", l.Path, l.Problems, l.Rejected)
		}
	}
}

// count says how many revisions are of a kind.
func count(h *History, is func(r Revision) bool) (n int) {
	for i := range h.Len() {
		if is(h.At(i)) {
			n++
		}
	}
	return n
}

// TestReplayAgainstEtcd makes histories of what a real etcd left behind, and of
// parts of it, and compares them with what a watch saw while it was written.
func TestReplayAgainstEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an etcd")
	}
	w := runWorkload(t, 1, 1600)
	files := segmentsOf(walFiles(t, "m1", w.data))
	db, half := dbFile("m1", w.data), File{Input: "saved.db", Path: "saved.db", OSPath: w.saved}
	if len(files) < 4 {
		t.Fatalf("only %d segments", len(files))
	}

	t.Run("WAL alone", func(t *testing.T) {
		h := loadFiles(t, files...)
		checkSound(t, h)
		if d := cmp.Diff(w.lines, asWatched(t, h, 0)); d != "" {
			t.Errorf("(-watch +history):\n%s", d)
		}
		if h.CompactRevision() != 0 || h.Last() != w.last || h.First() != 2 {
			t.Errorf("%d to %d, complete above %d", h.First(), h.Last(), h.CompactRevision())
		}
		got := asRecords(t, h)
		for k, v := range records(t, db.OSPath) {
			if got[k] != v {
				t.Errorf("record %x: etcd has %x, the history %x", k, v, got[k])
			}
		}
		if n := count(h, func(r Revision) bool { return r.WAL && !r.Carved && len(r.Stores) == 0 }); n != h.Len() {
			t.Errorf("%d of %d revisions are marked as the log's", n, h.Len())
		}
	})
	t.Run("WAL and db", func(t *testing.T) {
		h := loadFiles(t, append(slices.Clone(files), db)...)
		checkSound(t, h)
		if d := cmp.Diff(w.lines, asWatched(t, h, 0)); d != "" {
			t.Errorf("(-watch +history):\n%s", d)
		}
		if h.CompactRevision() != 0 || h.Last() != w.last {
			t.Errorf("last %d, complete above %d", h.Last(), h.CompactRevision())
		}
		if n := count(h, func(r Revision) bool { return r.WAL && !r.Carved }); n != h.Len() {
			t.Errorf("%d of %d revisions are marked as the log's", n, h.Len())
		}
		if n := count(h, func(r Revision) bool { return len(r.Stores) > 0 && !r.Carved }); n != len(records(t, db.OSPath)) {
			t.Errorf("%d revisions are the store's", n)
		}
	})
	t.Run("db of the middle and the end of the WAL", func(t *testing.T) {
		base := loadFiles(t, half).Stores()[0]
		end := endOf(t, files, base.ConsistentIndex)
		h := loadFiles(t, append(slices.Clone(end), half)...)
		checkTrue(t, h, w)
		if h.Last() != w.last || h.CompactRevision() != base.CompactRevision {
			t.Errorf("last %d, complete above %d; want %d and %d", h.Last(), h.CompactRevision(), w.last, base.CompactRevision)
		}
		for i := range h.Len() {
			if r := h.At(i); r.Main > base.Last && !r.WAL {
				t.Fatalf("%+v, the store ends at %d", r, base.Last)
			}
		}
		if got, want := len(asWatched(t, h, base.Last)), linesAbove(w.lines, base.Last); got != want {
			t.Errorf("%d revisions above the store, want %d", got, want)
		}
	})
	t.Run("end of the WAL and the last db", func(t *testing.T) {
		h := loadFiles(t, append(slices.Clone(files[len(files)-2:]), db)...)
		checkTrue(t, h, w)
		checkAnchored(t, h, loadFiles(t, files...), 0)
		if p := h.WALs()[0].Problems; len(p) == 0 || !strings.Contains(p[0], "what was stored before them is not known") {
			t.Errorf("problems %q", p)
		}
	})
	t.Run("end of the WAL alone", func(t *testing.T) {
		h := loadFiles(t, files[2:]...)
		if h.Len() > 0 || h.Last() != 0 || h.Entries() == 0 {
			t.Errorf("%d revisions up to %d", h.Len(), h.Last())
		}
	})
	t.Run("a hole in the WAL", func(t *testing.T) {
		hole := slices.Delete(slices.Clone(files), 1, 2)
		h := loadFiles(t, hole...)
		checkTrue(t, h, w)
		first := h.Last()
		if first >= w.last || first < 2 {
			t.Errorf("last %d", first)
		}
		h = loadFiles(t, append(hole, half, db)...)
		checkTrue(t, h, w)
		if h.Last() != w.last {
			t.Errorf("last %d", h.Last())
		}
	})
	t.Run("a damaged entry", func(t *testing.T) { testDamagedEntry(t, w, files, half) })
	t.Run("a db ahead of the WAL", func(t *testing.T) {
		h := loadFiles(t, append(slices.Clone(files[:2]), db)...)
		checkTrue(t, h, w)
		if h.Last() != w.last {
			t.Errorf("last %d", h.Last())
		}
		if n := count(h, func(r Revision) bool { return r.WAL }); n == 0 {
			t.Errorf("nothing is made of the log: %q", h.WALs()[0].Problems)
		}
		h = loadFiles(t, append(endOf(t, files[:2], 100), db)...)
		checkTrue(t, h, w)
	})
}

// linesAbove counts the changes above a revision.
func linesAbove(lines []string, above int64) (n int) {
	for _, line := range lines {
		var main int64
		_, _ = fmt.Sscanf(line, "%d", &main)
		if main > above {
			n++
		}
	}
	return n
}

// endOf drops the segments that end before an index.
func endOf(t testing.TB, files []File, index uint64) []File {
	t.Helper()
	for i := len(files) - 1; i > 0; i-- {
		var sequence, first uint64
		_, err := fmt.Sscanf(filepath.Base(files[i].Path), "%x-%x.wal", &sequence, &first)
		must(t, err)
		if first <= index {
			return files[i:]
		}
	}
	return files
}

// testDamagedEntry changes a byte in the data of an entry in the second segment.
func testDamagedEntry(t *testing.T, w *workload, files []File, half File) {
	healthy := loadFiles(t, files...)
	var hit Entry
	for i := range healthy.Entries() {
		if e := healthy.Entry(i); e.Segment == files[1].Path && e.Size > 100 && e.Revision > 0 {
			hit = e
			break
		}
	}
	b, err := os.ReadFile(files[1].OSPath)
	must(t, err)
	size := int64(binary.LittleEndian.Uint64(b[hit.Offset:]) & (1<<56 - 1))
	b[hit.Offset+8+size-20] ^= 1
	broken := files[1]
	broken.OSPath = filepath.Join(t.TempDir(), filepath.Base(broken.Path))
	must(t, os.WriteFile(broken.OSPath, b, 0o600))
	damaged := slices.Clone(files)
	damaged[1] = broken

	h := loadFiles(t, damaged...)
	checkTrue(t, h, w)
	if h.Last() < hit.Revision-1 || h.replayedTo() >= hit.Revision {
		t.Errorf("replayed to %d, last revision %d; the damaged one is %d", h.replayedTo(), h.Last(), hit.Revision)
	}
	checkAnchored(t, h, healthy, hit.Index)
	h = loadFiles(t, append(damaged, half)...)
	checkTrue(t, h, w)
	if h.Last() != w.last {
		t.Errorf("with a db behind the damage the last revision is %d, not %d", h.Last(), w.last)
	}
	checkAnchored(t, h, healthy, hit.Index)
}

// checkAnchored makes sure that what is said of the entries behind an index is what
// the whole log says of them.
func checkAnchored(t *testing.T, h, whole *History, behind uint64) {
	t.Helper()
	truth := map[uint64]Entry{}
	for i := range whole.Entries() {
		e := whole.Entry(i)
		truth[e.Index] = e
	}
	for i := range h.Entries() {
		e, want := h.Entry(i), truth[h.Entry(i).Index]
		switch {
		case e.Index <= behind || e.State == EntryUnplaced:
		case e.Revision != want.Revision, e.State != want.State, e.At != 0 && e.At != want.At:
			t.Fatalf("entry %d: %+v, but it was %+v", e.Index, e, want)
		}
	}
}
