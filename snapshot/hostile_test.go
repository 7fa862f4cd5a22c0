package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostilePage is the page size of files that a test writes page by page.
const hostilePage = 1024

// image is a bbolt file made by hand, to have what bbolt never writes.
type image []byte

// newImage is a file with sound meta pages: its root is page 2.
func newImage(pages int) image {
	b := make(image, pages*hostilePage)
	for id := range uint64(2) {
		m := b.page(id)
		b.header(id, metaPage, 0, 0)
		le := binary.LittleEndian
		le.PutUint32(m[16:], boltMagic)
		le.PutUint32(m[20:], boltVersion)
		le.PutUint32(m[24:], hostilePage)
		le.PutUint64(m[32:], 2)
		le.PutUint64(m[48:], 1<<64-1)
		le.PutUint64(m[56:], uint64(pages))
		le.PutUint64(m[64:], 10+id)
		sum := fnv.New64a()
		_, _ = sum.Write(m[16:72])
		le.PutUint64(m[72:], sum.Sum64())
	}
	return b
}

func (b image) page(id uint64) []byte { return b[id*hostilePage:] }

func (b image) header(id uint64, flags uint16, count int, overflow uint32) {
	le := binary.LittleEndian
	le.PutUint64(b.page(id), id)
	le.PutUint16(b.page(id)[8:], flags)
	le.PutUint16(b.page(id)[10:], uint16(count))
	le.PutUint32(b.page(id)[12:], overflow)
}

// branch writes a page of references; the keys are two bytes that count up.
func (b image) branch(id uint64, overflow uint32, to ...uint64) {
	b.header(id, branchPage, len(to), overflow)
	p := b.page(id)
	data := pageHeader + len(to)*elementSize
	for i, child := range to {
		e := p[pageHeader+i*elementSize:]
		binary.LittleEndian.PutUint32(e, uint32(data-pageHeader-i*elementSize))
		binary.LittleEndian.PutUint32(e[4:], 2)
		binary.LittleEndian.PutUint64(e[8:], child)
		binary.BigEndian.PutUint16(p[data:], uint16(i))
		data += 2
	}
}

// item is an element of a leaf.
type item struct {
	flags      uint32
	key, value string
}

// bucket is the entry of a bucket with a root page.
func bucket(name string, root uint64) item {
	return item{bucketFlag, name, string(binary.LittleEndian.AppendUint64(nil, root)) + strings.Repeat("\x00", 8)}
}

func (b image) leaf(id uint64, items ...item) {
	b.header(id, leafPage, len(items), 0)
	p := b.page(id)
	data := pageHeader + len(items)*elementSize
	for i, x := range items {
		e := p[pageHeader+i*elementSize:]
		binary.LittleEndian.PutUint32(e, x.flags)
		binary.LittleEndian.PutUint32(e[4:], uint32(data-pageHeader-i*elementSize))
		binary.LittleEndian.PutUint32(e[8:], uint32(len(x.key)))
		binary.LittleEndian.PutUint32(e[12:], uint32(len(x.value)))
		data += copy(p[data:], x.key+x.value)
	}
}

// record is the entry of revision n, which deletes a key.
func (b image) record(n int64) item {
	return item{0, string(revisionKey{main: n, tombstone: true}.append(nil)), "\x0a\x02/k"}
}

// load reads the image as a store.
func (b image) load(t *testing.T) (*History, Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	must(t, os.WriteFile(path, b, 0o600))
	h := load(t, path)
	return h, h.Stores()[0]
}

// said wants a problem of a store.
func said(t *testing.T, s Store, want string) {
	t.Helper()
	if all := strings.Join(s.Problems, "\n"); !strings.Contains(all, want) {
		t.Errorf("no problem %q in:\n%.1000s", want, all)
	}
}

// TestImage makes sure that images are sound where a test does not spoil them.
func TestImage(t *testing.T) {
	b := newImage(6)
	b.leaf(2, bucket("key", 3))
	b.branch(3, 0, 4, 5)
	b.leaf(4, b.record(2), b.record(3))
	copy(b.page(3)[pageHeader+2*elementSize+2:], "\x01\x00") // the second key: above those of page 4
	b.leaf(5, item{0, "\x01\x00short", "x"})
	h, s := b.load(t)
	if h.Len() != 2 || s.Salvaged != "" || len(s.Problems) != 1 {
		t.Errorf("%d revisions: %+v", h.Len(), s)
	}
}

// counted counts what is read of each page.
type counted struct {
	image
	reads map[int64]int
	bytes int64
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	c.reads[at/hostilePage]++
	n, err := bytes.NewReader(c.image).ReadAt(b, at)
	c.bytes += int64(n)
	return n, err
}

