package wal

import (
	"cmp"
	"slices"
)

// doubt is what a fault makes doubtful: in what cannot be read entries may lie
// that overwrite those before it.
type doubt struct {
	pending bool
	// commit is the highest index that was known to be committed before: such an
	// entry is never overwritten.
	commit uint64
}

// begin notes a fault; of several the first counts.
func (d *doubt) begin(commit uint64) {
	if !d.pending {
		*d = doubt{pending: true, commit: commit}
	}
}

// settle ends a doubt where the log goes on with an entry or a state of a term.
// Terms only rise, and only a leader of a later one overwrites: if the term is
// still that of the last entry, nothing was overwritten.
func (s *scanner) settle(term uint64) {
	if s.doubt.pending && term > s.lastTerm {
		s.unsure(s.doubt.commit)
	}
	s.doubt = doubt{}
}

// misplaced says whether an entry behind a fault is one of those before it once
// more, or an older one: no leader writes such a thing. What lies there is a piece
// of another place.
func (s *scanner) misplaced(e *Entry) bool {
	return s.doubt.pending && (e.Term < s.lastTerm || e.Term == s.lastTerm && e.Index <= s.lastIndex)
}

// received looks at the mark of a snapshot. If the member does not have the entry
// that the snapshot ends with, it got the snapshot from the leader, and with it
// another log instead of its own (etcd raft v3.6 raft.go, restore).
func (s *scanner) received(index, term uint64) {
	commit := s.log.Commit
	if s.doubt.pending {
		commit = s.doubt.commit
	}
	if index <= commit {
		return
	}
	at, found := slices.BinarySearchFunc(s.valid, index, func(n int32, index uint64) int { return cmp.Compare(s.log.Entries[n].Index, index) })
	if !found || s.log.Entries[s.valid[at]].Term != term {
		s.unsure(commit)
	}
}

// unsure marks the entries above an index.
func (s *scanner) unsure(above uint64) {
	for n := len(s.valid) - 1; n >= 0 && s.log.Entries[s.valid[n]].Index > above; n-- {
		s.log.Entries[s.valid[n]].Unsure = true
		s.valid = s.valid[:n]
	}
}
