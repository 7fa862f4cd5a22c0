package snapshot

import (
	"encoding/binary"
	"io"
)

// Page sizes that machines have, for a file whose meta pages are lost.
const (
	leastGuess = 1 << 10
	mostGuess  = 1 << 16
)

// guessSamples is how many places of a file are looked at for each page size.
const guessSamples = 8192

// guessPageSize finds the page size at which most pages bear their own number;
// ok is false if none does.
func guessPageSize(r io.ReaderAt, size int64) (pageSize int64, ok bool) {
	most := 0
	for ps := int64(leastGuess); ps <= mostGuess; ps <<= 1 {
		pages := size / ps
		hits := 0
		for p := int64(2); p < pages; p += max(1, pages/guessSamples) {
			var head [pageHeader]byte
			if n, _ := r.ReadAt(head[:], p*ps); n == len(head) && isPage(head[:], uint64(p)) {
				hits++
			}
		}
		if hits > most {
			pageSize, most = ps, hits
		}
	}
	return pageSize, most > 0
}

// isPage says whether a header is that of a page with a number.
func isPage(head []byte, id uint64) bool {
	if binary.LittleEndian.Uint64(head) != id {
		return false
	}
	switch binary.LittleEndian.Uint16(head[8:]) {
	case branchPage, leafPage, metaPage, freelistPage:
		return true
	}
	return false
}
