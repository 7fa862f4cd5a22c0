package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// index sets the raft index of a store.
func (e *etcdStore) index(n uint64) *etcdStore {
	e.others["meta"]["consistent_index"] = binary.BigEndian.AppendUint64(nil, n)
	return e
}

// member adds a member to a store.
func (e *etcdStore) member(id uint64) *etcdStore {
	e.others["members"][fmt.Sprintf("%x", id)] = []byte(fmt.Sprintf(`{"id":%d,"peerURLs":["http://10.0.0.%d:2380"],"name":"m%d"}`, id, id, id))
	return e
}

// TestRewind restores a cluster from a snapshot of revision 40 and goes on.
func TestRewind(t *testing.T) {
	dir := t.TempDir()
	e := newEtcdStore().schema("3.6").index(200).member(1)
	for i := range 39 {
		e.put(fmt.Sprint("k", i%5), fmt.Sprint(i)) // 2 to 40
	}
	restored := e.clone().index(20)
	for i := range 20 {
		e.put(fmt.Sprint("k", i%5), fmt.Sprint("lost", i))
		restored.put(fmt.Sprint("k", i%5), fmt.Sprint("new", i))
	}
	h := load(t, e.file(t, filepath.Join(dir, "a")), restored.file(t, filepath.Join(dir, "b")))
	want := []Rewind{{Store: 1, Other: 0, LastCommon: 40, Differ: 41, Revision: 60, ConsistentIndex: 20}}
	if d := cmp.Diff(want, h.Rewinds()); d != "" {
		t.Errorf("rewinds (-want +got):\n%s", d)
	}
	if n := h.Inconsistencies(); len(n) > 0 {
		t.Errorf("inconsistencies %v", n)
	}
	alone := load(t, restored.file(t, filepath.Join(dir, "c")))
	if d := cmp.Diff([]Rewind{{Store: 0, Other: -1, Revision: 60, ConsistentIndex: 20}}, alone.Rewinds()); d != "" {
		t.Errorf("rewind of one store (-want +got):\n%s", d)
	}
}

// TestInconsistency has two members with other bytes at one revision.
func TestInconsistency(t *testing.T) {
	dir := t.TempDir()
	e := newEtcdStore().schema("3.6").index(200).member(1)
	for i := range 39 {
		e.put(fmt.Sprint("k", i%5), fmt.Sprint(i))
	}
	other := e.clone()
	k := string(revisionKey{main: 17}.append(nil))
	other.records[k] = bytes.Replace(e.records[k], []byte("15"), []byte("99"), 1)
	h := load(t, e.file(t, filepath.Join(dir, "a")), other.file(t, filepath.Join(dir, "b")))
	if d := cmp.Diff([]Inconsistency{{Main: 17, Key: "k0", StoreA: 0, StoreB: 1, LikeA: []int{0}, LikeB: []int{1}}}, h.Inconsistencies()); d != "" {
		t.Errorf("inconsistencies (-want +got):\n%s", d)
	}
	one, _, err := h.HashKV(0, 0)
	must(t, err)
	two, _, err := h.HashKV(1, 0)
	must(t, err)
	early, _, err := h.HashKV(0, 16)
	must(t, err)
	also, _, err := h.HashKV(1, 16)
	must(t, err)
	if one == two || early != also {
		t.Errorf("hashes %d and %d, before %d and %d", one, two, early, also)
	}
	if _, _, err := h.HashKV(0, 41); err == nil {
		t.Error("a hash of a revision that is not there")
	}
}

// TestOtherCluster has stores without a revision in common.
func TestOtherCluster(t *testing.T) {
	old := func(member uint64) *etcdStore {
		e := newEtcdStore().schema("3.6").index(500).member(member)
		for i := range 30 {
			e.put(fmt.Sprint("k", i), "x") // 2 to 31
		}
		return e
	}
	later := func(e *etcdStore) *etcdStore {
		for i := range 100 {
			e.put(fmt.Sprint("k", i%10), "y")
		}
		e.compact(100)
		return e
	}
	own := later(old(1))
	strange := later(old(1))
	for k, v := range strange.records { // of keys that began where the other has others
		if r, _ := parseRevisionKey([]byte(k)); r.main < 40 {
			delete(strange.records, k)
			continue
		}
		strange.records[k] = bytes.Replace(v, []byte("k"), []byte("q"), 1)
	}
	stranger := newEtcdStore().schema("3.6").index(500).member(7)
	stranger.revision = 1000
	stranger.put("z", "1")
	stranger.compact(1000)
	tests := []struct {
		name  string
		store *etcdStore
		want  string
	}{
		{"the same cluster, later", own, ""},
		{"lifetimes", strange, "it has no revision in common with them, and key \"q"},
		{"members", stranger, "not of one cluster with the other stores: it has no revision, no lifetime and no member in common with them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			first := old(1)
			if tt.name != "the same cluster, later" {
				for range 200 {
					first.put("big", "x") // more records: it is merged first
				}
				first.records = keepUpTo(first.records, 31)
			}
			h := load(t, first.file(t, filepath.Join(dir, "a")), tt.store.file(t, filepath.Join(dir, "b")))
			got := h.Stores()[0].Rejected + h.Stores()[1].Rejected
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("rejected %q, want %q", got, tt.want)
			}
		})
	}
}

