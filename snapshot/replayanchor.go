package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"

	"etcd-autopsy/snapshot/replay"
	"etcd-autopsy/snapshot/wal"
)

// part is the run from one index to another, both included.
func (r raftRun) part(first, last uint64) raftRun {
	out := raftRun{first: first, last: last}
	at := r.first
	for _, p := range r.pieces {
		from, to := at, at+uint64(p.to-p.from) // of indexes, the end not included
		at = to
		if from, to = max(from, first), min(to, last+1); from < to {
			start := p.from + int(from-(at-uint64(p.to-p.from)))
			out.pieces = append(out.pieces, raftPiece{p.log, start, start + int(to-from)})
		}
	}
	return out
}

// anchorRest places the entries of a run that were not replayed, stretch by
// stretch.
func (p *replayer) anchorRest(ctx context.Context, run raftRun) {
	first := uint64(0)
	for i := p.firstOf(run.first); i <= len(p.entries) && ctx.Err() == nil; i++ {
		inside := i < len(p.entries) && p.entries[i].index <= run.last
		switch {
		case inside && p.entries[i].state >= EntryUncommitted:
		case inside && p.entries[i].state == EntryUnplaced:
			if first == 0 {
				first = p.entries[i].index
			}
		default:
			if first > 0 {
				last := run.last
				if inside {
					last = p.entries[i].index - 1
				}
				p.anchor(ctx, run.part(first, last))
				first = 0
			}
			if !inside {
				return
			}
		}
	}
}

// anchor finds the revisions of entries before which the state of the store is not
// known, as far as what the entries and the stores name settles them.
func (p *replayer) anchor(ctx context.Context, run raftRun) {
	known := p.known(ctx, run)
	placement := replay.Place(func(yield func(replay.Entry) bool) {
		more := true
		err := p.each(ctx, run, func(e wal.Entry, _ int) {
			if more {
				more = yield(replay.Entry{Index: e.Index, Term: e.Term, Type: e.Type, Data: bytes.Clone(e.Data)})
			}
		})
		if err != nil && ctx.Err() == nil {
			p.logsOf(run)[0].problem("%s", err)
		}
	}, known)
	if placement.Fits && ctx.Err() == nil {
		p.takePlaced(run, placement.Entries)
	}
}

// known collects what the stores say of the keys that the entries write.
func (p *replayer) known(ctx context.Context, run raftRun) (k replay.Known) {
	for _, i := range p.m.accepted {
		s := p.h.stores[i]
		if at := s.info.ConsistentIndex; s.exact() && at >= run.first && at <= run.last && (s.info.Term == 0 || s.info.Term == p.raft.termIn(run, at)) {
			above, last := s.coverage()
			k.Points = append(k.Points, replay.Point{Index: s.info.ConsistentIndex, Revision: max(above, last)})
		}
	}
	for i := range p.h.revisions {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return k
		}
		r := &p.h.revisions[i]
		name := p.h.table.names[r.key]
		if _, written := p.keys.numbers[name]; !written || r.isCarved() {
			continue
		}
		x := replay.Record{Key: name, Main: r.main, Tombstone: r.tombstone()}
		if !x.Tombstone {
			v, err := p.stored(r.key, r.main)
			if err != nil {
				continue
			}
			x.Sum = sha256.Sum256(v)
		}
		k.Records = append(k.Records, x)
	}
	return k
}

// takePlaced notes the revisions that were found, and keeps the writes of one key
// that no store has.
func (p *replayer) takePlaced(run raftRun, placed []replay.Placed) {
	c := placing{p: p, at: map[placedKey]*record{}}
	revision, open := int64(0), 0
	n := p.firstOf(run.first)
	for _, q := range placed {
		for n < len(p.entries) && (p.entries[n].index < q.Index || p.entries[n].state != EntryUnplaced) {
			n++
		}
		if n == len(p.entries) || p.entries[n].index != q.Index {
			continue
		}
		x := &p.entries[n]
		switch {
		case q.Status == replay.Unknown:
			revision = 0
			open++
			continue
		case q.Status == replay.Exact:
			revision = q.Revision
			x.state, x.revision = EntryApplied, revision
			c.add(x)
		case x.verb != 0 && entryVerbs[x.verb] != string(replay.VerbDelete): // a put that is not refused makes one
			x.state = EntryRejected
		}
		x.at = revision
	}
	c.date()
	p.h.insertReplayed(c.found())
	for _, l := range p.logsOf(run) {
		l.problem("the state of the store before the entries %d to %d is not known: %d were placed by what they and the stores name, %d could not be", run.first, run.last, len(placed)-open, open)
	}
}

