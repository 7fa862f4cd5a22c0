package snapshot

import (
	"context"
	"encoding/binary"
	"io"
)

// scanBuffer is how much of a file is read at a time.
const scanBuffer = 1 << 20

// scanned is a record that a page holds; the bytes of kv lie in a buffer that is
// used again.
type scanned struct {
	rev            revisionKey
	kv             keyValue
	hash           uint64
	offset, length int64 // of the record's bytes
}

// pageScanner reads the pages that are not in seen, whatever refers to them, and
// accepts the leaf pages with records of the key bucket. Nothing but the page's
// own bytes is believed: its number, its table, and that each record's
// KeyValue fits the revision it is stored under.
type pageScanner struct {
	file  io.ReaderAt
	ps    int64
	size  int64
	seen  pageSet
	meter *meter
	// chunk are the bytes from base on that were read last.
	chunk  []byte
	base   int64
	buffer []byte
	list   []scanned
}

// run gives every page with records to found, in order.
func (p *pageScanner) run(ctx context.Context, found func(id uint64, list []scanned)) error {
	p.buffer = make([]byte, max(scanBuffer, p.ps))
	pages := uint64((p.size + p.ps - 1) / p.ps)
	for id := uint64(2); id < pages; id++ {
		if p.seen.has(id) {
			continue
		}
		if id%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		offset := int64(id) * p.ps
		if offset >= p.base+int64(len(p.chunk)) {
			p.fill(id, pages)
		}
		if list := p.page(id, offset); len(list) > 0 {
			found(id, list)
		}
	}
	return nil
}

// fill reads the pages from id on, up to the next that was seen. What cannot be
// read is left out.
func (p *pageScanner) fill(id, pages uint64) {
	n := uint64(1)
	for most := uint64(int64(len(p.buffer)) / p.ps); n < most && id+n < pages && !p.seen.has(id+n); n++ {
	}
	p.base = int64(id) * p.ps
	want := min(int64(n)*p.ps, p.size-p.base)
	got, _ := p.file.ReadAt(p.buffer[:want], p.base)
	p.chunk = p.buffer[:got]
	p.meter.add(want)
}

// at returns n bytes of the file; they are valid until the next fill.
func (p *pageScanner) at(offset, n int64) ([]byte, bool) {
	if offset >= p.base && offset+n <= p.base+int64(len(p.chunk)) {
		return p.chunk[offset-p.base:][:n], true
	}
	if offset < 0 || offset+n > p.size {
		return nil, false
	}
	b := make([]byte, n)
	got, _ := p.file.ReadAt(b, offset)
	return b, got == len(b)
}

// page returns the records of a page, nil if it is not a leaf or has none.
func (p *pageScanner) page(id uint64, offset int64) []scanned {
	head, ok := p.at(offset, pageHeader)
	if !ok || binary.LittleEndian.Uint64(head) != id || binary.LittleEndian.Uint16(head[8:]) != leafPage {
		return nil
	}
	span := p.ps * (int64(binary.LittleEndian.Uint32(head[12:])) + 1)
	l := leafScan{
		scanner: p, offset: offset, id: id,
		count: int64(binary.LittleEndian.Uint16(head[10:])),
		sound: p.ps, span: min(span, p.size-offset),
	}
	l.end = pageHeader + l.count*elementSize
	if l.count == 0 || !l.reaches(l.end) {
		return nil
	}
	table, ok := p.at(offset, l.end)
	if !ok {
		return nil
	}
	p.list = p.list[:0]
	for i := range l.count {
		e := table[pageHeader+i*elementSize:]
		if r, ok := l.element(pageHeader+i*elementSize, e); ok {
			p.list = append(p.list, r)
		}
	}
	return p.list
}

// leafScan is a leaf page while its elements are read.
type leafScan struct {
	scanner *pageScanner
	id      uint64
	offset  int64
	count   int64
	// span are the bytes that the page claims, sound those that are known to be
	// still its own; end is the end of the element before.
	span, sound, end int64
}

// element reads an entry of the table that lies at an offset of the page.
// Elements lie one behind the other, as bbolt writes them.
func (l *leafScan) element(at int64, e []byte) (r scanned, ok bool) {
	le := binary.LittleEndian
	start, keySize, size := at+int64(le.Uint32(e[4:])), int64(le.Uint32(e[8:])), int64(le.Uint32(e[12:]))
	if le.Uint32(e) != 0 || keySize != revisionLen && keySize != tombstoneLen || size > maxRecordSize || start < l.end {
		return r, false
	}
	if !l.reaches(start + keySize + size) {
		return r, false
	}
	b, ok := l.scanner.at(l.offset+start, keySize)
	if !ok {
		return r, false
	}
	if r.rev, ok = parseRevisionKey(b); !ok {
		return r, false // where it begins is damaged: the next may lie before its end
	}
	l.end = start + keySize + size
	if b, ok = l.scanner.at(l.offset+start+keySize, size); !ok || !r.fill(b) {
		return r, false
	}
	r.offset, r.length = l.offset+start+keySize, size
	return r, true
}

// reaches says whether the page is still its own up to an offset. A page it ran
// on to, and that was used again since, bears its own number.
func (l *leafScan) reaches(end int64) bool {
	if end > l.span {
		return false
	}
	for l.sound < end {
		p := l.scanner
		next := l.id + uint64(l.sound/p.ps)
		head, ok := p.at(l.offset+l.sound, min(pageHeader, p.size-l.offset-l.sound))
		if !ok || p.seen.has(next) || len(head) == pageHeader && isPage(head, next) {
			l.span = l.sound
			return false
		}
		l.sound += p.ps
	}
	return true
}

// fill reads a record and says whether etcd can have written it.
func (r *scanned) fill(value []byte) bool {
	kv, err := parseKeyValue(value)
	if err != nil || len(kv.key) == 0 {
		return false
	}
	r.kv, r.hash = kv, hashRecord(r.rev.tombstone, value)
	if r.rev.tombstone {
		return kv.create == 0 && kv.mod == 0 && kv.version == 0 && kv.leased == 0 && kv.value == nil
	}
	return kv.mod == r.rev.main && kv.create > 0 && kv.create <= kv.mod && kv.version >= 1 && kv.version <= kv.mod-kv.create+1
}
