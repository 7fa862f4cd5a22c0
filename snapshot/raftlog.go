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
	// valid are the entries that no later one overwrote, in order of index: numbers
	// of log.Entries.
	valid []int32
	// certified is the index up to which the valid entries are known to be
	// committed.
	certified uint64
}

// newMemberLog puts the entries of a log in order.
func newMemberLog(info WAL, log *wal.Log) *memberLog {
	l := &memberLog{info: info, log: log}
	for i := range log.Entries {
		if e := &log.Entries[i]; !e.Overwritten && e.Index > 0 {
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
}

// raftRun is a run of entries that follow each other, in pieces of one log each.
type raftRun struct {
	first, last uint64
	pieces      []raftPiece
}

// raftPiece are valid entries from one place up to, not including, another.
type raftPiece struct{ log, from, to int }

// joinLogs puts the logs of one cluster together. What some member says is
// committed is so in every log that has the same entry: two logs with an entry of
// the same index and term are equal up to there (Raft's log matching). voters is
// how many members vote, 0 if that is not known.
func joinLogs(logs []*memberLog, known []raftPosition, voters int) *raftLog {
	r := &raftLog{logs: logs}
	for _, l := range logs {
		_, last := l.span()
		l.certified = min(l.log.Commit, last)
		for _, p := range known {
			if p.term != 0 && l.term(p.index) == p.term {
				l.certified = max(l.certified, p.index)
			}
		}
	}
	if index := byMajority(logs, voters); index > 0 {
		for _, l := range logs {
			if _, last := l.span(); l.term(min(index, last)) == l.lastTerm() {
				l.certified = max(l.certified, min(index, last))
			}
		}
	}
	for range logs { // what one has learnt from another a third may learn from it
		for _, l := range logs {
			for _, other := range logs {
				l.certified = max(l.certified, l.agrees(other))
			}
		}
	}
	r.findRuns()
	return r
}

// byMajority is the highest index of an entry that a majority of the voters has
// stored in its own term, while none of them had seen a later one: such an entry
// is committed, even if nobody has noted that yet. 0 if there is none.
func byMajority(logs []*memberLog, voters int) uint64 {
	var newest uint64
	for _, l := range logs {
		newest = max(newest, l.lastTerm())
		for _, s := range l.log.States {
			newest = max(newest, s.Term)
		}
	}
	var reach []uint64
	members := map[string]bool{}
	for _, l := range logs {
		if _, last := l.span(); last > 0 && l.lastTerm() == newest && !members[l.info.MemberID] {
			members[l.info.MemberID] = true
			reach = append(reach, last)
		}
	}
	slices.Sort(reach)
	slices.Reverse(reach)
	if quorum := voters/2 + 1; voters > 0 && len(reach) >= quorum {
		return reach[quorum-1]
	}
	return 0
}

// lastTerm is the term of the last valid entry.
func (l *memberLog) lastTerm() uint64 {
	_, last := l.span()
	return l.term(last)
}

// agrees is the highest index that another log has certified and up to which the
// two are equal, 0 if they have nothing in common.
func (l *memberLog) agrees(other *memberLog) uint64 {
	first, last := l.span()
	from, to := other.span()
	first, last = max(first, from), min(last, to, other.certified)
	if first == 0 || first > last || l.term(first) != other.term(first) {
		return 0
	}
	// The first index at which they differ.
	n := sort.Search(int(last-first), func(i int) bool {
		index := first + uint64(i) + 1
		return l.term(index) != other.term(index)
	})
	return first + uint64(n)
}

// findRuns goes through the certified entries in order. It stays with a log for
// as long as that has the next one.
func (r *raftLog) findRuns() {
	next, ok := r.nextFrom(0)
	for ok {
		run := raftRun{first: next, last: next - 1}
		for {
			log, at := r.holder(run.last + 1)
			if log < 0 {
				break
			}
			l := r.logs[log]
			to := at
			for to < len(l.valid) && l.ref(l.valid[to]).Index == run.last+1 && run.last < l.certified {
				run.last++
				to++
			}
			run.pieces = append(run.pieces, raftPiece{log, at, to})
		}
		r.runs = append(r.runs, run)
		next, ok = r.nextFrom(run.last + 1)
	}
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
