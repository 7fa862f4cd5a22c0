package wal

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
	l := s.log.Entries
	for i := len(l) - 1; i >= 0; i-- {
		if e := &l[i]; !e.Overwritten && !e.Unsure && e.Index <= index {
			if e.Index == index && e.Term == term {
				return
			}
			break
		}
	}
	s.unsure(commit)
}

// unsure marks the entries above an index.
func (s *scanner) unsure(above uint64) {
	l := s.log.Entries
	for i := len(l) - 1; i >= 0; i-- {
		if e := &l[i]; !e.Overwritten && !e.Unsure {
			if e.Index <= above {
				return
			}
			e.Unsure = true
		}
	}
}
