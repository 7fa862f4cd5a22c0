package snapshot

import "fmt"

// span is a range of revisions (above, last] that is known whole.
type span struct{ above, last int64 }

// accept takes over what replaying a run has given. If it contradicts the stores
// nothing is taken over from there on; and nothing at all unless most of what
// both have is equal. from is the first entry of which nothing is, behind the run
// if there is none, and why says so.
func (p *replayer) accept(run raftRun, end int64) (from uint64, why string) {
	r := &p.run
	last, from, why := p.sound(run, end)
	if why != "" {
		p.unplace(run, from)
	}
	if from <= r.base+1 {
		return from, why
	}
	for _, i := range r.agree {
		if x := &p.h.revisions[i]; x.main <= last {
			x.mark |= markWAL
			p.h.agreed++
		}
	}
	n := len(r.found)
	for n > 0 && r.found[n-1].main > last {
		n--
	}
	p.dropCarved(last)
	p.h.insertReplayed(r.found[:n])
	if above := r.from; last > above {
		if above == 1 { // the revision of an empty store
			above = 0
		}
		p.h.replayed = append(p.h.replayed, span{above, last})
	}
	return from, why
}

// sound says up to which revision a replay is taken over, and from which entry on
// it is not.
func (p *replayer) sound(run raftRun, end int64) (last int64, from uint64, why string) {
	r := &p.run
	last, from = end, run.last+1
	switch {
	case r.differ*10 > len(r.agree):
		return r.from, r.base + 1, p.unfit()
	case r.differ > 0:
		last, why = r.differs-1, p.unfit()
		from = p.behind(run, last)
	case len(r.agree) == 0 && r.misses > r.hits && r.misses >= manyMisses:
		return r.from, r.base + 1, fmt.Sprintf("of %d writes that name a revision of their key %d would name one of another: what was stored before them is not known", r.hits+r.misses, r.misses)
	}
	if r.doubtful > 0 && r.doubtful < from {
		last = min(last, p.confirmed(r.certain, last))
		if next := max(r.doubtful, r.base+1, p.behind(run, last)); next < from {
			from, why = next, "nothing is sure from there on: "+r.doubt
		}
	}
	return last, from, why
}

// manyMisses are enough to judge a base by, if there are no more hits.
const manyMisses = 3

// unfit says how a replay differs from the stores.
func (p *replayer) unfit() string {
	r := &p.run
	return fmt.Sprintf("they do not fit the stores: %s (%d records are equal, %d are not)", r.first, len(r.agree), r.differ)
}

// behind is the index of the entry behind the one that made a revision: of all
// between that and the next one it is not known where the difference began.
func (p *replayer) behind(run raftRun, last int64) uint64 {
	for i := p.firstOf(p.run.base + 1); i < len(p.entries) && p.entries[i].index <= run.last; i++ {
		if x := &p.entries[i]; x.at >= last && (x.state == EntryApplied || x.state == EntryRejected) {
			if x.revision == last {
				return x.index + 1
			}
			return x.index
		}
	}
	return run.last + 1
}

// confirmed is the revision up to which all that is not sure is as the stores,
// which have every revision there, say too.
func (p *replayer) confirmed(certain, last int64) int64 {
	for certain < last && !p.run.refuted && p.mustHave(certain+1) {
		certain++
	}
	return certain
}

// unplace forgets what was said of the entries of a run from an index on.
func (p *replayer) unplace(run raftRun, from uint64) {
	for i := p.firstOf(from); i < len(p.entries) && p.entries[i].index <= run.last; i++ {
		if x := &p.entries[i]; x.state == EntryApplied || x.state == EntryRejected {
			x.state, x.revision, x.at, x.found, x.rejection = EntryUnplaced, 0, 0, -1, 0
		}
	}
}

// dropCarved leaves out the carved revisions that no entry makes so, and tells the
// stores that had them.
func (p *replayer) dropCarved(last int64) {
	drop := map[int]bool{}
	count, first := map[int]int{}, map[int]string{}
	for _, i := range p.run.carved {
		x := &p.h.revisions[i]
		if x.main > last {
			continue
		}
		drop[i] = true
		for _, s := range p.m.sets.list[x.set()] {
			if count[s]++; count[s] == 1 {
				first[s] = x.name()
			}
		}
	}
	if len(drop) == 0 {
		return
	}
	for i, s := range p.h.stores {
		if count[i] > 0 {
			s.problem("%d records outside its tree are not what the raft log says and are left out (the first is revision %s)", count[i], first[i])
		}
	}
	p.h.drop(drop)
}

// drop leaves out revisions.
func (h *History) drop(these map[int]bool) {
	kept, sums := h.revisions[:0], h.hashes[:0]
	for i, r := range h.revisions {
		if !these[i] {
			kept, sums = append(kept, r), append(sums, h.hashes[i])
		}
	}
	h.revisions, h.hashes = kept, sums
}

// insertReplayed merges revisions that entries make into those of the history. A
// carved record of the same revision gives way.
func (h *History) insertReplayed(found []walRecord) {
	list, hashes := make([]record, len(found)), make([]uint64, len(found))
	for i := range found {
		list[i], hashes[i] = found[i].record, found[i].hash
		if !found[i].tombstone() {
			h.walPlaces = append(h.walPlaces, found[i].place)
		}
	}
	h.insert(list, hashes)
}
