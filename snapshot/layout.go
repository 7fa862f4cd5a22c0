package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// Facts of a bbolt file (bbolt v1.4 internal/common/{meta,page}.go).
const (
	metaEnd      = 80 // page header, magic, version, sizes, root, checksum
	boltMagic    = 0xed0cdaed
	boltVersion  = 2
	minPageSize  = 1 << 10
	maxPageSize  = 1 << 24
	trailerSize  = 32
	trailerBlock = 512 // a file whose size is 32 more than a multiple has a trailer
)

// layout is what the meta pages say about a file.
type layout struct {
	pageSize int64
	meta     boltMeta // the one in use
	size     int64    // of the file without its hash trailer
}

// boltMeta is a valid meta page.
type boltMeta struct {
	page      int64
	pageSize  int64
	root      uint64
	highWater uint64 // first page that is not allocated
	txid      uint64
}

// damage is a place where a file is not what it must be.
type damage struct {
	page   uint64
	offset int64
	what   string
	order  bool // the page itself is sound, but its keys are out of order
}

func (d *damage) Error() string {
	return fmt.Sprintf("page %d (offset %d): %s", d.page, d.offset, d.what)
}

// errNoTree means that both meta pages are lost.
var errNoTree = errors.New("and there is no second valid meta page")

// readLayout finds the meta page to use and checks that the file is long enough.
// With an error the layout has a page size only if there is a meta page to use.
func (s *store) readLayout() (l layout, err error) {
	l.size = s.info.Size
	if s.info.Snapshot {
		l.size -= trailerSize
	}
	if l.size == 0 {
		return l, errors.New("the file is empty")
	}
	meta, notes, err := chooseMeta(s.file, s.info.Size)
	if err != nil {
		return l, err
	}
	l.meta, l.pageSize = meta, meta.pageSize
	s.info.PageSize, s.info.TxID = int(meta.pageSize), meta.txid
	s.info.Problems = append(s.info.Problems, notes...)
	if meta.highWater > uint64(l.size/l.pageSize) {
		return l, truncated(meta, s.info.Size)
	}
	return l, nil
}

// truncated says what is missing of a file that is too short.
func truncated(m boltMeta, size int64) error {
	const most = 1 << 62
	if m.highWater > most/uint64(m.pageSize) {
		return &damage{page: uint64(m.page), offset: m.page * m.pageSize, what: fmt.Sprintf("high-water mark %d is beyond any file", m.highWater)}
	}
	return fmt.Errorf("truncated: meta page of transaction %d says %d bytes, file has %d; first missing byte is offset %d",
		m.txid, m.highWater*uint64(m.pageSize), size, size)
}

// chooseMeta takes the valid meta page of the newest transaction, as bbolt does.
// If only one is valid, a note says so: the other may have been the newer.
func chooseMeta(r io.ReaderAt, size int64) (m boltMeta, notes []string, err error) {
	first, err0 := readMeta(r, 0, 0)
	if err0 != nil {
		second, found := probeSecondMeta(r, size)
		if !found {
			return m, nil, noMeta(r, size, err0)
		}
		return second, []string{metaNote(second, err0)}, nil
	}
	second, err1 := readMeta(r, first.pageSize, 1)
	switch {
	case err1 != nil && size >= 2*first.pageSize:
		return first, []string{metaNote(first, err1)}, nil
	case err1 != nil, first.txid > second.txid:
		return first, nil, nil
	case second.pageSize != first.pageSize:
		return m, nil, &damage{page: 1, offset: first.pageSize, what: fmt.Sprintf("page size %d, the first meta page has %d", second.pageSize, first.pageSize)}
	}
	return second, nil, nil
}

// metaNote says which meta page was used because the other is damaged.
func metaNote(used boltMeta, err error) string {
	return fmt.Sprintf("meta %s; meta page %d of transaction %d is used, which may be the last but one", err, used.page, used.txid)
}

// probeSecondMeta looks for meta page 1 at every page size.
func probeSecondMeta(r io.ReaderAt, size int64) (boltMeta, bool) {
	for at := int64(minPageSize); at <= maxPageSize && at < size; at <<= 1 {
		if m, err := readMeta(r, at, 1); err == nil && m.pageSize == at {
			return m, true
		}
	}
	return boltMeta{}, false
}

// readMeta reads and checks the meta page at an offset.
func readMeta(r io.ReaderAt, offset, page int64) (m boltMeta, err error) {
	bad := func(format string, args ...any) (boltMeta, error) {
		return boltMeta{}, &damage{page: uint64(page), offset: offset, what: fmt.Sprintf(format, args...)}
	}
	var b [metaEnd]byte
	if n, err := r.ReadAt(b[:], offset); n < len(b) {
		return bad("only %d bytes: %v", n, err)
	}
	le := binary.LittleEndian
	if magic := le.Uint32(b[16:]); magic != boltMagic {
		return bad("magic %08x, not %08x", magic, uint32(boltMagic))
	}
	if v := le.Uint32(b[20:]); v != boltVersion {
		return bad("version %d, not %d", v, boltVersion)
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[16:72])
	if want, got := le.Uint64(b[72:]), sum.Sum64(); want != got {
		return bad("checksum %016x, its bytes give %016x", want, got)
	}
	m = boltMeta{
		page:      page,
		pageSize:  int64(le.Uint32(b[24:])),
		root:      le.Uint64(b[32:]),
		highWater: le.Uint64(b[56:]),
		txid:      le.Uint64(b[64:]),
	}
	if m.pageSize < minPageSize || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0 {
		return bad("page size %d", m.pageSize)
	}
	return m, nil
}

// noMeta says what a file without a valid meta page seems to be.
func noMeta(r io.ReaderAt, size int64, err error) error {
	head := make([]byte, min(size, 4096))
	if n, readErr := r.ReadAt(head, 0); n < len(head) {
		return plain(readErr)
	}
	switch {
	case len(head) >= 20 && binary.BigEndian.Uint32(head[16:]) == boltMagic:
		return errors.New("written by a big-endian machine (s390x?): bbolt reads it only there")
	case len(head) >= 20 && binary.LittleEndian.Uint32(head[16:]) == boltMagic:
		return fmt.Errorf("meta %w, %w", err, errNoTree)
	case onlyZeros(r):
		return fmt.Errorf("nothing but zeros (%d bytes): not an etcd store", size)
	case isPrintable(head):
		return errors.New("text, not an etcd store")
	}
	return errors.New("not an etcd store: no bbolt meta page at its beginning or at any page size")
}

// onlyZeros reads until something is not zero.
func onlyZeros(r io.ReaderAt) bool {
	block := make([]byte, 1<<16)
	for at := int64(0); ; {
		n, err := r.ReadAt(block, at)
		if len(bytes.Trim(block[:n], "\x00")) > 0 {
			return false
		}
		if at += int64(n); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// isPrintable is true for bytes without control characters save white space.
func isPrintable(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' })
}
