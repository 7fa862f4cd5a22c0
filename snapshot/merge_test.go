package snapshot

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMerge(t *testing.T) {
	dir := t.TempDir()
	e := newEtcdStore()
	for range 5 {
		e.put("a", "x") // 2 to 6
	}
	early := e.saved(t, filepath.Join(dir, "early"))
	for range 5 {
		e.put("b", "x") // 7 to 11
	}
	e.compact(5)
	late := e.file(t, filepath.Join(dir, "late"))
	e.put("c", "x") // 12
	latest := e.file(t, filepath.Join(dir, "member"))
	want := list(load(t, early, late, latest))
	if len(want) != 11 || !strings.HasSuffix(want[0], "stores [0]") || !strings.HasSuffix(want[4], "stores [0 1 2]") || !strings.HasSuffix(want[10], "stores [2]") {
		t.Errorf("merged:\n%s", strings.Join(want, "\n"))
	}
	paths := []string{early, late, latest}
	for range 10 {
		rand.Shuffle(3, func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		h := load(t, paths...)
		if d := cmp.Diff(want, list(h)); d != "" {
			t.Fatalf("order %v (-want +got):\n%s", paths, d)
		}
		if h.CompactRevision() != 0 || h.First() != 2 || h.Last() != 12 {
			t.Errorf("span %d to %d above %d", h.First(), h.Last(), h.CompactRevision())
		}
		for _, s := range h.Stores() {
			if len(s.Problems) > 0 || s.Rejected != "" {
				t.Errorf("%s: %q %q", s.Path, s.Problems, s.Rejected)
			}
		}
	}
}

// TestFloor merges stores that each have only part of the history.
func TestFloor(t *testing.T) {
	tests := []struct {
		name string
		// stores are complete ranges: compaction and last revision.
		stores [][2]int64
		floor  int64
	}{
		{"one", [][2]int64{{10, 20}}, 10},
		{"never compacted", [][2]int64{{0, 20}}, 0},
		{"overlapping", [][2]int64{{10, 20}, {0, 15}}, 0},
		{"touching", [][2]int64{{10, 20}, {0, 10}}, 0},
		{"a gap", [][2]int64{{10, 20}, {0, 9}}, 10},
		{"chain", [][2]int64{{10, 20}, {5, 12}, {2, 6}}, 2},
		{"chain in two steps", [][2]int64{{2, 6}, {10, 20}, {5, 12}}, 2},
		{"the shorter is older", [][2]int64{{10, 18}, {3, 20}}, 3},
		{"compacted up to its end", [][2]int64{{20, 20}}, 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for i, r := range tt.stores {
				e := newEtcdStore()
				for e.revision < r[1] {
					e.put("k", "x")
				}
				if r[0] > 0 {
					e.compact(r[0])
				}
				paths = append(paths, e.file(t, filepath.Join(dir, string(rune('a'+i)))))
			}
			if got := load(t, paths...).CompactRevision(); got != tt.floor {
				t.Errorf("floor %d, want %d", got, tt.floor)
			}
		})
	}
}

func TestConflict(t *testing.T) {
	dir := t.TempDir()
	e := newEtcdStore()
	e.put("a", "x") // 2
	e.put("a", "y") // 3
	fork := e.clone()
	e.put("b", "1") // 4
	e.put("c", "1") // 5
	e.put("c", "2") // 6
	fork.put("b", "2")
	fork.put("d", "1")
	a, b := e.file(t, filepath.Join(dir, "a")), fork.file(t, filepath.Join(dir, "b"))
	for _, paths := range [][]string{{a, b}, {b, a}} {
		h := load(t, paths...)
		want := []Conflict{
			{Main: 4, Key: "b", StoreA: 0, StoreB: 1},
			{Main: 5, Key: "c", OtherKey: "d", StoreA: 0, StoreB: 1},
		}
		if d := cmp.Diff(want, h.Conflicts()); d != "" {
			t.Errorf("conflicts (-want +got):\n%s", d)
		}
		s := h.Stores()
		const reason = `not of one history with a: revision 4 of key "b" has other bytes there; it is the first of 2 that differ, of 4 that both have`
		if s[0].Rejected != "" || s[1].Rejected != reason {
			t.Errorf("rejected %q and %q", s[0].Rejected, s[1].Rejected)
		}
		if h.Len() != 5 || h.Last() != 6 {
			t.Errorf("%d revisions to %d", h.Len(), h.Last())
		}
	}
}