// placedKey is a revision of a key.
type placedKey struct {
	key  uint32
	main int64
}

// placing makes records of entries of which the revision is known, but not the
// state of the store before them: create_revision and version follow from the
// other revisions of the key.
type placing struct {
	p *replayer
	// list are the entries, in order; own are those whose records no store has.
	list []placedEntry
	own  []walRecord
	at   map[placedKey]*record // of the history, and of own once that is complete
}

// placedEntry is an update of a key, of which the precondition names the revision
// before.
type placedEntry struct {
	key          uint32
	main, before int64
}

// add takes an entry that made a revision by the write of one key.
func (c *placing) add(x *entry) {
	if x.verb == 0 {
		return
	}
	p := c.p
	key := p.h.table.share(p.keys.names[x.key])
	c.list = append(c.list, placedEntry{key, x.revision, max(x.expected, 0)})
	for i := p.h.after(x.revision - 1); i < len(p.h.revisions) && p.h.revisions[i].main == x.revision; i++ {
		if r := &p.h.revisions[i]; r.key == key && !r.isCarved() {
			r.mark |= markWAL
			c.at[placedKey{key, x.revision}] = r
			return
		}
	}
	if p.mustHave(x.revision) {
		return // a store has the revision whole, and it is of other keys
	}
	l := p.raft.logs[x.log]
	data, err := l.log.Data(int(x.ref))
	if err != nil {
		l.problem("entry %d of term %d: %s", x.index, x.term, err)
		return
	}
	r, err := replay.Decode(replay.Entry{Index: x.index, Term: x.term, Type: l.ref(x.ref).Type, Data: data})
	if err != nil {
		return
	}
	w, ok := r.Write()
	if !ok {
		return
	}
	own := walRecord{place: walPlace{main: x.revision, log: x.log, ref: x.ref, offset: int32(w.ValueOffset), size: uint32(len(w.Value))}}
	own.record = record{main: x.revision, key: key, leased: w.Lease, size: uint32(len(w.Value)), mark: markWAL}
	switch w.Verb {
	case replay.VerbDelete:
		own.record = record{main: x.revision, key: key, mark: markWAL | markTombstone}
	case replay.VerbCreate:
		own.create, own.version = x.revision, 1
	}
	c.own = append(c.own, own)
}

// date gives the records create_revision and version: of the revision before,
// which the precondition of an update names, then of the one behind.
func (c *placing) date() {
	for i := range c.own {
		c.at[placedKey{c.own[i].key, c.own[i].main}] = &c.own[i].record
	}
	for _, x := range c.list {
		r, before := c.at[placedKey{x.key, x.main}], c.before(x)
		switch {
		case r == nil || before == nil || r.create != 0 || before.create == 0:
		case r.tombstone(): // it has those of the lifetime that it ends
			r.create, r.version, r.leased = before.create, before.version, before.leased
		default:
			r.create, r.version = before.create, before.version+1
		}
	}
	for _, x := range slices.Backward(c.list) {
		r, before := c.at[placedKey{x.key, x.main}], c.before(x)
		if r != nil && before != nil && before.create == 0 && r.version > 1 && !r.tombstone() && !before.tombstone() {
			before.create, before.version = r.create, r.version-1
		}
	}
}

// before is the record of the revision that an update replaced, nil if it is not
// known.
func (c *placing) before(x placedEntry) *record {
	if x.before == 0 {
		return nil
	}
	if r := c.at[placedKey{x.key, x.before}]; r != nil {
		return r
	}
	h := c.p.h
	for i := h.after(x.before - 1); i < len(h.revisions) && h.revisions[i].main == x.before; i++ {
		if r := &h.revisions[i]; r.key == x.key && !r.isCarved() {
			return r
		}
	}
	return nil
}

// found are the records that no store has.
func (c *placing) found() []walRecord {
	slices.SortStableFunc(c.own, func(a, b walRecord) int { return compareRevisions(&a.record, &b.record) })
	return c.own
}
