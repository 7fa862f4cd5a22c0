package snapshot

import "fmt"

// span is a range of revisions (above, last] that is known whole.
type span struct{ above, last int64 }

// accept takes over what replaying a run has given. If it contradicts the stores
// nothing is taken over from there on; and nothing at all unless most of what
// both have is equal.
func (p *replayer) accept(run raftRun, last int64) {
	r := &p.run
	if r.differ > 0 {
		if r.differ*10 > len(r.agree) {
			last = r.from
		} else {
			last = min(last, r.differs-1)
		}
		why := fmt.Sprintf("from revision %d on they do not fit the stores: %s (%d revisions are equal, %d are not)", last+1, r.first, len(r.agree), r.differ)
		p.tell(run, why)
		p.h.disagreed = why
		p.unplace(run, last)
	}
	if last <= r.from {
		return
	}
	for _, i := range r.agree {
		if x := &p.h.revisions[i]; x.main <= last {
			p.h.agreed++
			x.mark = x.mark&^markCarved | markWAL
		}
	}
	n := len(r.found)
	for n > 0 && r.found[n-1].main > last {
		n--
	}
	p.h.insertReplayed(r.found[:n])
	above := r.from
	if above == 1 { // the revision of an empty store
		above = 0
	}
	p.h.replayed = append(p.h.replayed, span{above, last})
}

// unplace forgets what was said of the entries of a run that made a revision
// above one, and of all behind the first of those.
func (p *replayer) unplace(run raftRun, last int64) {
	for i := p.firstOf(run.first); i < len(p.entries) && p.entries[i].index <= run.last; i++ {
		x := &p.entries[i]
		if x.at > last && (x.state == EntryApplied || x.state == EntryRejected) {
			x.state, x.revision, x.at, x.found, x.rejection = EntryUnplaced, 0, 0, -1, 0
		}
	}
}

// insertReplayed merges revisions that entries make into those of the history. A
// carved record of the same revision gives way.
func (h *History) insertReplayed(found []walRecord) {
	list, hashes := make([]record, len(found)), make([]uint64, len(found))
	for i := range found {
		list[i], hashes[i] = found[i].record, found[i].hash
		h.walPlaces = append(h.walPlaces, found[i].place)
	}
	h.insert(list, hashes)
}
