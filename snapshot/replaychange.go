package snapshot

import (
	"fmt"

	"etcd-autopsy/snapshot/replay"
)

// walRecord is a revision that an entry makes and no tree has.
type walRecord struct {
	record
	hash  uint64
	place walPlace
}

// walPlace is where the value of a revision lies: in an entry of a log.
type walPlace struct {
	main int64
	sub  uint32
	log  uint16
	ref  int32
	// offset is where in the entry's data it begins, -1 if the put kept the value
	// that the key had.
	offset int32
	size   uint32
}

// take notes what came of an entry.
func (p *replayer) take(n int, o replay.Outcome, m *replay.Machine) {
	x := &p.entries[n]
	switch o.Rejected {
	case replay.Applied, replay.Undecoded: // the base has it; what it did is not known
		return
	case replay.NotRejected:
		x.state = EntryApplied
	default:
		x.state = EntryRejected
	}
	x.at = m.Revision()
	x.revision, x.rejection = o.Revision, o.Rejected
	if len(o.Compares) > 0 && x.expected >= 0 {
		x.found = o.Compares[0].FoundNumber()
	}
	if x.expected > p.run.from {
		if p.run.made.has(x.expected-p.run.from, p.entryKey(x)) {
			p.run.hits++
		} else {
			p.run.misses++
		}
	}
	for i := range o.Changes {
		p.change(x, &o.Changes[i])
	}
}

// note decodes what an entry asks for.
func (p *replayer) note(x *entry, r *replay.Request) {
	x.request, x.kind = r.ID, r.Kind
	w, ok := r.Write()
	if !ok {
		return
	}
	x.verb, x.key, x.size = verbNumber(w.Verb), p.keys.number(w.Key), uint32(len(w.Value))
	switch w.Precondition {
	case replay.MustNotExist:
		x.expected = 0
	case replay.SameModRevision:
		x.expected = w.Expected
	}
}

// change compares a change with the history, or keeps it.
func (p *replayer) change(x *entry, c *replay.Change) {
	p.buffer = c.AppendKeyValue(p.buffer[:0])
	hash := hashRecord(c.Tombstone, p.buffer)
	rev := revisionKey{main: c.Main, sub: c.Sub, tombstone: c.Tombstone}
	r := &p.run
	w := p.found(x, c)
	for r.cursor < len(p.h.revisions) && p.h.revisions[r.cursor].compareTo(rev) < 0 {
		r.pass(p.h, r.cursor)
		r.cursor++
	}
	if r.cursor < len(p.h.revisions) && p.h.revisions[r.cursor].compareTo(rev) == 0 {
		known := &p.h.revisions[r.cursor]
		same := p.h.hashes[r.cursor] == hash
		r.cursor++
		switch {
		case known.isCarved() && !same: // it is the carved one that cannot be trusted
			r.carved = append(r.carved, r.cursor-1)
		case known.isCarved():
		case same:
			r.agree = append(r.agree, r.cursor-1)
			return
		default:
			r.disagree(c.Main, "revision %s is of other bytes in a store", rev.name())
			return
		}
	}
	if p.mustHave(c.Main) {
		r.disagree(c.Main, "revision %s of key %q is not in a store that should have it", rev.name(), c.Key)
		return
	}
	w.hash = hash
	r.found = append(r.found, w)
}

// mustHave says whether some store has every record of a revision.
func (p *replayer) mustHave(main int64) bool {
	for _, i := range p.m.accepted {
		s := p.h.stores[i]
		if above, last := s.coverage(); main > above && main <= last && len(s.unread) == 0 {
			return true
		}
	}
	return false
}

// found makes a revision of a change.
func (p *replayer) found(x *entry, c *replay.Change) (w walRecord) {
	key := p.h.table.share(c.Key)
	p.run.made.add(c.Sub == 0, key)
	w.record = record{
		main: c.Main, sub: uint32(c.Sub), create: c.Create, version: c.Version, leased: c.Lease,
		size: uint32(len(c.Value)), key: key, mark: markWAL,
	}
	if c.Tombstone {
		w.mark |= markTombstone
		p.run.live.delete(key)
		return w
	}
	w.place = p.run.live.put(key, walPlace{main: c.Main, sub: w.sub, log: x.log, ref: x.ref, offset: int32(c.ValueOffset), size: w.size})
	return w
}

// entryKey is the number of the key that an entry writes among those of the
// history.
func (p *replayer) entryKey(x *entry) uint32 { return p.h.table.share(p.keys.names[x.key]) }

// disagree counts a revision that entries and stores do not agree about, if the
// entries are sure.
func (r *runReplay) disagree(main int64, format string, args ...any) {
	if r.doubtful > 0 && main > r.certain {
		r.refuted = true
		return
	}
	if r.differ++; r.differ == 1 {
		r.differs, r.first = main, fmt.Sprintf(format, args...)
	}
}

// pass counts a revision of the history that no entry made.
func (r *runReplay) pass(h *History, i int) {
	x := &h.revisions[i]
	switch {
	case x.isCarved():
		r.carved = append(r.carved, i)
	default:
		r.disagree(x.main, "revision %s of a store is made by no entry", x.name())
	}
}

// skipped counts the revisions up to the last that no entry made.
func (r *runReplay) skipped(h *History, last int64) {
	for ; r.cursor < len(h.revisions) && h.revisions[r.cursor].main <= last; r.cursor++ {
		r.pass(h, r.cursor)
	}
}
