package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"

	"etcd-autopsy/snapshot/replay"
	"etcd-autopsy/snapshot/wal"
)

// until is the part of a run up to an index.
func (r raftRun) until(index uint64) raftRun {
	if index >= r.last {
		return r
	}
	out := raftRun{first: r.first, last: index}
	left := int(index - r.first + 1)
	for _, p := range r.pieces {
		if left <= 0 {
			break
		}
		n := min(left, p.to-p.from)
		out.pieces = append(out.pieces, raftPiece{p.log, p.from, p.from + n})
		left -= n
	}
	return out
}

// place finds the revisions of entries before which the state of the store is not
// known, as far as what the entries and the stores name settles them.
func (p *replayer) place(ctx context.Context, run raftRun) error {
	known, err := p.known(ctx, run)
	if err != nil {
		return err
	}
	var failed error
	placement := replay.Place(func(yield func(replay.Entry) bool) {
		more := true
		failed = p.each(ctx, run, func(e wal.Entry, _ int) {
			if more {
				more = yield(replay.Entry{Index: e.Index, Term: e.Term, Type: e.Type, Data: bytes.Clone(e.Data)})
			}
		})
	}, known)
	if failed != nil {
		return failed
	}
	if !placement.Fits {
		p.tell(run, "what was stored before them is not known, and what they and the stores name does not settle it")
		return nil
	}
	p.takePlaced(run, placement.Entries)
	return nil
}

// known collects what the stores say of the keys that the entries write.
func (p *replayer) known(ctx context.Context, run raftRun) (replay.Known, error) {
	var k replay.Known
	for _, i := range p.m.accepted {
		s := p.h.stores[i]
		if s.info.Salvaged == "" && p.inside(s, run) && s.info.ConsistentIndex >= run.first {
			above, last := s.coverage()
			k.Points = append(k.Points, replay.Point{Index: s.info.ConsistentIndex, Revision: max(above, last)})
		}
	}
	for i := range p.h.revisions {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return k, ctx.Err()
		}
		r := &p.h.revisions[i]
		name := p.h.table.names[r.key]
		if _, written := p.keys.numbers[name]; !written || r.isCarved() {
			continue
		}
		x := replay.Record{Key: name, Main: r.main, Tombstone: r.tombstone()}
		if !x.Tombstone {
			v, err := p.valueOf(name, r.main)
			if err != nil {
				continue
			}
			x.Sum = sha256.Sum256(v)
		}
		k.Records = append(k.Records, x)
	}
	return k, nil
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
		case x.verb != 0:
			x.state, x.rejection = EntryRejected, replay.CompareFailed
		default:
			x.state = EntryApplied
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
