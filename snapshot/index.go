package snapshot

import (
	"cmp"
	"math"
	"strings"
)

// record is the index entry of one record of a store, and after the merge of
// one revision of the history. There can be tens of millions of them: it has no
// pointers, and 48 bytes.
type record struct {
	main, create, version int64
	leased                int64
	sub                   uint32
	size                  uint32
	// key is the number of the key in the key table of the store, after the merge
	// in that of the history.
	key uint32
	// mark has the flags and, after the merge, the number of the set of stores.
	mark uint32
}

// Flags of a record's mark; the set of stores lies above them.
const (
	markTombstone = 1 << iota
	markCarved
	markWAL
	markDump
	markSet = 8 // bits below the set
)

// maxSub and maxSize are the largest sub revision and value that a record can
// have: etcd's limits on requests are far below them.
const (
	maxSub  = math.MaxUint32
	maxSize = math.MaxUint32
)

func (r *record) tombstone() bool  { return r.mark&markTombstone != 0 }
func (r *record) isCarved() bool   { return r.mark&markCarved != 0 }
func (r *record) isReplayed() bool { return r.mark&markWAL != 0 }
func (r *record) isDumped() bool   { return r.mark&markDump != 0 }
func (r *record) set() int         { return int(r.mark >> markSet) }

// join gives the record its set of stores.
func (r *record) join(set int) { r.mark = r.mark&(1<<markSet-1) | uint32(set)<<markSet }

// at is the key that the record is stored under.
func (r *record) at() revisionKey {
	return revisionKey{main: r.main, sub: int64(r.sub), tombstone: r.tombstone()}
}

// name is revisionName of the record.
func (r *record) name() string { return revisionName(r.main, int64(r.sub)) }

// compareRevisions orders records by revision.
func compareRevisions(a, b *record) int {
	if a.main != b.main {
		return cmp.Compare(a.main, b.main)
	}
	return cmp.Compare(a.sub, b.sub)
}

// compareTo orders a record and a revision; a tombstone is not told from a put.
func (r *record) compareTo(k revisionKey) int {
	if r.main != k.main {
		return cmp.Compare(r.main, k.main)
	}
	return cmp.Compare(int64(r.sub), k.sub)
}

// keyTable numbers keys. The zero value is empty and usable; it must not be
// copied.
type keyTable struct {
	names   []string
	numbers map[string]uint32
	chunk   strings.Builder
}

// keyChunk is how much memory for keys is asked for at a time.
const keyChunk = 64 << 10

// newKeyTable makes a table for about so many keys.
func newKeyTable(keys int) *keyTable {
	return &keyTable{names: make([]string, 0, keys), numbers: make(map[string]uint32, keys)}
}

// number returns the number of a key, a new one if it has none yet.
func (t *keyTable) number(key []byte) uint32 {
	if n, ok := t.numbers[string(key)]; ok {
		return n
	}
	if t.chunk.Cap()-t.chunk.Len() < len(key) {
		t.chunk = strings.Builder{}
		t.chunk.Grow(max(keyChunk, len(key)))
	}
	from := t.chunk.Len()
	_, _ = t.chunk.Write(key)
	return t.add(t.chunk.String()[from:])
}

// share is number for a key that is kept elsewhere too.
func (t *keyTable) share(key string) uint32 {
	if n, ok := t.numbers[key]; ok {
		return n
	}
	return t.add(key)
}

func (t *keyTable) add(key string) uint32 {
	if t.numbers == nil {
		t.numbers = map[string]uint32{}
	}
	n := uint32(len(t.names))
	t.names = append(t.names, key)
	t.numbers[key] = n
	return n
}