// TestManyReferences has a thousand references to one damaged page: it is not read
// for each of them, and each is still told of.
func TestManyReferences(t *testing.T) {
	b := newImage(40)
	b.leaf(2, bucket("key", 3))
	refs := make([]uint64, 1000)
	for i := range refs {
		refs[i] = 30
	}
	b.branch(3, 20, refs...)
	b.leaf(30, item{7, "flags", ""})
	b.leaf(36, b.record(2)) // outside the tree
	_, s := b.load(t)
	said(t, s, "page 30 (offset 30720): element 0 has flags 0x7")
	said(t, s, "page 30 (offset 30720): referred to once more, and was found damaged 8 times")
	said(t, s, "980 more damaged parts of the tree are left out")
	if len(s.Lost) != len(refs) || s.Carved != 1 {
		t.Errorf("%d lost parts of %d, %d carved", len(s.Lost), len(refs), s.Carved)
	}

	file := &counted{image: b, reads: map[int64]int{}}
	m, err := readMeta(file, 0, 0)
	must(t, err)
	v := newVerifier(file, layout{pageSize: hostilePage, meta: m, size: int64(len(b))}, &meter{total: &progress{}})
	v.found = &findings{blind: true}
	must(t, v.walk(context.Background()))
	if n := file.reads[30]; n != maxTries {
		t.Errorf("the page is read %d times, want %d", n, maxTries)
	}
}

// TestOtherReference has a page that a damaged branch refers to before the right one
// does: it is read where it belongs.
func TestOtherReference(t *testing.T) {
	b := newImage(8)
	b.leaf(2, bucket("key", 4), bucket("lease", 3))
	b.branch(3, 0, 5)
	copy(b.page(3)[pageHeader+elementSize:], "\x00\x01") // above what the page has
	b.branch(4, 0, 5)
	b.leaf(5, b.record(2))
	h, s := b.load(t)
	said(t, s, `page 5 (offset 5120): key of element 0 is not in order: entries of the bucket "lease" below it cannot be reached`)
	if h.Len() != 1 || s.Records != 1 || len(s.Lost) > 0 {
		t.Errorf("%d revisions: %+v", h.Len(), s)
	}
}

// TestOverlap has two elements that share bytes, as bbolt never writes them: a page
// of such elements would be worth more bytes than the file has.
func TestOverlap(t *testing.T) {
	b := newImage(6)
	b.leaf(2, bucket("key", 3))
	b.leaf(3, b.record(2), b.record(3))
	sound, _ := b.load(t)
	e := b.page(3)[pageHeader+elementSize:]
	binary.LittleEndian.PutUint32(e[4:], binary.LittleEndian.Uint32(e[4:])-1)
	h, s := b.load(t)
	said(t, s, "page 3 (offset 3072): element 1 begins at byte 69, what lies before it ends at 70")
	if sound.Len() != 2 || h.Len() != 1 || len(s.Lost) != 1 {
		t.Errorf("%d of %d revisions: %+v", h.Len(), sound.Len(), s)
	}
}

// TestCutTable lowers the count of a page by one: the last record is lost to the
// tree, and that is told.
func TestCutTable(t *testing.T) {
	b := newImage(6)
	b.leaf(2, bucket("key", 3))
	b.leaf(3, b.record(2), b.record(3), b.record(4))
	b.page(3)[10]--
	h, s := b.load(t)
	said(t, s, "page 3 (offset 3072): element 0 begins at byte 64, what lies before it ends at 48")
	if h.Len() != 2 || s.Carved != 2 || len(s.Lost) != 1 {
		t.Errorf("%d revisions: %+v", h.Len(), s)
	}
}

// TestDeepTree has a chain of branch pages instead of a tree.
func TestDeepTree(t *testing.T) {
	for _, tt := range []struct {
		depth uint64
		deep  bool
	}{{maxLevel, false}, {maxLevel + 1, true}, {500, true}} {
		b := newImage(520)
		b.leaf(2, bucket("key", 3))
		for id := range tt.depth {
			b.branch(3+id, 0, 4+id)
		}
		b.leaf(3+tt.depth, b.record(2))
		h, s := b.load(t)
		if tt.deep {
			said(t, s, "lies below 65 branch pages: no tree is so deep")
		} else if s.Salvaged != "" {
			t.Errorf("depth %d: %q", tt.depth, s.Problems)
		}
		if h.Len() != 1 {
			t.Errorf("depth %d: %d revisions", tt.depth, h.Len())
		}
	}
}

