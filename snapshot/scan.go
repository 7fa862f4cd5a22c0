package snapshot

import (
	"context"
	"fmt"
	"hash/maphash"

	"go.etcd.io/bbolt"
)

// hashSeed makes the hashes of all stores comparable.
var hashSeed = maphash.MakeSeed()

// scan reads the records of a key bucket.
type scan struct {
	store *store
	// odd has the kinds of records that are left out or strange, in the order
	// that Problems lists them.
	odd [oddKinds]oddity
}

// oddity counts records of one kind.
type oddity struct {
	count int
	first string
}

// Kinds of odd records.
const (
	badKey = iota
	badValue
	otherRevision
	twice
	noKey
	oddKinds
)

// oddSentences says what the kinds mean; the first verb is the number of
// records, the second the first of them.
var oddSentences = [oddKinds]string{
	badKey:        "%d records whose key is not a revision are left out (the first is %s)",
	badValue:      "%d records whose value cannot be decoded are left out (the first is revision %s)",
	otherRevision: "%d records whose mod_revision is not that of their key (the first is revision %s)",
	twice:         "%d revisions are both a put and a deletion, the deletion is left out (the first is revision %s)",
	noKey:         "%d records have no key, as snapshot restore --bump-revision writes them (the first is revision %s)",
}

// readKeys indexes the records of the key bucket. Values stay in the file.
func (s *store) readKeys(ctx context.Context, b *bbolt.Bucket) error {
	sc := newScan(s)
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if s.info.Records%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s.info.Records++
		sc.record(k, v)
	}
	sc.tell()
	return nil
}

func newScan(s *store) *scan { return &scan{store: s} }

// tell adds the odd records to the store's problems.
func (sc *scan) tell() {
	sc.store.odd = sc.odd
	for kind, o := range sc.odd {
		if o.count > 0 {
			sc.store.problem(oddSentences[kind], o.count, o.first)
		}
	}
}

// record indexes one record.
func (sc *scan) record(k, v []byte) {
	rev, ok := parseRevisionKey(k)
	if !ok {
		sc.note(badKey, func() string { return fmt.Sprintf("%x", k[:min(len(k), 32)]) })
		return
	}
	s := sc.store
	if s.info.First == 0 {
		s.info.First = rev.main
	}
	s.info.Last = max(s.info.Last, rev.main)
	kv, err := parseKeyValue(v)
	switch {
	case err != nil || v == nil:
		sc.note(badValue, rev.name)
		s.unread = append(s.unread, rev)
		return
	case len(kv.key) == 0:
		sc.note(noKey, rev.name)
		s.unread = append(s.unread, rev)
		return
	case !rev.tombstone && kv.mod != rev.main:
		sc.note(otherRevision, rev.name)
	}
	if n := len(s.records); n > 0 && s.records[n-1].compareTo(rev) == 0 {
		sc.note(twice, rev.name)
		return
	}
	s.records = append(s.records, newRecord(rev, s.keys.number(kv.key), &kv))
	s.hashes = append(s.hashes, hashRecord(rev.tombstone, v))
}

// newRecord makes the index entry of a KeyValue; of a tombstone only the key
// counts.
func newRecord(rev revisionKey, key uint32, kv *keyValue) record {
	r := record{main: rev.main, sub: uint32(rev.sub), key: key}
	if rev.tombstone {
		r.mark = markTombstone
		return r
	}
	r.create, r.version, r.leased, r.size = kv.create, kv.version, kv.leased, uint32(min(len(kv.value), maxSize))
	return r
}

// note counts an odd record; name is asked for the first of a kind.
func (sc *scan) note(kind int, name func() string) {
	if sc.odd[kind].count == 0 {
		sc.odd[kind].first = name()
	}
	sc.odd[kind].count++
}

// hashRecord is the same for the same record in two stores.
func hashRecord(tombstone bool, value []byte) uint64 {
	h := maphash.Bytes(hashSeed, value)
	if tombstone {
		return ^h
	}
	return h
}
