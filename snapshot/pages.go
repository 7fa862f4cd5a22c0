package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"go.etcd.io/bbolt"
)

// Page flags and sizes of bbolt.
const (
	pageHeader  = 16
	elementSize = 16
	branchPage  = 0x01
	leafPage    = 0x02
	bucketFlag  = 0x01
	metaPage    = 0x04

	freelistPage = 0x10
)

// verifier walks the pages that can be reached from the root and checks
// everything that bbolt takes for granted.
type verifier struct {
	file  io.ReaderAt
	ps    int64
	limit uint64 // the high-water mark, or the end of the file if that is less
	meta  boltMeta
	seen  pageSet
	tries map[uint64]int // how often a page turned out to be damaged
	todo  []subtree
	buf   []byte
	page  page // the one being checked
	// leaves counts the elements of leaf pages.
	leaves int
	meter  *meter
	// found, if not nil, makes the walk go on after a damage and collects what it
	// finds; else the first damage ends it.
	found *findings
}

// subtree is a page to visit and the keys it may hold: from low on, below high;
// nil means no bound.
type subtree struct {
	page      uint64
	from      uint64 // the page that refers to it
	low, high []byte
	bucket    string // "" for the tree of buckets
	depth     int    // of the bucket: 0 for the tree of buckets
	level     int    // of the page: 0 for the root of its bucket
}

// Bounds of what is believed, so that a page that many others refer to and a tree
// that is a chain cost no more time than a sound file. bbolt splits pages in two: a
// tree of 64 levels is larger than any disk.
const (
	maxTries = 8
	maxLevel = 64
)

// pageSet has a bit for each page.
type pageSet []uint64

func newPageSet(pages uint64) pageSet { return make(pageSet, pages/64+1) }

// has says whether a page is in the set; pages beyond it are not.
func (s pageSet) has(page uint64) bool {
	return page/64 < uint64(len(s)) && s[page/64]&(1<<(page%64)) != 0
}

func (s pageSet) add(page uint64) { s[page/64] |= 1 << (page % 64) }

// first returns the first page of the set from one to another, both included.
func (s pageSet) first(from, to uint64) (page uint64, ok bool) {
	for page := from; page <= to && page/64 < uint64(len(s)); {
		rest := s[page/64] >> (page % 64)
		if rest == 0 {
			page = (page/64 + 1) * 64
			continue
		}
		page += uint64(bits.TrailingZeros64(rest))
		return page, page <= to
	}
	return 0, false
}

// page is a page in memory: the first bytes of its run, all of it if short.
type page struct {
	id     uint64
	offset int64
	span   int64 // with its overflow pages
	flags  uint16
	count  int
	end    int64 // of the element that was checked last, first of the table
	inline bool  // it lies in an element of a leaf
	head   []byte
	file   io.ReaderAt
}

// verifyPages checks every reachable page of a file, counts the elements of its
// leaves and returns the set of reachable pages. The error is a *damage naming
// the page, or that of a read.
func verifyPages(ctx context.Context, file io.ReaderAt, l layout, meter *meter) (leaves int, seen pageSet, err error) {
	v := newVerifier(file, l, meter)
	err = v.walk(ctx)
	return v.leaves, v.seen, err
}

func newVerifier(file io.ReaderAt, l layout, meter *meter) *verifier {
	limit := min(l.meta.highWater, uint64(l.size/l.pageSize))
	return &verifier{file: file, ps: l.pageSize, limit: limit, meta: l.meta, meter: meter, seen: newPageSet(limit), tries: map[uint64]int{}}
}

// walk visits the pages below the root, in order of their keys.
func (v *verifier) walk(ctx context.Context) error {
	v.todo = append(v.todo, subtree{page: v.meta.root, from: uint64(v.meta.page)})
	for n := 0; len(v.todo) > 0; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		next := v.todo[len(v.todo)-1]
		v.todo = v.todo[:len(v.todo)-1]
		rest := len(v.todo)
		err := v.visit(next)
		switch {
		case err != nil && v.found == nil:
			return err
		case err != nil:
			v.todo = v.todo[:rest]
			v.tries[next.page]++
			v.found.lose(next, err)
		}
	}
	return nil
}

// visit checks one page and notes the pages below it.
func (v *verifier) visit(t subtree) error {
	if t.level > maxLevel || v.tries[t.page] >= maxTries {
		return v.refuse(t)
	}
	p, err := v.load(t.page, t.from)
	if err != nil {
		return err
	}
	v.meter.add(p.span)
	if err := v.elements(p, t); err != nil {
		return err
	}
	v.mark(p)
	if p.flags == leafPage {
		v.leaves += p.count
		return v.collect(p, t)
	}
	return nil
}

// refuse says why a page is not even looked at.
func (v *verifier) refuse(t subtree) error {
	d := &damage{page: t.page, offset: int64(t.page) * v.ps, what: fmt.Sprintf("referred to once more, and was found damaged %d times", maxTries)}
	if t.level > maxLevel {
		d.what = fmt.Sprintf("lies below %d branch pages: no tree is so deep", t.level)
	}
	return d
}