// TestNestedBuckets has buckets in buckets, also in the one that holds the
// revisions, where none is lost silently.
func TestNestedBuckets(t *testing.T) {
	name := string(revisionKey{main: 3}.append(nil))
	for _, damaged := range []bool{false, true} {
		b := newImage(12)
		b.leaf(2, bucket("key", 3), bucket("outer", 4))
		b.leaf(3, b.record(2), bucket(name, 6))
		b.leaf(4, bucket("inner", 5))
		b.leaf(5, bucket("innermost", 7))
		b.leaf(6)
		b.leaf(7, item{0, "k", "v"})
		if damaged {
			b.header(7, 0x40, 1, 0)
		}
		h, s := b.load(t)
		said(t, s, "1 records whose value cannot be decoded are left out (the first is revision 3)")
		if h.Len() != 1 || s.Records != 2 || strings.Join(s.UnknownBuckets, " ") != "outer" {
			t.Errorf("damaged %v: %d revisions: %+v", damaged, h.Len(), s)
		}
		if damaged {
			said(t, s, `page 7 (offset 7168): flags 0x40, neither branch nor leaf: entries of the bucket "outer" below it cannot be reached`)
		}
	}
}

// TestBucketCycle has buckets whose root is a page that is in use.
func TestBucketCycle(t *testing.T) {
	for root := range uint64(4) {
		b := newImage(6)
		b.leaf(2, bucket("key", 3), bucket("meta", root))
		b.leaf(3, b.record(2))
		h, s := b.load(t)
		want := map[uint64]string{0: "an inline bucket of 16 bytes", 1: "refers to page 1, but pages go from 2 to 5", 2: "reached twice", 3: "reached twice"}[root]
		said(t, s, want)
		if h.Len() != 1 && len(s.Lost) == 0 { // the page goes to whom it is reached from first
			t.Errorf("root %d: %d revisions, and nothing is lost", root, h.Len())
		}
	}
}

// TestNoKeys has bbolt files without revisions: one that is not etcd's, and an etcd
// that nobody has written to.
func TestNoKeys(t *testing.T) {
	b := newImage(6)
	b.leaf(2, bucket("things", 3))
	b.leaf(3, item{0, "k", "v"})
	h, s := b.load(t)
	said(t, s, `a bbolt file without the bucket "key": not an etcd store`)
	if h.Len() != 0 {
		t.Errorf("%d revisions", h.Len())
	}
	b.leaf(2, bucket("key", 3))
	b.leaf(3)
	if h, s = b.load(t); h.Len() != 0 || s.Salvaged != "" || len(s.Problems) > 0 {
		t.Errorf("%d revisions of an empty store: %+v", h.Len(), s)
	}
}

// TestGiantTables has pages that all claim the largest table and to run on for ever:
// no more is read than a few times the file.
func TestGiantTables(t *testing.T) {
	for _, between := range []uint64{1, 2, 100, 1000} { // how many pages bear a number
		b := newImage(4000)
		for id := uint64(2); id < 4000; id++ {
			if id%between == 0 {
				b.header(id, leafPage, 0xffff, 0xffffffff)
			}
		}
		file := &counted{image: b, reads: map[int64]int{}}
		p := &pageScanner{file: file, ps: hostilePage, size: int64(len(b)), meter: &meter{total: &progress{}}}
		must(t, p.run(context.Background(), func(id uint64, list []scanned) { t.Errorf("page %d has %d records", id, len(list)) }))
		if file.bytes > 3*int64(len(b)) {
			t.Errorf("every %d pages: %d bytes read of a file of %d", between, file.bytes, len(b))
		}
	}
}

// TestFreelistDamage spoils the list of free pages, which nothing needs.
func TestFreelistDamage(t *testing.T) {
	e := bigger()
	e.freelist = true
	whole, err := os.ReadFile(e.file(t, filepath.Join(t.TempDir(), "db")))
	must(t, err)
	lists := 0
	for id := uint64(2); id < uint64(len(whole)/4096); id++ {
		p := whole[id*4096:]
		if binary.LittleEndian.Uint64(p) != id || p[8] != freelistPage {
			continue
		}
		lists++
		binary.LittleEndian.PutUint16(p[10:], 0xffff)
		binary.LittleEndian.PutUint32(p[12:], 0xffffffff)
		for i := range 10 {
			binary.LittleEndian.PutUint64(p[pageHeader+8*i:], 1<<62)
		}
	}
	h, s := salvaged(t, whole, e)
	if lists == 0 || h.Len() != len(e.records) || s.Salvaged != "" {
		t.Errorf("%d lists, %d revisions of %d: %s", lists, h.Len(), len(e.records), fmt.Sprint(s.Problems))
	}
}

// TestPageSetFirst compares with looking at each page.
func TestPageSetFirst(t *testing.T) {
	s := newPageSet(200)
	for _, n := range []uint64{3, 63, 64, 130, 191} {
		s.add(n)
	}
	for from := range uint64(300) {
		for to := from; to < 300; to++ {
			want, found := uint64(0), false
			for n := from; n <= to && !found; n++ {
				if s.has(n) {
					want, found = n, true
				}
			}
			if got, ok := s.first(from, to); ok != found || ok && got != want {
				t.Fatalf("from %d to %d: %d, %v; want %d, %v", from, to, got, ok, want, found)
			}
		}
	}
}
