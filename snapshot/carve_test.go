package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// advance changes the file of a store into that of a later one, a few records a
// transaction, as etcd does: pages that are given up stay as they are until
// another transaction takes them.
func advance(t testing.TB, path string, to *etcdStore) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: to.pageSize, NoFreelistSync: !to.freelist, NoSync: true, NoGrowSync: true})
	must(t, err)
	var gone, fresh []string
	must(t, db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(keyBucket)
		b.FillPercent = 0.9
		if err := b.ForEach(func(k, _ []byte) error {
			if _, ok := to.records[string(k)]; !ok {
				gone = append(gone, string(k))
			}
			return nil
		}); err != nil {
			return err
		}
		for _, k := range slices.Sorted(maps.Keys(to.records)) {
			if b.Get([]byte(k)) == nil {
				fresh = append(fresh, k)
			}
		}
		for name, entries := range to.others {
			if err := fill(tx, name, entries); err != nil {
				return err
			}
		}
		return nil
	}))
	apply := func(keys []string, f func(b *bbolt.Bucket, k string) error) {
		for part := range slices.Chunk(keys, 100) {
			must(t, db.Update(func(tx *bbolt.Tx) error {
				b := tx.Bucket(keyBucket)
				b.FillPercent = 0.9
				for _, k := range part {
					if err := f(b, k); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	}
	apply(gone, func(b *bbolt.Bucket, k string) error { return b.Delete([]byte(k)) })
	apply(fresh, func(b *bbolt.Bucket, k string) error { return b.Put([]byte(k), to.records[k]) })
	must(t, db.Close())
}

// compacted is a file whose store was compacted, and what it held before.
func compacted(t testing.TB) (path string, before *etcdStore) {
	t.Helper()
	return compactedBy(t, bigger())
}

// compactedBy is compacted, beginning with a store.
func compactedBy(t testing.TB, e *etcdStore) (path string, before *etcdStore) {
	t.Helper()
	for i := range 400 {
		e.put(fmt.Sprint("/registry/pods/default/p", i), strings.Repeat("w", i))
		if i%5 == 0 {
			e.del(fmt.Sprint("/registry/pods/default/p", i))
		}
	}
	before = e.clone()
	path = e.file(t, filepath.Join(t.TempDir(), "db"))
	e.compact(e.revision - 50)
	advance(t, path, e)
	return path, before
}

// checkRecords wants every revision to be one of a store's, with its value, and
// returns how many are carved.
func checkRecords(t testing.TB, h *History, of *etcdStore) (carved int) {
	t.Helper()
	for i := range h.Len() {
		r := h.At(i)
		if r.Carved {
			carved++
		}
		want, ok := of.records[string(revisionKey{main: r.Main, sub: r.Sub, tombstone: r.Tombstone}.append(nil))]
		if !ok {
			t.Fatalf("revision %+v was never written", r)
		}
		kv, err := parseKeyValue([]byte(want))
		must(t, err)
		value, err := h.Value(i)
		must(t, err)
		if string(kv.key) != r.Key || !bytes.Equal(kv.value, value) || !r.Tombstone && (kv.create != r.Create || kv.version != r.Version) {
			t.Fatalf("revision %+v is not what was written", r)
		}
	}
	return carved
}

func TestCarve(t *testing.T) {
	path, before := compacted(t)
	h := load(t, path)
	s := h.Stores()[0]
	carved := checkRecords(t, h, before)
	if carved < 50 || carved != s.Carved || s.CarvedFirst == 0 || s.CarvedLast > s.CompactRevision || len(s.Problems) > 0 || s.Salvaged != "" {
		t.Errorf("%d carved, store %+v", carved, s)
	}
	if h.Len() != s.Records+s.Carved || h.CompactRevision() != s.CompactRevision || h.Last() != before.revision {
		t.Errorf("%d revisions, floor %d, last %d", h.Len(), h.CompactRevision(), h.Last())
	}
	tombstones := 0
	for i := range h.Len() {
		if r := h.At(i); r.Carved && r.Tombstone {
			tombstones++
			if r.Create != 0 {
				t.Errorf("what a carved tombstone ends is not known: %+v", r)
			}
		}
	}
	if tombstones == 0 {
		t.Error("no carved tombstones")
	}
	if c := h.Contradictions(); len(c) > 0 {
		t.Errorf("contradictions %v", c)
	}
}

// TestCarveTwice has two members whose stale pages hold different revisions, and
// a snapshot of before that has them all: nothing is carved any more.
func TestCarveTwice(t *testing.T) {
	path, before := compacted(t)
	old := before.saved(t, filepath.Join(t.TempDir(), "old"))
	h := load(t, path, old)
	if n := checkRecords(t, h, before); n != 0 || h.CompactRevision() != 0 || h.Len() != len(before.records) {
		t.Errorf("%d carved, %d revisions of %d, floor %d", n, h.Len(), len(before.records), h.CompactRevision())
	}
}

// stalePlaces are the records on pages outside the tree.
func stalePlaces(t testing.TB, path string) map[revisionKey][]int64 {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer func() { must(t, f.Close()) }()
	info, err := f.Stat()
	must(t, err)
	meta, _, err := chooseMeta(f, info.Size())
	must(t, err)
	l := layout{pageSize: meta.pageSize, meta: meta, size: info.Size()}
	m := &meter{total: &progress{}}
	_, seen, err := verifyPages(context.Background(), f, l, m)
	must(t, err)
	places := map[revisionKey][]int64{}
	p := &pageScanner{file: f, ps: l.pageSize, size: l.size, seen: seen, meter: m}
	must(t, p.run(context.Background(), func(_ uint64, list []scanned) {
		for _, r := range list {
			places[r.rev] = append(places[r.rev], r.offset+r.length-1)
		}
	}))
	return places
}

// TestContradictions changes a stale copy of a record that the tree has, and one
// of two copies of a record that it does not have.
func TestContradictions(t *testing.T) {
	path, before := compacted(t)
	healthy := load(t, path)
	reachable, carved := map[revisionKey]bool{}, map[revisionKey]bool{}
	for i := range healthy.Len() {
		r := healthy.At(i)
		k := revisionKey{r.Main, r.Sub, r.Tombstone}
		if r.Size > 5 && r.Carved {
			carved[k] = true
		} else if r.Size > 5 {
			reachable[k] = true
		}
	}
	var inTree, copied revisionKey
	places := stalePlaces(t, path)
	order := slices.SortedFunc(maps.Keys(places), func(a, b revisionKey) int { return cmp.Compare(a.main, b.main) })
	for _, r := range order {
		if reachable[r] {
			inTree = r
		}
	}
	for _, r := range order {
		// On the page of the other one nothing is believed behind that.
		page := func(n int) int64 { return places[r][n] / 4096 }
		if other := places[inTree][0] / 4096; carved[r] && len(places[r]) > 1 && page(0) != other && page(1) != other {
			copied = r
		}
	}
	if inTree.main == 0 || copied.main == 0 {
		t.Fatal("the file has no such stale records")
	}
	flip(t, path, places[inTree][0], 1)
	flip(t, path, places[copied][1], 1)
	h := load(t, path)
	checkRecords(t, h, before)
	found := map[revisionKey]Contradiction{}
	for _, c := range h.Contradictions() {
		found[revisionKey{main: c.Main, sub: c.Sub}] = c
	}
	if c := found[inTree]; !c.Reachable || c.OtherOffset != -1 || c.Key == "" || c.Offset == 0 {
		t.Errorf("revision %d of the tree: %+v", inTree.main, c)
	}
	if c := found[copied]; c.Reachable || c.OtherOffset <= 0 || c.Offset <= c.OtherOffset {
		t.Errorf("carved revision %d: %+v", copied.main, c)
	}
	for i := range h.Len() {
		if r := h.At(i); r.Main == copied.main && r.Sub == copied.sub {
			t.Errorf("a disputed record is in the history: %+v", r)
		}
	}
}

// TestEarlierLife writes a store over the file of another history without
// cutting it: its pages behind the new ones are of that other history.
func TestEarlierLife(t *testing.T) {
	other := newEtcdStore()
	for i := range 900 {
		other.put(fmt.Sprint("/registry/pods/other/p", i%300), strings.Repeat("o", 200))
	}
	for _, compactAt := range []int64{0, 600} {
		path := other.file(t, filepath.Join(t.TempDir(), "db"))
		e := bigger()
		for i := range 300 {
			e.put(fmt.Sprint("/registry/pods/default/p", i), "y")
		}
		if compactAt > 0 {
			e.compact(compactAt)
		}
		b, err := os.ReadFile(e.file(t, filepath.Join(t.TempDir(), "db")))
		must(t, err)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteAt(b, 0)
		must(t, err)
		must(t, f.Close())
		h := load(t, path)
		for i := range h.Len() {
			if r := h.At(i); r.Carved && strings.HasPrefix(r.Key, "/registry/pods/other/") && r.Main > compactAt && r.Main <= h.Last() {
				t.Fatalf("compacted at %d: %+v is of the earlier life", compactAt, r)
			}
		}
		if p := strings.Join(h.Stores()[0].Problems, "\n"); !strings.Contains(p, "hold another history than the tree (an earlier life of the file") {
			t.Errorf("compacted at %d: problems %s", compactAt, p)
		}
	}
}

// TestMisfits checks carved revisions by create_revision and version.
func TestMisfits(t *testing.T) {
	carvedMark := map[bool]uint32{true: markCarved}
	put := func(main, create, version int64, carved bool) record {
		return record{main: main, create: create, version: version, mark: carvedMark[carved]}
	}
	del := func(main int64, carved bool) record {
		return record{main: main, mark: markTombstone | carvedMark[carved]}
	}
	tests := []struct {
		name string
		list []record
		want []int
	}{
		{"a lifetime", []record{put(2, 2, 1, true), put(5, 2, 2, true), put(9, 2, 3, false)}, nil},
		{"with holes", []record{put(2, 2, 1, true), put(9, 2, 4, false)}, nil},
		{"two lifetimes", []record{put(2, 2, 1, true), del(3, true), put(9, 8, 2, false)}, nil},
		{"no end of the first", []record{put(2, 2, 1, true), put(9, 8, 2, false)}, nil},
		{"create within a lifetime", []record{put(4, 4, 1, true), put(9, 2, 3, false)}, []int{0}},
		{"version goes back", []record{put(4, 2, 3, true), put(9, 2, 3, false)}, []int{0}},
		{"too many versions", []record{put(4, 2, 2, true), put(6, 2, 5, false)}, []int{0}},
		{"a deletion within a lifetime", []record{del(4, true), put(6, 2, 3, false)}, []int{0}},
		{"behind a trusted one", []record{put(4, 2, 2, false), put(6, 3, 1, true)}, []int{1}},
		{"two carved ones", []record{put(4, 2, 2, true), put(6, 3, 1, true)}, []int{0, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := misfits(tt.list); !slices.Equal(got, tt.want) {
				t.Errorf("misfits %v, want %v", got, tt.want)
			}
		})
	}
}

// TestReusedOverflow has a stale record on several pages of which one was used
// again: what is left of it is not believed.
func TestReusedOverflow(t *testing.T) {
	const ps = 4096
	kv := bytes.Repeat([]byte("z"), 3*ps)
	value := append([]byte("\x0a\x01k\x10\x05\x18\x05\x20\x01\x2a"), 0x80, 0x60) // 3*4096
	value = append(value, kv...)
	page := make([]byte, 4*ps)
	le := func(at int, n uint64, size int) {
		for i := range size {
			page[at+i] = byte(n >> (8 * i))
		}
	}
	le(0, 2, 8)
	le(8, leafPage, 2)
	le(10, 1, 2)
	le(12, 3, 4)
	le(20, 16, 4)
	le(24, revisionLen, 4)
	le(28, uint64(len(value)), 4)
	copy(page[32:], revisionKey{main: 5}.append(nil))
	copy(page[32+revisionLen:], value)
	file := append(make([]byte, 2*ps), page...)
	count := func() (n int) {
		p := &pageScanner{file: bytes.NewReader(file), ps: ps, size: int64(len(file)), meter: &meter{total: &progress{}}}
		must(t, p.run(context.Background(), func(_ uint64, list []scanned) { n += len(list) }))
		return n
	}
	if n := count(); n != 1 {
		t.Fatalf("%d records, want 1", n)
	}
	clear(file[4*ps : 4*ps+pageHeader])
	file[4*ps], file[4*ps+8] = 4, branchPage
	if n := count(); n != 0 {
		t.Errorf("%d records, one of whose pages is another's", n)
	}
}

// FuzzPages scans any bytes as pages: no panic, and what is found is what its
// offset says.
func FuzzPages(f *testing.F) {
	small := newEtcdStore()
	small.pageSize = 1024
	for range 30 {
		small.put("/registry/pods/default/web", "a pod")
	}
	small.del("/registry/pods/default/web")
	b, err := os.ReadFile(small.file(f, filepath.Join(f.TempDir(), "db")))
	must(f, err)
	f.Add(b[:min(len(b), 16<<10)], uint16(1024))
	f.Add(b[:5000], uint16(512))
	f.Fuzz(func(t *testing.T, b []byte, ps uint16) {
		p := &pageScanner{file: bytes.NewReader(b), ps: max(int64(ps), 64), size: int64(len(b)), meter: &meter{total: &progress{}}}
		must(t, p.run(context.Background(), func(id uint64, list []scanned) {
			for _, r := range list {
				var again scanned
				again.rev = r.rev
				if r.offset < int64(id)*p.ps || r.offset+r.length > int64(len(b)) || !again.fill(b[r.offset:r.offset+r.length]) || again.hash != r.hash {
					t.Errorf("%+v is not at its offset", r)
				}
			}
		}))
	})
}
