package fate

import (
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/storage/wal"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"etcd-autopsy/fixtures/world"
	"etcd-autopsy/snapshot"
)

const (
	sec = time.Second
	ms  = time.Millisecond
)

// TestMain lets etcd's writer reserve less than its 64 MB for a segment.
func TestMain(m *testing.M) {
	wal.SegmentSizeBytes = 64 << 10
	m.Run()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// exact dates revisions with no doubt: by the moments they were put at.
type exact []time.Time

func (x exact) At(revision int64) (t, earliest, latest time.Time) {
	if revision < 2 || int(revision-2) >= len(x) {
		return t, earliest, latest
	}
	return x[revision-2], x[revision-2], x[revision-2]
}

// load saves a world and opens it, its store or only the WALs of some members (1 to
// 3).
func load(t *testing.T, w *world.World, noStore bool, members ...int) *snapshot.History {
	t.Helper()
	dir := t.TempDir()
	if !noStore {
		must(t, w.Save(dir))
	}
	if len(members) > 0 {
		must(t, w.SaveWAL(dir, members...))
	}
	h, err := snapshot.Load(t.Context(), filesOf(t, dir), snapshot.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return h
}

// filesOf lists the stores and segments of a folder.
func filesOf(t *testing.T, dir string) []snapshot.File {
	t.Helper()
	var files []snapshot.File
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err == nil && (ext == ".db" || ext == ".wal") {
			name, err := filepath.Rel(dir, path)
			must(t, err)
			kind := map[string]snapshot.FileKind{".db": snapshot.Backend, ".wal": snapshot.Segment}[ext]
			files = append(files, snapshot.File{Path: filepath.ToSlash(name), OSPath: path, Kind: kind})
		}
		return err
	}))
	return files
}

// configMap is an object that a client last wrote at a moment.
func configMap(w *world.World, name, manager string, at time.Duration) *corev1.ConfigMap {
	now := metav1.NewTime(w.Time(at))
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &now}}}}
}

// TestWorldLog checks that the made-up logs are what they are meant to be.
func TestWorldLog(t *testing.T) {
	w := world.New()
	w.Put(1*sec, configMap(w, "a", "x", 1*sec))
	w.Put(2*sec, configMap(w, "a", "x", 2*sec))
	w.Refuse(3*sec, configMap(w, "a", "y", 3*sec), 2)
	lost := w.Propose(4*sec, 3, configMap(w, "a", "z", 4*sec), 3)
	w.Elect(5 * sec)
	w.Put(6*sec, configMap(w, "b", "x", 6*sec))
	open := w.Propose(7*sec, 1, configMap(w, "b", "z", 7*sec), 4)
	h := load(t, w, false, 1, 2, 3)
	for id, want := range map[uint64]snapshot.EntryState{lost: snapshot.EntryLost, open: snapshot.EntryUncommitted} {
		i, ok := h.EntryOfRequest(id)
		if !ok || h.Entry(i).State != want {
			t.Errorf("request %d: entry %d, want it %s", id, i, want)
		}
	}
	for _, l := range h.WALs() {
		if l.Rejected != "" || len(l.Problems) > 0 {
			t.Errorf("%s: %s %q", l.Path, l.Rejected, l.Problems)
		}
	}
}