// collect hands the elements of a leaf that was checked to the findings.
func (v *verifier) collect(p *page, t subtree) error {
	if v.found == nil {
		return nil
	}
	for i := range p.count {
		if err := v.found.element(p, i, t); err != nil {
			return err
		}
	}
	return nil
}

// mark notes that a page and those it runs on to are in use.
func (v *verifier) mark(p *page) {
	for n := p.id; n < p.id+uint64(p.span/v.ps); n++ {
		v.seen.add(n)
	}
}

// load reads a page and checks its header and that no other page overlaps it.
func (v *verifier) load(id, from uint64) (*page, error) {
	switch {
	case id >= v.limit && id < v.meta.highWater:
		return nil, &damage{page: from, offset: int64(from) * v.ps, what: fmt.Sprintf("refers to page %d, the file ends before it", id)}
	case id < 2 || id >= v.limit:
		return nil, &damage{page: from, offset: int64(from) * v.ps, what: fmt.Sprintf("refers to page %d, but pages go from 2 to %d", id, v.meta.highWater-1)}
	}
	offset := int64(id) * v.ps
	p, err := &v.page, error(nil)
	*p = page{id: id, offset: offset, span: v.ps, file: v.file}
	if p.head, err = v.readAt(offset, v.ps); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	self, overflow := le.Uint64(p.head), uint64(le.Uint32(p.head[12:]))
	p.flags, p.count = le.Uint16(p.head[8:]), int(le.Uint16(p.head[10:]))
	switch {
	case self != id:
		return nil, p.bad("its header says it is page %d", self)
	case p.flags != branchPage && p.flags != leafPage:
		return nil, p.bad("flags %#x, neither branch nor leaf", p.flags)
	case overflow >= v.limit-id:
		return nil, p.bad("runs on for %d pages, the file ends before", overflow)
	case p.flags == branchPage && p.count == 0:
		return nil, p.bad("branch without elements")
	}
	if n, ok := v.seen.first(id, id+overflow); ok {
		return nil, p.bad("reached twice: page %d is in use already", n)
	}
	p.span = v.ps * int64(overflow+1)
	p.end = p.table()
	if p.end > p.span {
		return nil, p.bad("%d elements do not fit in %d bytes", p.count, p.span)
	}
	if p.end > v.ps {
		if p.head, err = v.readAt(offset, p.end); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// readAt reads into the verifier's buffer: valid until the next call.
func (v *verifier) readAt(offset, n int64) ([]byte, error) {
	if int64(len(v.buf)) < n {
		v.buf = make([]byte, n)
	}
	b := v.buf[:n]
	if got, err := v.file.ReadAt(b, offset); got < len(b) {
		return nil, fmt.Errorf("read at offset %d: %w", offset+int64(got), plain(err))
	}
	return b, nil
}

// table is where the table of elements ends.
func (p *page) table() int64 { return int64(pageHeader + p.count*elementSize) }

// bad is a damage of the page.
func (p *page) bad(format string, args ...any) error {
	return &damage{page: p.id, offset: p.offset, what: fmt.Sprintf(format, args...)}
}

// disorder is a damage of the page that only comparing its keys shows.
func (p *page) disorder(format string, args ...any) error {
	return &damage{page: p.id, offset: p.offset, what: fmt.Sprintf(format, args...), order: true}
}

// bytes returns part of the page, from an offset in it.
func (p *page) bytes(at, n int64) ([]byte, error) {
	if at+n <= int64(len(p.head)) {
		return p.head[at : at+n], nil
	}
	b := make([]byte, n)
	if got, err := p.file.ReadAt(b, p.offset+at); got < len(b) {
		return nil, fmt.Errorf("read at offset %d: %w", p.offset+at+int64(got), plain(err))
	}
	return b, nil
}

// elements checks the elements of a page and queues what they refer to.
func (v *verifier) elements(p *page, t subtree) error {
	first := len(v.todo)
	low, strict := t.low, false
	for i := range p.count {
		key, err := v.element(p, i, t)
		if err != nil {
			return err
		}
		switch order := bytes.Compare(low, key); {
		case low != nil && (order > 0 || strict && order == 0):
			return p.disorder("key of element %d is not in order", i)
		case t.high != nil && bytes.Compare(key, t.high) >= 0:
			return p.disorder("key of element %d belongs to the next page", i)
		}
		low, strict = key, true
		if p.flags == branchPage {
			low = bytes.Clone(key)
			v.bound(first, low)
		}
	}
	if p.flags == branchPage {
		v.todo[len(v.todo)-1].high = t.high
		slices.Reverse(v.todo[first:]) // the last is visited next: read forward
	}
	return nil
}

// bound sets the bounds of the subtree that was queued last, and the upper bound
// of the one before it on the same page.
func (v *verifier) bound(first int, low []byte) {
	last := len(v.todo) - 1
	v.todo[last].low = low
	if last > first {
		v.todo[last-1].high = low
	}
}

// element checks one element's bounds and returns its key.
func (v *verifier) element(p *page, i int, t subtree) (key []byte, err error) {
	le := binary.LittleEndian
	at := int64(pageHeader + i*elementSize)
	e := p.head[at : at+elementSize]
	if p.flags == branchPage {
		pos, size := int64(le.Uint32(e)), int64(le.Uint32(e[4:]))
		if err := p.bounds(i, at+pos, size, 0); err != nil {
			return nil, err
		}
		v.todo = append(v.todo, subtree{page: le.Uint64(e[8:]), from: p.id, bucket: t.bucket, depth: t.depth, level: t.level + 1})
		return p.bytes(at+pos, size)
	}
	leaf := p.leaf(i)
	if err := p.bounds(i, leaf.at, leaf.keySize, leaf.valueSize); err != nil {
		return nil, err
	}
	if key, err = p.bytes(leaf.at, leaf.keySize); err != nil {
		return nil, err
	}
	switch leaf.flags {
	case 0:
		if t.depth == 0 {
			return nil, p.bad("element %d is no bucket, but lies among the buckets", i)
		}
		return key, nil
	case bucketFlag:
		if p.inline {
			return nil, p.bad("element %d is a bucket inside an inline bucket", i)
		}
		return key, v.tolerate(v.bucket(p, i, leaf, inside(t, key)))
	default:
		return nil, p.bad("element %d has flags %#x", i, leaf.flags)
	}
}

// inside is where the elements of a bucket go that lies in t. A bucket in a bucket,
// which etcd has none of, goes by the name of the outer one.
func inside(t subtree, name []byte) subtree {
	if t.depth == 0 {
		t.bucket = string(name)
	}
	return subtree{bucket: t.bucket, depth: t.depth + 1}
}

// leafElement is an entry of a leaf page: its key is at an offset of the page,
// the value follows the key.
type leafElement struct {
	flags                  uint32
	at, keySize, valueSize int64
}

// leaf reads entry i of a leaf page's table.
func (p *page) leaf(i int) leafElement {
	le := binary.LittleEndian
	at := int64(pageHeader + i*elementSize)
	e := p.head[at : at+elementSize]
	return leafElement{le.Uint32(e), at + int64(le.Uint32(e[4:])), int64(le.Uint32(e[8:])), int64(le.Uint32(e[12:]))}
}

// bounds checks that an element's bytes lie on the page, and begin where those of
// the element before end, the first where the table ends. bbolt leaves nothing
// between them (node.write of bolt v1.2 and bbolt v1.3, WriteInodeToPage of v1.4):
// an element that a wrong count has cut off the table shows by that alone.
func (p *page) bounds(i int, at, keySize, valueSize int64) error {
	size := keySize + valueSize
	if keySize > bbolt.MaxKeySize {
		return p.bad("element %d has a key of %d bytes", i, keySize)
	}
	if at < p.table() || at+size > p.span {
		return p.bad("element %d (bytes %d to %d) is not within the page's %d bytes", i, at, at+size, p.span)
	}
	if at != p.end {
		return p.bad("element %d begins at byte %d, what lies before it ends at %d", i, at, p.end)
	}
	p.end = at + size
	return nil
}

// bucketHeader is the root page and the sequence of a bucket; with root 0 a
// page image follows it.
const bucketHeader = 16

// bucket checks the bucket that element i of a leaf is, or queues its root.
func (v *verifier) bucket(p *page, i int, e leafElement, t subtree) (lost subtree, err error) {
	t.from = p.id
	at, size := e.at+e.keySize, e.valueSize
	if size < bucketHeader {
		return t, p.bad("element %d is a bucket of %d bytes", i, size)
	}
	b, err := p.bytes(at, min(size, v.ps))
	if err != nil {
		return t, err
	}
	if root := binary.LittleEndian.Uint64(b); root != 0 {
		t.page = root
		v.todo = append(v.todo, t)
		return t, nil
	}
	if size < bucketHeader+pageHeader || size > v.ps {
		return t, p.bad("element %d is an inline bucket of %d bytes", i, size)
	}
	return t, v.inline(p, i, at+bucketHeader, b[bucketHeader:], t)
}

// inline checks a bucket that is stored inside a leaf element of page p.
func (v *verifier) inline(p *page, i int, at int64, b []byte, t subtree) error {
	le := binary.LittleEndian
	in := &page{
		id: p.id, offset: p.offset + at, span: int64(len(b)), inline: true,
		flags: le.Uint16(b[8:]), count: int(le.Uint16(b[10:])), head: b, file: p.file,
	}
	if in.flags != leafPage {
		return p.bad("element %d is an inline bucket with page flags %#x", i, in.flags)
	}
	if in.end = in.table(); in.end > in.span {
		return p.bad("element %d is an inline bucket: %d elements do not fit in %d bytes", i, in.count, in.span)
	}
	if err := v.elements(in, t); err != nil {
		return err
	}
	return v.collect(in, t)
}

// tolerate notes a damaged bucket as lost, if that is wanted: the buckets beside
// it can be sound.
func (v *verifier) tolerate(t subtree, err error) error {
	if err == nil || v.found == nil {
		return err
	}
	v.found.lose(t, err)
	return nil
}
