package wal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.etcd.io/raft/v3/raftpb"
)

// Log is what the segments of a log hold.
type Log struct {
	// NodeID and ClusterID are those of the member, 0 if no metadata can be read.
	NodeID, ClusterID uint64
	// Segments are the files that were read, in that order.
	Segments []Segment
	// Entries are those that can be verified, in the order of the files; those that
	// only a broken copy has come last.
	Entries []Ref
	// States are the changes of term and vote, and the last state of all.
	States []State
	// Snapshots are the marks of snapshots that the member had taken or received.
	Snapshots []Snapshot
	// Commit is the highest index that the log says is committed.
	Commit uint64
	// Begins is true if nothing is missing before the first entry: the log starts
	// where the member started.
	Begins bool
	// Faults are in the order of the files; missing entries come last.
	Faults []Fault

	mu      sync.Mutex
	windows map[int16]*window // open for Data
}

// Ref is an entry without its data. There may be millions.
type Ref struct {
	Index, Term uint64
	// Offset is where its record begins in the segment, with the length field, and
	// Size the length of the record without it.
	Offset  int64
	Size    int32
	Segment int16 // in Log.Segments
	Type    raftpb.EntryType
	// Overwritten is true if a later entry has its index, or a lower one: another
	// leader did not have it.
	Overwritten bool
	// Unsure is true if the member may not have kept it, but what came in its place
	// cannot be read: it is lost, was in a snapshot that the member received, or
	// was never there since the entry is only in a broken copy.
	Unsure bool
}

// State is raft's hard state (raftpb.HardState).
type State struct {
	// Term is the member's, Vote the member it voted for in it (0: none yet),
	// Commit the highest index it knew to be committed.
	Term, Vote, Commit uint64
	// After is the index of the last entry before it, 0 for none.
	After   uint64
	Segment int
	Offset  int64
}

// Snapshot is the mark of a snapshot (walpb.Snapshot).
type Snapshot struct {
	Index, Term uint64
	Segment     int
	Offset      int64
}

// Scan reads all segments once. Faults do not end it; the error is that of ctx.
func (w *WAL) Scan(ctx context.Context) (*Log, error) {
	s := &scanner{log: &Log{Segments: w.Segments()}}
	s.last = s.lastSegment()
	for i := range s.log.Segments {
		if err := s.segment(ctx, i); err != nil {
			return nil, err
		}
	}
	s.finish()
	return s.log, nil
}

// scanner puts the records of the segments together.
type scanner struct {
	log  *Log
	now  int // the segment that is read
	last int // the one with which the log ends
	// before is the checksum at the end of the segment before.
	before    uint32
	seeded    bool
	lastIndex uint64
	lastTerm  uint64
	valid     []int32 // entries that are neither overwritten nor unsure, by index
	doubt     doubt
	state     State
	wasState  bool
	// foreign is true while a segment of another log is read.
	foreign bool
	// known are the entries of the log while broken copies are read.
	known map[[2]uint64]bool
}

// indexKnown is the key among known for an index whatever the term, which is
// never 0.
func indexKnown(index uint64) [2]uint64 { return [2]uint64{index, 0} }

// lastSegment is the segment with which the log ends, -1 if there is none.
func (s *scanner) lastSegment() int {
	last := -1
	for i, x := range s.log.Segments {
		if !x.Spare && !x.Broken {
			last = i
		}
	}
	return last
}

// segment reads one file.
func (s *scanner) segment(ctx context.Context, i int) error {
	x := &s.log.Segments[i]
	s.now, s.foreign = i, false
	w, err := openWindow(x.osPath)
	if err != nil {
		s.fault(Fault{Kind: FaultUnread, Segment: x.Path, Text: err.Error()})
		s.seeded = false
		return nil
	}
	defer func() { _ = w.file.Close() }()
	if x.Spare && s.empty(w) {
		return nil
	}
	s.begin(x)
	r := &reader{w: w, segment: x.Path, fault: s.fault, emit: s.record, before: s.before, seeded: s.seeded, last: i == s.last || x.Broken}
	if err := r.run(ctx); err != nil {
		return err
	}
	s.before, s.seeded = r.before, r.seeded
	return nil
}

// empty says whether a spare file has nothing in it, as it should.
func (s *scanner) empty(w *window) bool {
	next, err := w.dataFrom(0)
	return err == nil && next == w.size
}

// begin compares the name of a segment with the one before it.
func (s *scanner) begin(x *Segment) {
	switch {
	case x.Broken:
		s.seeded = false
		if s.known == nil {
			s.known = map[[2]uint64]bool{}
			for i := range s.log.Entries {
				e := &s.log.Entries[i]
				s.known[[2]uint64{e.Index, e.Term}] = true
				s.known[indexKnown(e.Index)] = s.known[indexKnown(e.Index)] || !e.Overwritten
			}
		}
	case !x.Named:
		s.seeded = false
		s.fault(Fault{Kind: FaultChain, Segment: x.Path, Text: "the name does not say where in the log the file belongs: it is read behind the others"})
	case s.now > 0 && s.log.Segments[s.now-1].Sequence+1 != x.Sequence:
		s.seeded = false
		s.fault(Fault{Kind: FaultChain, Segment: x.Path, Text: fmt.Sprintf("segment %d follows segment %d: those between are missing", x.Sequence, s.log.Segments[s.now-1].Sequence)})
	}
}

