package snapshot

import (
	"cmp"
	"slices"
	"sort"

	"etcd-autopsy/snapshot/wal"
)

// memberLog is the WAL of one member.
type memberLog struct {
	info WAL
	log  *wal.Log
	// faults are those of the log.
	faults []wal.Fault
	// valid are the entries that the member has, as far as is known: no later one
	// overwrote them. They are numbers of log.Entries, in order of index.
	valid []int32
	// certified is the index up to which the valid entries are known to be
	// committed.
	certified uint64
}

// maxIndex is more than any raft log gets to, and leaves room to count on.
const maxIndex = 1 << 62

// newMemberLog puts the entries of a log in order.
func newMemberLog(info WAL, log *wal.Log) *memberLog {
	l := &memberLog{info: info, log: log}
	for i := range log.Entries {
		if e := &log.Entries[i]; !e.Overwritten && !e.Unsure && e.Index > 0 && e.Index <= maxIndex {
			l.valid = append(l.valid, int32(i))
		}
	}
	slices.SortStableFunc(l.valid, func(a, b int32) int { return cmp.Compare(l.ref(a).Index, l.ref(b).Index) })
	return l
}

func (l *memberLog) ref(n int32) *wal.Ref { return &l.log.Entries[n] }

// segment is the path of a segment.
func (l *memberLog) segment(n int) string { return l.log.Segments[n].Path }

// place is where in valid the entry of an index is, or would be.
func (l *memberLog) place(index uint64) (at int, ok bool) {
	at = sort.Search(len(l.valid), func(i int) bool { return l.ref(l.valid[i]).Index >= index })
	return at, at < len(l.valid) && l.ref(l.valid[at]).Index == index
}

// term is that of the valid entry of an index, 0 if there is none.
func (l *memberLog) term(index uint64) uint64 {
	at, ok := l.place(index)
	if !ok {
		return 0
	}
	return l.ref(l.valid[at]).Term
}

// span is the first and the last index of the valid entries.
func (l *memberLog) span() (first, last uint64) {
	if len(l.valid) == 0 {
		return 0, 0
	}
	return l.ref(l.valid[0]).Index, l.ref(l.valid[len(l.valid)-1]).Index
}

// raftPosition is a place of the raft log that is known to be committed.
type raftPosition struct{ index, term uint64 }

// raftLog is the raft log of a cluster, put together from those of its members.
type raftLog struct {
	logs []*memberLog
	// runs are the committed entries: those of each run follow each other, and
	// between two runs some are missing.
	runs []raftRun
	// anew and restored say how the log began; both are false if that is not known.
	anew, restored bool
}

// raftRun is a run of entries that follow each other, in pieces of one log each.
type raftRun struct {
	first, last uint64
	pieces      []raftPiece
}

// raftPiece are valid entries from one place up to, not including, another.
type raftPiece struct{ log, from, to int }

// joinLogs puts the logs of one cluster together. known are places that are known
// to be committed, electorates the sets of members that may vote, none if that is
// not known.
func joinLogs(logs []*memberLog, known []raftPosition, electorates [][]string) *raftLog {
	r := &raftLog{logs: logs}
	for _, l := range logs {
		_, last := l.span()
		l.certified = min(l.log.Commit, last)
		for _, p := range known {
			l.certify(p)
		}
	}
	if p := byMajority(logs, electorates); p.index > 0 {
		for _, l := range logs {
			l.certify(p)
		}
	}
	for range logs { // what one has learnt from another a third may learn from it
		for _, l := range logs {
			for _, other := range logs {
				l.learn(other)
			}
		}
	}
	r.findRuns()
	r.begin()
	return r
}

// certify uses that an entry is committed. A log that has it is equal to that of
// its leader up to there (Raft's log matching), and so is one that has an earlier
// entry of the same term, up to that: the leader of the term made both.
func (l *memberLog) certify(p raftPosition) {
	at := min(l.upTo(p.index), l.lastOf(p.term))
	if ref := l.refAt(at); ref != nil && ref.Term == p.term && p.term != 0 {
		l.certified = max(l.certified, ref.Index)
	}
}

// refAt is an entry by its place in valid, nil for none.
func (l *memberLog) refAt(at int) *wal.Ref {
	if at < 0 || at >= len(l.valid) {
		return nil
	}
	return l.ref(l.valid[at])
}

// upTo is the place in valid of the last entry whose index is not above one, -1
// if there is none.
func (l *memberLog) upTo(index uint64) int {
	at, ok := l.place(index)
	if !ok {
		at--
	}
	return at
}

// lastOf is the place in valid of the last entry whose term is not above one, -1
// if there is none.
func (l *memberLog) lastOf(term uint64) int {
	return sort.Search(len(l.valid), func(i int) bool { return l.ref(l.valid[i]).Term > term }) - 1
}

// learn takes over what another log knows to be committed: the last such entry of
// each term.
func (l *memberLog) learn(other *memberLog) {
	at := other.upTo(other.certified)
	for ref := other.refAt(at); ref != nil && l != other; ref = other.refAt(at) {
		l.certify(raftPosition{ref.Index, ref.Term})
		at = min(at-1, other.lastOf(ref.Term-1))
	}
}

// lastTerm is the term of the last valid entry.
func (l *memberLog) lastTerm() uint64 {
	_, last := l.span()
	return l.term(last)
}

// findRuns goes through the certified entries in order. It stays with a log for
// as long as that has the next one. Terms never fall: where one would, the logs do
// not belong together, and a run ends.
func (r *raftLog) findRuns() {
	next, ok := r.nextFrom(0)
	for ok {
		run := raftRun{first: next, last: next - 1}
		var term uint64
		for {
			log, at := r.holder(run.last + 1)
			if log < 0 || r.logs[log].refAt(at).Term < term {
				break
			}
			to := r.logs[log].follow(at)
			ref := r.logs[log].refAt(to - 1)
			run.pieces = append(run.pieces, raftPiece{log, at, to})
			run.last, term = ref.Index, ref.Term
		}
		r.runs = append(r.runs, run)
		next, ok = r.nextFrom(run.last + 1)
	}
}

// follow is the place behind the certified entries that follow each other from a
// place on.
func (l *memberLog) follow(at int) (to int) {
	for to = at + 1; to < len(l.valid); to++ {
		before, ref := l.refAt(to-1), l.refAt(to)
		if ref.Index != before.Index+1 || ref.Term < before.Term || ref.Index > l.certified {
			break
		}
	}
	return to
}

// holder finds the log that holds a certified entry of an index: of several the
// one that goes furthest.
func (r *raftLog) holder(index uint64) (log, at int) {
	log = -1
	for i, l := range r.logs {
		p, ok := l.place(index)
		if ok && index <= l.certified && (log < 0 || l.certified > r.logs[log].certified) {
			log, at = i, p
		}
	}
	return log, at
}

// nextFrom finds the lowest index of a certified entry that is not below one.
func (r *raftLog) nextFrom(index uint64) (next uint64, ok bool) {
	for _, l := range r.logs {
		p, _ := l.place(index)
		if p == len(l.valid) {
			continue
		}
		if i := l.ref(l.valid[p]).Index; i <= l.certified && (!ok || i < next) {
			next, ok = i, true
		}
	}
	return next, ok
}
