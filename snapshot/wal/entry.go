package wal

import (
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/encoding/protowire"
)

// Entry is an entry of the raft log (raftpb.Entry).
type Entry struct {
	Index, Term uint64
	Type        raftpb.EntryType
	// Data is what was proposed, empty for the entry with which a leader begins.
	Data []byte
}

// parseEntry decodes a raftpb.Entry; ok is false for bytes that are none.
func parseEntry(b []byte) (e Entry, ok bool) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return e, false
		}
		b = b[n:]
		switch {
		case number <= 3 && kind == protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return e, false
			}
			switch number {
			case 1:
				e.Type = raftpb.EntryType(v)
			case 2:
				e.Term = v
			case 3:
				e.Index = v
			}
			b = b[n:]
		case number == 4 && kind == protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return e, false
			}
			e.Data, b = v, b[n:]
		default:
			n := protowire.ConsumeFieldValue(number, kind, b)
			if n < 0 {
				return e, false
			}
			b = b[n:]
		}
	}
	return e, true
}

// possible says whether an entry can be one. The type of a record is not covered by
// its checksum, and a hard state whose type is damaged looks like an entry: its
// term would be the type of that, which is 0 or 1 in etcd, and only the entry with
// which a leader begins has no data.
func (e *Entry) possible() bool {
	switch e.Type {
	case raftpb.EntryNormal:
	case raftpb.EntryConfChange, raftpb.EntryConfChangeV2:
		if len(e.Data) == 0 {
			return false
		}
	default:
		return false
	}
	return e.Index > 0 && e.Term > 0
}

// entry takes an entry. It overwrites those of its index and above: the member
// has got it from a leader that did not have those.
func (s *scanner) entry(r *record) {
	e, ok := parseEntry(r.data)
	if !ok || !e.possible() {
		s.odd(r, FaultDamaged, "an entry that cannot be decoded")
		return
	}
	l := s.log
	ref := Ref{Index: e.Index, Term: e.Term, Offset: r.offset, Size: int32(r.size), Segment: int16(s.now), Type: e.Type}
	if l.Segments[s.now].Broken {
		s.broken(ref)
		return
	}
	if s.misplaced(&e) {
		ref.Unsure = true
		l.Entries = append(l.Entries, ref)
		return
	}
	s.settle(e.Term)
	for n := len(s.valid) - 1; n >= 0 && l.Entries[s.valid[n]].Index >= e.Index; n-- {
		l.Entries[s.valid[n]].Overwritten = true
		s.valid = s.valid[:n]
	}
	s.valid = append(s.valid, int32(len(l.Entries)))
	l.Entries = append(l.Entries, ref)
	s.lastIndex, s.lastTerm = e.Index, e.Term
}

// broken takes an entry of a broken copy, if the log does not have it. Where the
// log has another one it was overwritten; else etcd has cut it off, and whether the
// member got it again is not known.
func (s *scanner) broken(ref Ref) {
	if s.known[[2]uint64{ref.Index, ref.Term}] {
		return
	}
	ref.Overwritten = s.known[indexKnown(ref.Index)]
	ref.Unsure = !ref.Overwritten
	s.log.Entries = append(s.log.Entries, ref)
}
