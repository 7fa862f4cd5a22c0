package wal

import (
	"bytes"
	"testing"
)

// FuzzSegment reads anything as a segment. Whatever is given out has to read again.
func FuzzSegment(f *testing.F) {
	s := healthy(6)
	f.Add(s.bytes)
	f.Add(s.bytes[:len(s.bytes)-11])
	damaged := bytes.Clone(s.bytes)
	damaged[s.offsets[4]+1] ^= 4
	f.Add(damaged)
	f.Add(append(bytes.Clone(s.bytes[:s.offsets[4]]), make([]byte, 600)...))
	f.Add(append(make([]byte, 512), s.bytes...))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := scan(t, map[string][]byte{name(0, 0): b})
		reread(t, l)
		for _, x := range l.Faults {
			if x.Offset < 0 || x.Offset > int64(len(b)) || x.Offset+x.Length > int64(len(b))+8 {
				t.Fatalf("%d bytes: %+v", len(b), x)
			}
		}
	})
}
