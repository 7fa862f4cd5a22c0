package snapshot

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const podKey = "/registry/pods/default/web"

// story is a history with every kind of change: two lifetimes of a key, a
// transaction of several keys, a lease that takes two keys with it.
func story() *etcdStore {
	e := newEtcdStore().schema("3.6")
	e.put(podKey, "one") // 2
	e.put(podKey, "two") // 3
	e.txn(func() {       // 4
		e.set("/registry/events/default/a", []byte("a"), 9)
		e.set("/registry/events/default/b", []byte("bb"), 9)
	})
	e.del(podKey)          // 5
	e.put(podKey, "three") // 6
	e.txn(func() {         // 7
		e.unset("/registry/events/default/a")
		e.unset("/registry/events/default/b")
	})
	e.put("compact_rev_key", "4") // 8
	e.del(podKey)                 // 9
	return e
}

func TestHistory(t *testing.T) {
	h := load(t, story().file(t, filepath.Join(t.TempDir(), "db")))
	want := []string{
		"2 put /registry/pods/default/web create 2 version 1 lease 0 size 3 stores [0]",
		"3 put /registry/pods/default/web create 2 version 2 lease 0 size 3 stores [0]",
		"4 put /registry/events/default/a create 4 version 1 lease 9 size 1 stores [0]",
		"4_1 put /registry/events/default/b create 4 version 1 lease 9 size 2 stores [0]",
		"5 del /registry/pods/default/web create 2 version 2 lease 0 size 0 stores [0]",
		"6 put /registry/pods/default/web create 6 version 1 lease 0 size 5 stores [0]",
		"7 del /registry/events/default/a create 4 version 1 lease 9 size 0 stores [0]",
		"7_1 del /registry/events/default/b create 4 version 1 lease 9 size 0 stores [0]",
		"8 put compact_rev_key create 8 version 1 lease 0 size 1 stores [0]",
		"9 del /registry/pods/default/web create 6 version 1 lease 0 size 0 stores [0]",
	}
	if d := cmp.Diff(want, list(h)); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
	if h.First() != 2 || h.Last() != 9 || h.CompactRevision() != 0 {
		t.Errorf("span %d to %d above %d", h.First(), h.Last(), h.CompactRevision())
	}
	if got := h.Key(podKey); !slices.Equal(got, []int{0, 1, 4, 5, 9}) {
		t.Errorf("indexes of the pod: %v", got)
	}
	if got := h.Key("/registry/pods/default/none"); got != nil {
		t.Errorf("indexes of an unknown key: %v", got)
	}
	if got := h.KeysOf("events"); !slices.Equal(got, []string{"/registry/events/default/a", "/registry/events/default/b"}) {
		t.Errorf("keys of events: %v", got)
	}
	if got := h.Resources(); !slices.Equal(got, []string{"events", "pods"}) {
		t.Errorf("resources: %v", got)
	}
	if got := h.Keys(); len(got) != 4 || !slices.IsSorted(got) {
		t.Errorf("keys: %v", got)
	}
}

func TestValue(t *testing.T) {
	h := load(t, story().file(t, filepath.Join(t.TempDir(), "db")))
	for i, want := range []string{"one", "two", "a", "bb", "", "three", "", "", "4", ""} {
		got, err := h.Value(i)
		must(t, err)
		if string(got) != want || (got == nil) != h.At(i).Tombstone {
			t.Errorf("value %d: %q, want %q", i, got, want)
		}
		if len(got) > 0 {
			got[0] ^= 0xff // the caller's own: the next read is not changed by it
		}
		if again, _ := h.Value(i); string(again) != want {
			t.Errorf("value %d read again: %q", i, again)
		}
	}
	must(t, h.Close())
	if _, err := h.Value(0); err == nil {
		t.Error("a value could be read after Close")
	}
}

func TestCompactedHistory(t *testing.T) {
	e := story()
	e.compact(6)
	h := load(t, e.file(t, filepath.Join(t.TempDir(), "db")))
	want := []string{
		"4 put /registry/events/default/a create 4 version 1 lease 9 size 1 stores [0]",
		"4_1 put /registry/events/default/b create 4 version 1 lease 9 size 2 stores [0]",
		"6 put /registry/pods/default/web create 6 version 1 lease 0 size 5 stores [0]",
		"7 del /registry/events/default/a create 4 version 1 lease 9 size 0 stores [0]",
		"7_1 del /registry/events/default/b create 4 version 1 lease 9 size 0 stores [0]",
		"8 put compact_rev_key create 8 version 1 lease 0 size 1 stores [0]",
		"9 del /registry/pods/default/web create 6 version 1 lease 0 size 0 stores [0]",
	}
	if d := cmp.Diff(want, list(h)); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
	if h.First() != 4 || h.CompactRevision() != 6 {
		t.Errorf("first %d, compacted %d", h.First(), h.CompactRevision())
	}
}

// TestTombstoneAtFloor has the tombstone that newer etcds keep at the compaction
// revision itself. An older store has a record of the key, but not of the
// lifetime that the tombstone ends.
func TestTombstoneAtFloor(t *testing.T) {
	dir := t.TempDir()
	e := newEtcdStore()
	e.put("k", "first life") // 2
	old := e.clone()
	e.del("k")           // 3
	e.put("k", "second") // 4
	at := e.del("k")     // 5
	e.put("other", "x")  // 6
	tombstone := string(revisionKey{main: at, tombstone: true}.append(nil))
	kept := e.records[tombstone]
	e.compact(at)
	e.records[tombstone] = kept
	h := load(t, old.file(t, filepath.Join(dir, "a")), e.file(t, filepath.Join(dir, "b")))
	want := []string{
		"2 put k create 2 version 1 lease 0 size 10 stores [0]",
		"5 del k create 0 version 0 lease 0 size 0 stores [1]",
		"6 put other create 6 version 1 lease 0 size 1 stores [1]",
	}
	if d := cmp.Diff(want, list(h)); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}

func TestEmptyHistory(t *testing.T) {
	h := load(t)
	if h.Len() != 0 || h.First() != 0 || h.Last() != 0 || h.CompactRevision() != 0 || len(h.Stores()) != 0 {
		t.Error("a history of no stores is not empty")
	}
	h = load(t, newEtcdStore().file(t, filepath.Join(t.TempDir(), "db")))
	if h.Len() != 0 || h.Last() != 0 || len(h.Stores()[0].Problems) != 0 {
		t.Errorf("an empty store: %+v", h.Stores()[0])
	}
}
