package snapshot

import (
	"cmp"
	"fmt"
	"slices"
)

// place is where a record's bytes lie in a file that bbolt cannot be asked for.
type place struct {
	main, sub int64
	offset    int64
	size      int64
	hash      uint64
	tombstone bool
}

// place makes the record's place.
func (r *record) place(offset, size int64, hash uint64) place {
	return place{main: r.main, sub: int64(r.sub), offset: offset, size: size, hash: hash, tombstone: r.tombstone()}
}

// sortPlaces orders the places as find wants them.
func (s *store) sortPlaces() {
	slices.SortFunc(s.places, func(a, b place) int { return cmp.Or(cmp.Compare(a.main, b.main), cmp.Compare(a.sub, b.sub)) })
	s.places = slices.Clip(s.places)
}

// find returns the place of a record, nil if it is bbolt's to find.
func (s *store) find(main, sub int64) *place {
	i, ok := slices.BinarySearchFunc(s.places, place{main: main, sub: sub}, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.main, b.main), cmp.Compare(a.sub, b.sub))
	})
	if !ok {
		return nil
	}
	return &s.places[i]
}

// fetch reads the record at a place and makes sure that it is the one that was
// found there.
func (s *store) fetch(p *place) ([]byte, error) {
	b := make([]byte, p.size)
	if n, err := s.file.ReadAt(b, p.offset); n < len(b) {
		return nil, fmt.Errorf("read at offset %d: %w", p.offset+int64(n), plain(err))
	}
	if hashRecord(p.tombstone, b) != p.hash {
		return nil, fmt.Errorf("offset %d has other bytes than before: %w", p.offset, errChanged)
	}
	return b, nil
}
