package wal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// upTo are the numbers from one to another.
func upTo(from, to uint64) (list []uint64) {
	for i := from; i <= to; i++ {
		list = append(list, i)
	}
	return list
}

func without(list []uint64, out ...uint64) []uint64 {
	return slices.DeleteFunc(list, func(n uint64) bool { return slices.Contains(out, n) })
}

// TestDamage damages one record of a healthy segment: no more than that one, and
// where its checksum cannot be had the one behind it, may be lost.
func TestDamage(t *testing.T) {
	const entries = 20
	s := healthy(entries)
	at := func(entry int) int64 { return s.offsets[entry+2] } // behind crc, metadata, snapshot
	tests := []struct {
		name   string
		damage func(b []byte)
		want   []uint64
		kind   FaultKind
		offset int64
	}{
		{"data", func(b []byte) { b[at(5)+30] ^= 1 }, without(upTo(1, entries), 5), FaultDamaged, at(5)},
		{"the data of the last entry", func(b []byte) { b[at(entries)+30] ^= 1 }, without(upTo(1, entries), entries), FaultDamaged, at(entries)},
		{"checksum", func(b []byte) { b[at(5)+12] ^= 1 }, upTo(1, entries), FaultDamaged, at(5)},
		{"type", func(b []byte) { b[at(5)+9] = 9 }, without(upTo(1, entries), 5), FaultUnknown, at(5)},
		{"length", func(b []byte) { b[at(5)] ^= 8 }, without(upTo(1, entries), 5, 6), FaultDamaged, at(5)},
		{"giant length", func(b []byte) { b[at(5)+5] = 0x7f }, without(upTo(1, entries), 5, 6), FaultDamaged, at(5)},
		{"length mark", func(b []byte) { b[at(5)+7] = 0x40 }, without(upTo(1, entries), 5, 6), FaultDamaged, at(5)},
		{"a field of the record", func(b []byte) { b[at(5)+8] = 0x0f }, without(upTo(1, entries), 5, 6), FaultDamaged, at(5)},
		{"two data", func(b []byte) { b[at(5)+30] ^= 1; b[at(9)+30] ^= 1 }, without(upTo(1, entries), 5, 9), FaultDamaged, at(5)},
		{"data and the checksum behind it", func(b []byte) { b[at(5)+30] ^= 1; b[at(6)+12] ^= 1 }, without(upTo(1, entries), 5), FaultDamaged, at(5)},
		{"zeros in the middle", func(b []byte) { clear(b[at(5):at(8)]) }, without(upTo(1, entries), 5, 6, 7, 8), FaultZeros, at(5)},
		{"padding", func(b []byte) { b[at(6)-1] ^= 1 }, upTo(1, entries), "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := bytes.Clone(s.bytes)
			tt.damage(b)
			l := scan(t, map[string][]byte{name(0, 0): append(b, make([]byte, 10_000)...)})
			if got := indexes(l); !cmp.Equal(got, tt.want) {
				t.Errorf("entries %v, want %v", got, tt.want)
			}
			switch {
			case tt.kind == "" && len(l.Faults) > 0:
				t.Errorf("faults %v", l.Faults)
			case tt.kind != "" && (len(l.Faults) == 0 || l.Faults[0].Kind != tt.kind || l.Faults[0].Offset != tt.offset || l.Faults[0].Segment != "wal/"+name(0, 0)):
				t.Errorf("faults %v, want %s at %d", l.Faults, tt.kind, tt.offset)
			}
			for i, d := range reread(t, l) {
				if want := fmt.Sprintf("data %d of", l.Entries[i].Index); !strings.HasPrefix(d, want) {
					t.Errorf("entry %d has the data %q", l.Entries[i].Index, d)
				}
			}
			missing := len(tt.want) < entries && tt.want[len(tt.want)-1] == entries
			if got := slices.ContainsFunc(l.Faults, func(f Fault) bool { return f.Kind == FaultGap }); got != missing {
				t.Errorf("a gap is named: %v", l.Faults)
			}
		})
	}
}

// TestTruncation cuts a segment anywhere: what is whole is read, and a record that
// is not is called torn.
func TestTruncation(t *testing.T) {
	s := healthy(12)
	var ends []int64 // of the records, without padding
	for _, at := range s.offsets {
		f, _ := parseFrame(at, s.bytes[at:])
		ends = append(ends, at+frameHead+f.size)
	}
	for cut := range int64(len(s.bytes)) {
		l := scan(t, map[string][]byte{name(0, 0): s.bytes[:cut]})
		whole, _ := slices.BinarySearch(ends, cut+1)
		if want := upTo(1, uint64(min(max(whole-3, 0), 12))); !cmp.Equal(indexes(l), want) {
			t.Fatalf("cut at %d: entries %v, want %v", cut, indexes(l), want)
		}
		sound := whole > 0 && cut <= (ends[whole-1]+7)/8*8 // nothing but padding is cut
		if torn := len(l.Faults) == 1 && l.Faults[0].Kind == FaultTorn; torn == sound {
			t.Fatalf("cut at %d: faults %v", cut, l.Faults)
		}
	}
}

// TestTornTail has a record of which a crash has left some sectors zero.
func TestTornTail(t *testing.T) {
	s := healthy(3).entry(4, 1, strings.Repeat("x", 3000))
	b := append(bytes.Clone(s.bytes), make([]byte, 20_000)...)
	from := (s.offsets[len(s.offsets)-1] + 1500) / sector * sector
	clear(b[from : from+sector])
	l := scan(t, map[string][]byte{name(0, 0): b})
	if !cmp.Equal(indexes(l), upTo(1, 3)) || len(l.Faults) != 1 || l.Faults[0].Kind != FaultTorn || l.Faults[0].Offset != s.offsets[len(s.offsets)-1] {
		t.Errorf("entries %v, faults %v", indexes(l), l.Faults)
	}
	// The same in a segment that others follow is damage.
	two := s.next().entry(5, 1, "behind")
	l = scan(t, map[string][]byte{name(0, 0): b, name(1, 5): two.bytes})
	if !cmp.Equal(indexes(l), []uint64{1, 2, 3, 5}) || l.Faults[0].Kind != FaultDamaged {
		t.Errorf("entries %v, faults %v", indexes(l), l.Faults)
	}
}

