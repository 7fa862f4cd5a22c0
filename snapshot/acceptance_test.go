package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPeersFaults has the files that other tools answer wrongly about.
func TestPeersFaults(t *testing.T) {
	e := newEtcdStore().schema("3.6")
	for i := range 3 {
		e.put("/registry/pods/default/again", fmt.Sprint("first life ", i)) // 2 to 4
	}
	e.del("/registry/pods/default/again")           // 5
	e.put("/registry/pods/default/again", "second") // 6
	e.put("/registry/pods/default/gone", "x")       // 7
	e.del("/registry/pods/default/gone")            // 8
	h := load(t, e.file(t, filepath.Join(t.TempDir(), "db")))
	newest := func(key string) Revision { return h.At(h.Key(key)[len(h.Key(key))-1]) }

	// 1, 2: the newest value is that of the newest revision, not of the highest version.
	again := h.Key("/registry/pods/default/again")
	if r := newest("/registry/pods/default/again"); r.Main != 6 || r.Version != 1 || r.Create != 6 {
		t.Errorf("newest of a key that was created again: %+v", r)
	}
	if v, err := h.Value(again[len(again)-1]); err != nil || string(v) != "second" {
		t.Errorf("its value: %q, %v", v, err)
	}
	// 3, 5: a deleted key is one; a tombstone is no value.
	if r := newest("/registry/pods/default/gone"); !r.Tombstone || r.Main != 8 {
		t.Errorf("newest of a deleted key: %+v", r)
	}
	// 4: what was at revision 3.
	at := -1
	for _, i := range again {
		if h.At(i).Main <= 3 {
			at = i
		}
	}
	if v, err := h.Value(at); err != nil || string(v) != "first life 1" {
		t.Errorf("at revision 3: %q, %v", v, err)
	}
	// 6: the last revision is a deletion.
	if h.Last() != 8 {
		t.Errorf("last revision %d", h.Last())
	}
}

// TestPeersCheck has the two files that other checks pass: one with a flipped
// byte in a value, and one that is cut in its free pages. No check writes.
func TestPeersCheck(t *testing.T) {
	path := bigger().saved(t, filepath.Join(t.TempDir(), "db"))
	whole, err := os.ReadFile(path)
	must(t, err)
	flip(t, path, int64(bytes.LastIndex(whole, []byte("xxxxxxxx"))), 1)
	if got := statuses(Check(context.Background(), File{OSPath: path}, Options{})); !strings.Contains(got, "hash: fault") {
		t.Errorf("a flipped byte:\n%s", got)
	}

	path, _ = compacted(t)
	live, err := os.ReadFile(path)
	must(t, err)
	f, err := os.Open(path)
	must(t, err)
	meta, _, err := chooseMeta(f, int64(len(live)))
	must(t, err)
	must(t, f.Close())
	must(t, os.Truncate(path, int64(meta.highWater-1)*4096))
	short, err := os.ReadFile(path)
	must(t, err)
	if got := statuses(Check(context.Background(), File{OSPath: path}, Options{})); !strings.Contains(got, "meta pages: fault") {
		t.Errorf("cut in its last page:\n%s", got)
	}
	if s := load(t, path).Stores()[0]; !strings.HasPrefix(s.Salvaged, "truncated: ") || s.Records+s.Carved == 0 {
		t.Errorf("cut in its last page: %+v", s)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(short, after) {
		t.Errorf("the file was changed: %v", err)
	}
}

// TestDamagedMember merges a member's damaged file with a sound one: what differs
// is left out of the damaged one, and its holes are filled.
func TestDamagedMember(t *testing.T) {
	e := bigger()
	dir := t.TempDir()
	sound, hurt := e.file(t, filepath.Join(dir, "a")), e.file(t, filepath.Join(dir, "b"))
	b, err := os.ReadFile(hurt)
	must(t, err)
	at := bytes.LastIndex(b, []byte("vvvvvvvv"))
	for p := len(b)/4096 - 1; p > 2; p-- { // the last leaf but the one that is changed
		if isPage(b[p*4096:], uint64(p)) && b[p*4096+8] == leafPage && p != at/4096 && bytes.Contains(b[p*4096:(p+1)*4096], []byte("vvvvvvvv")) {
			flip(t, hurt, int64(p)*4096+10, 0xff)
			break
		}
	}
	flip(t, hurt, int64(at), 1)
	h := load(t, sound, hurt)
	checkRecords(t, h, e)
	s := h.Stores()
	if h.Len() != len(e.records) || s[1].Salvaged == "" || s[1].Rejected != "" || len(h.Conflicts()) > 0 || h.CompactRevision() != 0 {
		t.Errorf("%d revisions of %d, conflicts %v: %+v", h.Len(), len(e.records), h.Conflicts(), s[1])
	}
	if x := h.Inconsistencies(); len(x) > 0 {
		t.Errorf("damage is taken for inconsistency: %v", x)
	}
	if c := h.Contradictions(); len(c) == 0 || c[0].Store != 1 || c[0].Offset == 0 {
		t.Errorf("contradictions %+v", c)
	}
}
