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

	"go.etcd.io/bbolt"
)

// salvaged writes bytes as a store, loads it and checks what it gives.
func salvaged(t testing.TB, b []byte, of *etcdStore) (*History, Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	must(t, os.WriteFile(path, b, 0o600))
	h, err := Load(context.Background(), []File{{Input: "db", Path: "db", OSPath: path}}, Options{})
	must(t, err)
	defer func() { must(t, h.Close()) }()
	checkRecords(t, h, of)
	return h, h.Stores()[0]
}

// TestTruncatedAnywhere cuts a file at every multiple of 512 bytes.
func TestTruncatedAnywhere(t *testing.T) {
	path, before := compacted(t)
	whole, err := os.ReadFile(path)
	must(t, err)
	all := load(t, path)
	best := 0
	for n := 0; n < len(whole); n += 512 {
		h, s := salvaged(t, whole[:n], before)
		if len(s.Problems) == 0 && h.Len() != all.Len() {
			t.Fatalf("cut at %d: nothing is said", n)
		}
		if h.Len() > 0 && s.Salvaged == "" {
			t.Fatalf("cut at %d: %+v", n, s)
		}
		best = max(best, h.Len())
	}
	if best < all.Len()*9/10 {
		t.Errorf("at best %d of %d revisions", best, all.Len())
	}
}

// TestZeroedPages overwrites one page at a time and wants what was on it to be
// named, unless another page has it too.
func TestZeroedPages(t *testing.T) {
	e := bigger()
	whole, err := os.ReadFile(e.file(t, filepath.Join(t.TempDir(), "db")))
	must(t, err)
	all := 411
	named := 0
	for p := range len(whole) / 4096 {
		b := bytes.Clone(whole)
		clear(b[p*4096 : (p+1)*4096])
		path := filepath.Join(t.TempDir(), "db")
		must(t, os.WriteFile(path, b, 0o600))
		h := load(t, path)
		s := h.Stores()[0]
		for i := range h.Len() {
			if _, err := h.Value(i); err != nil {
				t.Fatal(err)
			}
		}
		if h.Len() == all {
			continue
		}
		if len(s.Lost) == 0 {
			t.Errorf("page %d: %d of %d revisions, and nothing is lost: %q", p, h.Len(), all, s.Problems)
		}
		for _, r := range s.Lost {
			if r.To >= r.From && r.Why != "" {
				named++
			}
		}
		if h.CompactRevision() == 0 {
			t.Errorf("page %d: with a hole the history is complete from the first write", p)
		}
	}
	if named == 0 {
		t.Error("no range of lost revisions was named")
	}
}

// TestOlderTree damages the root of the newest transaction: the one before is
// used for what only a tree tells.
func TestOlderTree(t *testing.T) {
	e := bigger()
	path := e.file(t, filepath.Join(t.TempDir(), "db"))
	before := load(t, path).Stores()[0]
	f, err := os.Open(path)
	must(t, err)
	meta, _, err := chooseMeta(f, before.Size)
	must(t, err)
	must(t, f.Close())
	flip(t, path, int64(meta.root)*4096+8, 0xff)
	h := load(t, path)
	s := h.Stores()[0]
	if s.TxID != before.TxID-1 || s.ConsistentIndex != before.ConsistentIndex || s.Carved == 0 || h.Len() != before.Records {
		t.Errorf("%d revisions of %d: %+v", h.Len(), before.Records, s)
	}
	checkRecords(t, h, e)
}

// TestCycle lets a branch refer to itself.
func TestCycle(t *testing.T) {
	e := bigger()
	whole, err := os.ReadFile(e.file(t, filepath.Join(t.TempDir(), "db")))
	must(t, err)
	cycles := 0
	for p := 2; p < len(whole)/4096; p++ {
		page := whole[p*4096:]
		if binary.LittleEndian.Uint64(page) != uint64(p) || page[8] != branchPage {
			continue
		}
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint64(b[p*4096+pageHeader+8:], uint64(p))
		h, s := salvaged(t, b, e)
		if strings.Contains(strings.Join(s.Problems, ""), "reached twice") {
			cycles++
			if h.Len() < 350 {
				t.Errorf("%d revisions: %q", h.Len(), s.Problems)
			}
		}
	}
	if cycles == 0 {
		t.Error("no cycle was met")
	}
}

// TestGiantOverflow claims that every page runs on for billions of pages.
func TestGiantOverflow(t *testing.T) {
	e := bigger()
	b, err := os.ReadFile(e.file(t, filepath.Join(t.TempDir(), "db")))
	must(t, err)
	for p := 2; p < len(b)/4096; p++ {
		if isPage(b[p*4096:], uint64(p)) {
			binary.LittleEndian.PutUint32(b[p*4096+12:], 0xffffffff)
		}
	}
	if h, _ := salvaged(t, b, e); h.Len() < 350 {
		t.Errorf("%d revisions", h.Len())
	}
}

// TestTornCopy copies a file page by page while its pages are written.
func TestTornCopy(t *testing.T) {
	e := bigger()
	path := e.file(t, filepath.Join(t.TempDir(), "db"))
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true, NoSync: true})
	must(t, err)
	next := make(chan int)
	done := make(chan struct{})
	go func() {
		for i := range next {
			e.put(fmt.Sprint("/registry/pods/default/p", i%50), strings.Repeat("t", 700))
			k := string(revisionKey{main: e.revision}.append(nil))
			if err := db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(keyBucket).Put([]byte(k), e.records[k]) }); err != nil {
				t.Error(err)
			}
			done <- struct{}{}
		}
	}()
	torn := 0
	for range 5 {
		b, err := os.ReadFile(path)
		must(t, err)
		f, err := os.Open(path)
		must(t, err)
		for at := 0; at < len(b); at += 4096 { // while a page is read, others are written
			next <- at / 4096
			_, err := f.ReadAt(b[at:min(at+4096, len(b))], int64(at))
			must(t, err)
			<-done
		}
		must(t, f.Close())
		h, s := salvaged(t, b, e)
		if s.Salvaged != "" {
			torn++
		}
		if h.Len() < 300 {
			t.Errorf("%d revisions: %q", h.Len(), s.Problems)
		}
	}
	close(next)
	must(t, db.Close())
	if torn == 0 {
		t.Error("no copy was torn")
	}
}

// TestOddRecords has what no etcd writes, and what only a restore does.
func TestOddRecords(t *testing.T) {
	e := bigger()
	e.records["short"] = []byte("x")
	e.records[string(revisionKey{main: e.revision + 100}.append(nil))] = nil
	e.others["foreign"] = map[string][]byte{"a": []byte("b")}
	path := e.file(t, filepath.Join(t.TempDir(), "db"))
	b, err := os.ReadFile(path)
	must(t, err)
	sound := load(t, path)
	clear(b[:80]) // without the first meta page the second is used
	h, s := salvaged(t, b, e)
	if h.Len() == 0 || sound.Len() != 411 || len(s.UnknownBuckets) != 1 {
		t.Errorf("%d and %d revisions: %+v", sound.Len(), h.Len(), s)
	}
}