func keepUpTo(records map[string][]byte, main int64) map[string][]byte {
	for k := range records {
		if r, _ := parseRevisionKey([]byte(k)); r.main > main {
			delete(records, k)
		}
	}
	return records
}

// statuses writes the lines of a check without their texts.
func statuses(lines []CheckLine) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s: %s\n", l.Name, l.Status)
	}
	return b.String()
}

func TestCheck(t *testing.T) {
	e := newEtcdStore().schema("3.6")
	for i := range 200 {
		e.put("/registry/example.com/things/a/b", fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"b"},"n":"%d"}`, i))
	}
	path := e.saved(t, filepath.Join(t.TempDir(), "db"))
	check := func() []CheckLine {
		return Check(context.Background(), File{Input: "db", Path: "db", OSPath: path}, Options{})
	}
	const sound = "file: ok\nhash: ok\nmeta pages: ok\ntree: ok\nkey order: ok\nrevisions: ok\nstale pages: ok\nvalues: ok\nraft position: ok\n"
	lines := check()
	if d := cmp.Diff(sound, statuses(lines)); d != "" {
		t.Errorf("a sound file (-want +got):\n%s\n%v", d, lines)
	}
	if d := cmp.Diff(lines, check()); d != "" {
		t.Errorf("checked again:\n%s", d)
	}
	b, err := os.ReadFile(path)
	must(t, err)
	// The peers' fault: a flipped byte in a value, which only the hash shows.
	flip(t, path, int64(bytes.LastIndex(b, []byte(`"n":"199"`)))+6, 1)
	if got := statuses(check()); !strings.Contains(got, "hash: fault") || !strings.Contains(got, "tree: ok") {
		t.Errorf("a flipped byte in a value:\n%s", got)
	}
	must(t, os.WriteFile(path, b, 0o600))
	must(t, os.WriteFile(path, bytes.ReplaceAll(b, []byte(`{"apiVersion`), []byte(`x"apiVersion`)), 0o600))
	if got := statuses(check()); !strings.Contains(got, "values: fault") {
		t.Errorf("an object that does not decode:\n%s", got)
	}
}

// TestCheckDamage has faults that a check must name.
func TestCheckDamage(t *testing.T) {
	missing := bigger()
	delete(missing.records, string(revisionKey{main: 3}.append(nil)))
	wrong := bigger()
	k := string(revisionKey{main: 3}.append(nil))
	wrong.records[k] = bytes.Replace(wrong.records[k], []byte("\x18\x03"), []byte("\x18\x04"), 1)
	tests := []struct {
		name  string
		store *etcdStore
		want  string
	}{
		{"a revision is missing", missing, "revisions: fault"},
		{"mod_revision", wrong, "revisions: fault"},
		{"no raft index", newEtcdStore(), "raft position: fault"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.store.file(t, filepath.Join(t.TempDir(), "db"))
			if got := statuses(Check(context.Background(), File{OSPath: path}, Options{})); !strings.Contains(got, tt.want) {
				t.Errorf("want %s:\n%s", tt.want, got)
			}
		})
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if lines := Check(context.Background(), File{OSPath: path}, Options{}); len(lines) != 1 || lines[0].Status != CheckUnknown {
			t.Errorf("%s: %v", path, lines)
		}
	}
}

func TestCheckMembers(t *testing.T) {
	dir := t.TempDir()
	e := newEtcdStore().schema("3.6").index(500).member(1)
	for i := range 60 {
		e.put(fmt.Sprint("k", i%7), fmt.Sprint(i))
		if i%11 == 0 {
			e.del(fmt.Sprint("k", i%7))
		}
	}
	a := e.file(t, filepath.Join(dir, "a"))
	e.compact(30)
	b := e.file(t, filepath.Join(dir, "b"))
	const same = "one history: ok\nhashes: ok\nrestores: ok\n"
	if got := CheckMembers(load(t, a, b)); statuses(got) != same {
		t.Errorf("compacted and not: %v", got)
	}
	delete(e.records, string(revisionKey{main: 50}.append(nil)))
	c := e.file(t, filepath.Join(dir, "c"))
	const lacking = "one history: fault\nhashes: fault\nrestores: ok\n"
	if got := CheckMembers(load(t, a, c)); statuses(got) != lacking {
		t.Errorf("one lacks a revision: %v", got)
	}
	if got := CheckMembers(load(t, a)); statuses(got) != "one history: could-not-check\nhashes: could-not-check\nrestores: ok\n" {
		t.Errorf("one store: %v", got)
	}
}