func (s *scanner) fault(f Fault) {
	s.log.Faults = append(s.log.Faults, f)
	if !s.log.Segments[s.now].Broken {
		s.doubt.begin(s.log.Commit)
	}
}

// odd notes a verified record that is not what its place or type says.
func (s *scanner) odd(r *record, kind FaultKind, text string) {
	s.fault(Fault{Kind: kind, Segment: s.log.Segments[s.now].Path, Offset: r.offset, Length: r.end() - r.offset, Text: text})
}

// record takes one verified record.
func (s *scanner) record(r *record) {
	switch r.kind {
	case typeMetadata:
		s.metadata(r)
	case typeEntry, typeState, typeSnapshot:
		if !s.foreign {
			s.content(r)
		}
	case typeCRC:
	default:
		s.odd(r, FaultUnknown, fmt.Sprintf("a record of type %d, which is not known", r.kind))
	}
}

// content takes a record of the log itself.
func (s *scanner) content(r *record) {
	switch r.kind {
	case typeEntry:
		s.entry(r)
	case typeState:
		s.hardState(r)
	case typeSnapshot:
		s.snapshot(r)
	}
}

// metadata takes the IDs (etcdserverpb.Metadata).
func (s *scanner) metadata(r *record) {
	var ids [2]uint64
	l := s.log
	switch {
	case !numbers(r.data, ids[:]):
		s.odd(r, FaultDamaged, "metadata that cannot be decoded")
	case l.NodeID == 0 && l.ClusterID == 0:
		l.NodeID, l.ClusterID = ids[0], ids[1]
	case l.NodeID != ids[0] || l.ClusterID != ids[1]:
		s.foreign = true
		s.odd(r, FaultForeign, fmt.Sprintf("the segment is of member %x of cluster %x, the log is of member %x of cluster %x: its entries are left out", ids[0], ids[1], l.NodeID, l.ClusterID))
	}
}

// hardState takes a raftpb.HardState. An entry whose type is damaged looks like one,
// but has data, or 0 where the term is.
func (s *scanner) hardState(r *record) {
	var n [3]uint64
	if !numbers(r.data, n[:]) || n[0] == 0 || hasField(r.data, 4) {
		s.odd(r, FaultDamaged, "a hard state that cannot be decoded")
		return
	}
	if s.log.Segments[s.now].Broken {
		return
	}
	before := s.state
	s.state = State{Term: n[0], Vote: n[1], Commit: n[2], After: s.lastIndex, Segment: s.now, Offset: r.offset}
	s.log.Commit = max(s.log.Commit, n[2])
	s.wasState = s.state.Term == before.Term && s.state.Vote == before.Vote
	if !s.wasState {
		s.log.States = append(s.log.States, s.state)
	}
}

// snapshot takes a walpb.Snapshot.
func (s *scanner) snapshot(r *record) {
	var n [2]uint64
	if !numbers(r.data, n[:]) {
		s.odd(r, FaultDamaged, "the mark of a snapshot that cannot be decoded")
		return
	}
	if n[0] == 0 {
		s.log.Begins = len(s.log.Entries) == 0
		return
	}
	s.log.Snapshots = append(s.log.Snapshots, Snapshot{Index: n[0], Term: n[1], Segment: s.now, Offset: r.offset})
	if !s.log.Segments[s.now].Broken {
		s.received(n[0], n[1])
	}
}

// finish adds the last state, and says which entries are missing.
func (s *scanner) finish() {
	if s.wasState {
		s.log.States = append(s.log.States, s.state)
	}
	if s.log.Commit > s.doubt.commit {
		s.settle(s.state.Term)
	}
	s.gaps()
}

// gaps finds the indexes that are missing between the entries.
func (s *scanner) gaps() {
	var before *Ref
	for i := range s.log.Entries {
		e := &s.log.Entries[i]
		if e.Overwritten || e.Unsure {
			continue
		}
		if before != nil && e.Index > before.Index+1 {
			s.fault(Fault{Kind: FaultGap, Segment: s.log.Segments[e.Segment].Path, Offset: e.Offset,
				Text: fmt.Sprintf("the entries %d to %d are missing before entry %d", before.Index+1, e.Index-1, e.Index)})
		}
		before = e
	}
}

// Close closes the files that Data has opened.
func (l *Log) Close() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, i := range slices.Sorted(maps.Keys(l.windows)) {
		err = errors.Join(err, l.windows[i].file.Close())
	}
	l.windows = nil
	return err
}
