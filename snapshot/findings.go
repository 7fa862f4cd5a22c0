package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// maxRecordSize is the largest record that is believed: etcd refuses requests of
// more than 1.5 MiB unless it is told otherwise.
const maxRecordSize = 64 << 20

// findings collect what a walk over a damaged tree still finds.
type findings struct {
	ctx   context.Context
	store *store
	scan  *scan
	lost  []lostTree
	blind bool // what is found is not wanted, only what is lost
	keys  bool // there is a bucket of revisions
	whole bool // no page of the tree of buckets or of the bucket meta is lost
}

// lostTree is a subtree that cannot be read, and why.
type lostTree struct {
	subtree
	err error
}

func newFindings(ctx context.Context, s *store) *findings {
	return &findings{ctx: ctx, store: s, scan: newScan(s), whole: true}
}

// lose notes a subtree that cannot be read.
func (f *findings) lose(t subtree, err error) {
	f.lost = append(f.lost, lostTree{t, err})
	if t.depth == 0 || t.bucket == "meta" {
		f.whole = false
	}
}

// element takes one entry of a sound leaf.
func (f *findings) element(p *page, i int, t subtree) error {
	e := p.leaf(i)
	switch {
	case f.blind:
		return nil
	case e.flags == bucketFlag && t.depth == 0:
		key, err := p.bytes(e.at, e.keySize)
		if err != nil {
			return err
		}
		name := string(key)
		f.keys = f.keys || name == string(keyBucket)
		if _, known := buckets[name]; !known {
			f.store.info.UnknownBuckets = append(f.store.info.UnknownBuckets, name)
		}
		return nil
	case t.depth != 1:
		return nil
	case t.bucket == string(keyBucket):
		return f.revision(p, e)
	case e.flags == bucketFlag:
		return nil
	}
	return f.entry(p, e, t.bucket)
}

// revision takes a record of the key bucket.
func (f *findings) revision(p *page, e leafElement) error {
	s := f.store
	if s.info.Records%1024 == 0 && f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	key, err := p.bytes(e.at, e.keySize)
	if err != nil {
		return err
	}
	key = bytes.Clone(key)
	var value []byte // nil as bbolt gives it for a bucket among the records
	if e.flags != bucketFlag && e.valueSize <= maxRecordSize {
		if value, err = p.bytes(e.at+e.keySize, e.valueSize); err != nil {
			return err
		}
	}
	s.info.Records++
	before := len(s.records)
	f.scan.record(key, value)
	if len(s.records) > before {
		s.places = append(s.places, s.records[before].place(p.offset+e.at+e.keySize, e.valueSize, s.hashes[before]))
	}
	return nil
}

// entry takes an entry of a small bucket.
func (f *findings) entry(p *page, e leafElement, bucket string) error {
	read := buckets[bucket]
	if read == nil || e.keySize+e.valueSize > maxRecordSize {
		return nil
	}
	b, err := p.bytes(e.at, e.keySize+e.valueSize)
	if err != nil {
		return err
	}
	f.store.entry(read, []byte(bucket), b[:e.keySize], b[e.keySize:])
	return nil
}

// ranges are the revisions that the lost subtrees held, as far as separators
// tell; one that had to hold the key bucket itself has lost all of them.
func (f *findings) ranges() []Range {
	var list []Range
	for _, t := range f.lost {
		switch {
		case t.depth == 1 && t.bucket == string(keyBucket):
			list = append(list, t.rangeOf())
		case t.depth == 0 && t.covers(keyBucket):
			list = append(list, Range{From: 1, Why: t.err.Error()})
		}
	}
	return list
}

// covers says whether a key belongs into the subtree.
func (t *subtree) covers(key []byte) bool {
	return (t.low == nil || bytes.Compare(t.low, key) <= 0) && (t.high == nil || bytes.Compare(key, t.high) < 0)
}

// rangeOf reads the bounds of a lost subtree of the key bucket.
func (t *lostTree) rangeOf() Range {
	r := Range{From: 1, Why: t.err.Error()}
	if low, ok := parseRevisionKey(t.low); ok {
		r.From = low.main
	}
	if high, ok := parseRevisionKey(t.high); ok {
		if r.To = high.main; high.sub == 0 && !high.tombstone {
			r.To--
		}
	}
	return r
}

// tell adds what was lost to the store's problems.
func (f *findings) tell() {
	const most = 20
	for i, t := range f.lost {
		if i == most {
			f.store.problem("%d more damaged parts of the tree are left out", len(f.lost)-most)
			return
		}
		f.store.problem("damaged: %s: %s", t.err, t.names())
	}
}

// names says what a lost subtree held.
func (t *lostTree) names() string {
	switch {
	case t.depth == 0:
		return "buckets below it cannot be reached"
	case t.bucket != string(keyBucket) || t.depth > 1:
		return fmt.Sprintf("entries of the bucket %q below it cannot be reached", strings.ToValidUTF8(t.bucket, "?"))
	}
	r := t.rangeOf()
	if r.To == 0 {
		return fmt.Sprintf("the tree does not reach revisions from %d on", r.From)
	}
	return fmt.Sprintf("the tree does not reach revisions %d to %d", r.From, r.To)
}