// TestSegments puts segments together that do not go together.
func TestSegments(t *testing.T) {
	one := healthy(5)
	two := one.next()
	for i := range uint64(5) {
		two.entry(6+i, 1, "data")
	}
	two.state(1, 7, 10)
	three := two.next().entry(11, 2, "data").state(2, 7, 11)
	foreign := (&segmentWriter{crc: one.crc}).begin(7, 9).entry(6, 1, "foreign")
	files := func(list ...any) map[string][]byte {
		m := map[string][]byte{}
		for i := 0; i < len(list); i += 2 {
			m[list[i].(string)] = list[i+1].([]byte)
		}
		return m
	}
	tests := []struct {
		name  string
		files map[string][]byte
		want  []uint64
		kinds []FaultKind
	}{
		{"all", files(name(0, 0), one.bytes, name(1, 6), two.bytes, name(2, 11), three.bytes), upTo(1, 11), nil},
		{"the first is gone", files(name(1, 6), two.bytes, name(2, 11), three.bytes), upTo(6, 11), nil},
		{"the middle is gone", files(name(0, 0), one.bytes, name(2, 11), three.bytes), append(upTo(1, 5), 11), []FaultKind{FaultChain, FaultGap}},
		{"the middle is cut", files(name(0, 0), one.bytes, name(1, 6), two.bytes[:two.offsets[4]+9], name(2, 11), three.bytes), append(upTo(1, 7), 11), []FaultKind{FaultDamaged, FaultGap}},
		{"swapped", files(name(0, 0), two.bytes, name(1, 6), one.bytes), append(upTo(6, 10), upTo(1, 5)...), []FaultKind{FaultChain}},
		{"of another cluster", files(name(0, 0), one.bytes, name(1, 6), foreign.bytes), upTo(1, 5), []FaultKind{FaultForeign}},
		{"a spare one", files(name(0, 0), one.bytes, "0.tmp", make([]byte, 9000)), upTo(1, 5), nil},
		{"an empty one", files(name(0, 0), one.bytes, name(1, 6), []byte{}), upTo(1, 5), []FaultKind{FaultTorn}},
		{"no name", files(name(0, 0), one.bytes, "copy", two.bytes), upTo(1, 10), []FaultKind{FaultChain}},
		{"garbage", files(name(0, 0), one.bytes, name(1, 6), bytes.Repeat([]byte("garbage "), 100)), upTo(1, 5), []FaultKind{FaultDamaged}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := scan(t, tt.files)
			var kinds []FaultKind
			for _, f := range l.Faults {
				kinds = append(kinds, f.Kind)
			}
			if got := indexes(l); !cmp.Equal(got, tt.want) || !cmp.Equal(kinds, tt.kinds) {
				t.Errorf("entries %v, want %v; faults %v, want %v", got, tt.want, l.Faults, tt.kinds)
			}
			reread(t, l)
		})
	}
}

// TestBroken reads the copy that etcd keeps of a segment whose tail it cut off: an
// entry that only it has counts, unless the log went on otherwise.
func TestBroken(t *testing.T) {
	whole := healthy(5)
	cut := (&segmentWriter{}).begin(7, 8).snapshot(0, 0)
	for i := range uint64(3) {
		cut.entry(i+1, 1, fmt.Sprintf("data %d of an entry that is long enough", i+1))
	}
	l := scan(t, map[string][]byte{name(0, 0): cut.bytes, name(0, 0) + ".broken": whole.bytes})
	if got := indexes(l); !cmp.Equal(got, upTo(1, 5)) {
		t.Errorf("entries %v", got)
	}
	cut.entry(4, 2, "another")
	l = scan(t, map[string][]byte{name(0, 0): cut.bytes, name(0, 0) + ".broken": whole.bytes})
	var lost []uint64
	for _, e := range l.Entries {
		if e.Overwritten {
			lost = append(lost, e.Index)
		}
	}
	if !cmp.Equal(lost, []uint64{4}) || !cmp.Equal(indexes(l), upTo(1, 5)) {
		t.Errorf("entries %v, overwritten %v", indexes(l), lost)
	}
	reread(t, l)
}

// TestOverwritten has entries that another leader did not have.
func TestOverwritten(t *testing.T) {
	s := healthy(5).entry(4, 2, "new 4").entry(5, 2, "new 5").state(2, 9, 4).entry(5, 3, "newest 5")
	l := scan(t, map[string][]byte{name(0, 0): s.bytes})
	var terms []uint64
	for _, e := range l.Entries {
		if !e.Overwritten {
			terms = append(terms, e.Term)
		}
	}
	if !cmp.Equal(indexes(l), upTo(1, 5)) || !cmp.Equal(terms, []uint64{1, 1, 1, 2, 3}) || len(l.Entries) != 8 || len(l.Faults) > 0 || l.Commit != 5 {
		t.Errorf("entries %+v, faults %v, commit %d", l.Entries, l.Faults, l.Commit)
	}
	if len(l.States) != 2 || l.States[1].Vote != 9 || l.States[1].After != 5 || !l.Begins || l.NodeID != 7 || l.ClusterID != 8 {
		t.Errorf("%+v", l)
	}
}