// TestConflictTie has stores of equal size: the later one is left out, in
// whatever order they were named.
func TestConflictTie(t *testing.T) {
	dir := t.TempDir()
	one, two := newEtcdStore(), newEtcdStore()
	one.put("a", "x")
	two.put("b", "x")
	a, b := one.file(t, filepath.Join(dir, "a")), two.file(t, filepath.Join(dir, "b"))
	h := load(t, b, a)
	const reason = `not of one history with a: revision 2 is of key "b" here and of "a" there; it is the first of 1 that differ, of 1 that both have`
	if s := h.Stores(); s[0].Rejected != "" || s[1].Rejected != reason {
		t.Errorf("rejected %q and %q", s[0].Rejected, s[1].Rejected)
	}
}

// TestConflictWithSpoilt has a snapshot that was changed after it was saved: it
// is left out although it has more records.
func TestConflictWithSpoilt(t *testing.T) {
	dir := t.TempDir()
	e := newEtcdStore()
	e.put("k", strings.Repeat("x", 2000))
	good := e.file(t, filepath.Join(dir, "b"))
	e.put("k", "y")
	spoilt := e.saved(t, filepath.Join(dir, "a"))
	b, err := os.ReadFile(spoilt)
	must(t, err)
	flip(t, spoilt, int64(bytes.LastIndex(b, []byte("xxxx"))), 1)
	s := load(t, spoilt, good).Stores()
	if s[0].Rejected == "" || s[1].Rejected != "" {
		t.Errorf("rejected %q and %q", s[0].Rejected, s[1].Rejected)
	}
}

// TestPutAgainstDelete has a deletion in one store where the other has a put
// whose bytes say no more than the key.
func TestPutAgainstDelete(t *testing.T) {
	dir := t.TempDir()
	one, two := newEtcdStore(), newEtcdStore()
	bytes := []byte("\x0a\x01k")
	one.records[string(revisionKey{main: 2}.append(nil))] = bytes
	two.records[string(revisionKey{main: 2, tombstone: true}.append(nil))] = bytes
	h := load(t, one.file(t, filepath.Join(dir, "a")), two.file(t, filepath.Join(dir, "b")))
	if len(h.Conflicts()) != 1 {
		t.Errorf("conflicts: %+v", h.Conflicts())
	}
}

func TestMissingRevisions(t *testing.T) {
	dir := t.TempDir()
	e := newEtcdStore()
	for range 10 {
		e.put("a", "x")
	}
	hole := e.clone()
	delete(hole.records, string(revisionKey{main: 5}.append(nil)))
	delete(hole.records, string(revisionKey{main: 6}.append(nil)))
	h := load(t, e.file(t, filepath.Join(dir, "a")), hole.file(t, filepath.Join(dir, "b")))
	s := h.Stores()
	const want = `2 revisions between 1 and 11 that other stores have are not in this one (the first is 5, key "a")`
	if len(s[0].Problems) != 0 || len(s[1].Problems) != 1 || s[1].Problems[0] != want {
		t.Errorf("problems %q and %q", s[0].Problems, s[1].Problems)
	}
}

// TestValueFromAnyStore reads a value although the first store that has it
// cannot be read any more.
func TestValueFromAnyStore(t *testing.T) {
	dir := t.TempDir()
	e := newEtcdStore()
	e.put("a", "x")
	a := e.file(t, filepath.Join(dir, "a"))
	h := load(t, a, e.file(t, filepath.Join(dir, "b")))
	flip(t, a, 5000, 1)
	if v, err := h.Value(0); err != nil || string(v) != "x" {
		t.Errorf("value %q, %v", v, err)
	}
}
