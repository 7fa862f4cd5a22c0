package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// past is a store of 40 revisions of a cluster of one member.
func past() *etcdStore {
	e := newEtcdStore().schema("3.6").index(200).member(1)
	for i := range 39 {
		e.put(fmt.Sprint("k", i%5), fmt.Sprint("value ", i))
	}
	return e
}

// otherBytes changes the value at a revision.
func otherBytes(e *etcdStore, main int64) *etcdStore {
	k := string(revisionKey{main: main}.append(nil))
	e.records[k] = bytes.Replace(e.records[k], []byte("value"), []byte("VALUE"), 1)
	return e
}

func without(e *etcdStore, mains ...int64) *etcdStore {
	for _, main := range mains {
		delete(e.records, string(revisionKey{main: main}.append(nil)))
	}
	return e
}

func TestInconsistencySides(t *testing.T) {
	older := past()
	older.records = keepUpTo(older.records, 16)
	compacted := past()
	compacted.compact(25)
	tests := []struct {
		name   string
		stores []*etcdStore
		want   []Inconsistency
	}{
		{"the third differs", []*etcdStore{past(), past(), otherBytes(past(), 17)},
			[]Inconsistency{{Main: 17, Key: "k0", StoreA: 0, StoreB: 2, LikeA: []int{0, 1}, LikeB: []int{2}}}},
		{"the first differs", []*etcdStore{otherBytes(past(), 17), past(), past()},
			[]Inconsistency{{Main: 17, Key: "k0", StoreA: 1, StoreB: 0, LikeA: []int{1, 2}, LikeB: []int{0}}}},
		{"three that differ", []*etcdStore{past(), otherBytes(past(), 17), otherBytes(otherBytes(past(), 17), 18)},
			[]Inconsistency{
				{Main: 17, Key: "k0", StoreA: 0, StoreB: 1, LikeA: []int{0}, LikeB: []int{1, 2}},
				{Main: 17, Key: "k0", StoreA: 0, StoreB: 2, LikeA: []int{0}, LikeB: []int{1, 2}},
				{Main: 18, Key: "k1", StoreA: 0, StoreB: 2, LikeA: []int{0, 1}, LikeB: []int{2}},
			}},
		{"one ends before, one was compacted after", []*etcdStore{past(), otherBytes(past(), 17), older, compacted},
			[]Inconsistency{{Main: 17, Key: "k0", StoreA: 0, StoreB: 1, LikeA: []int{0}, LikeB: []int{1}}}},
		{"one lacks a revision", []*etcdStore{past(), without(past(), 17), past(), older},
			[]Inconsistency{{Main: 17, Key: "k0", StoreA: 0, StoreB: 1, Missing: true, LikeA: []int{0, 2}, LikeB: []int{1}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for i, e := range tt.stores {
				paths = append(paths, e.file(t, filepath.Join(dir, fmt.Sprint(i))))
			}
			if d := cmp.Diff(tt.want, load(t, paths...).Inconsistencies()); d != "" {
				t.Errorf("inconsistencies (-want +got):\n%s", d)
			}
		})
	}
}

// TestNoInconsistency has stores that differ and are not said to be inconsistent.
func TestNoInconsistency(t *testing.T) {
	dir := t.TempDir()
	// A new cluster at the same addresses has the same member IDs, and the few
	// records that name no time and no UID can be equal.
	stranger := newEtcdStore().schema("3.6").index(30).member(1) // restored itself
	stranger.put("k0", "value 0")
	for i := range 38 {
		stranger.put(fmt.Sprint("k", i%5), fmt.Sprint("strange ", i))
	}
	damaged := otherBytes(past(), 17).saved(t, filepath.Join(dir, "damaged"))
	b, err := os.ReadFile(damaged)
	must(t, err)
	b[len(b)-1] ^= 1 // its SHA-256 does not match: something in it was changed
	must(t, os.WriteFile(damaged, b, 0o600))
	lacking := without(past(), 17, 18).saved(t, filepath.Join(dir, "lacking"))
	b, err = os.ReadFile(lacking)
	must(t, err)
	b[len(b)-1] ^= 1
	must(t, os.WriteFile(lacking, b, 0o600))
	own := past().file(t, filepath.Join(dir, "own"))
	for name, path := range map[string]string{"another cluster": stranger.file(t, filepath.Join(dir, "stranger")), "a changed snapshot": damaged, "one that lacks revisions": lacking} {
		h := load(t, own, path)
		apart := slices.ContainsFunc(h.Rewinds(), func(r Rewind) bool { return r.Other >= 0 })
		if len(h.Inconsistencies()) > 0 || apart {
			t.Errorf("%s: %v %v", name, h.Inconsistencies(), h.Rewinds())
		}
		other := h.Stores()[0]
		if other.Path == "own" {
			other = h.Stores()[1]
		}
		if other.Rejected == "" && len(other.Problems) == 0 {
			t.Errorf("%s: nothing is said of it", name)
		}
	}
}
