package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"etcd-autopsy/snapshot/replay"
	"etcd-autopsy/snapshot/wal"
)

// replayer turns the committed entries of a raft log into revisions, and checks
// them against those that the stores hold.
type replayer struct {
	h       *History
	m       *merger
	raft    *raftLog
	entries []entry
	keys    keyTable // of the entries' writes
	events  []RaftEvent

	run    runReplay
	buffer []byte
	next   int // the entry that take expects
}

// runReplay is what replaying one run of entries has given so far.
type runReplay struct {
	from    int64 // revision before the first entry
	cursor  int   // in History.revisions
	found   []walRecord
	agree   []int // revisions of the history that an entry makes too
	differ  int
	first   string // what differs first
	differs int64  // and at which revision
}

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

// replayAll replays every run of the log.
func (p *replayer) replayAll(ctx context.Context) error {
	for _, run := range p.raft.runs {
		if err := p.replayRun(ctx, run); err != nil {
			return err
		}
	}
	p.describeRest()
	return ctx.Err()
}

// replay applies the entries of a run to a machine.
func (p *replayer) replay(ctx context.Context, run raftRun, m *replay.Machine) error {
	p.run = runReplay{from: m.Revision(), cursor: p.h.after(m.Revision())}
	err := p.each(ctx, run, func(e wal.Entry, n int) {
		p.take(n, m.Apply(replay.Entry{Index: e.Index, Term: e.Term, Type: e.Type, Data: e.Data}), m)
	})
	if err != nil {
		return err
	}
	p.run.skipped(p.h, m.Revision())
	p.accept(run, m.Revision())
	return nil
}

// replayRun replays the entries behind the base of a run, and places those before
// it; without a base all of them.
func (p *replayer) replayRun(ctx context.Context, run raftRun) error {
	base := p.base(run)
	if base == nil {
		if err := p.describe(ctx, run); err != nil {
			return err
		}
		return p.place(ctx, run)
	}
	index := base.Index()
	if err := p.replay(ctx, run, base); err != nil || index < run.first {
		return err
	}
	return p.place(ctx, run.until(index))
}

// each gives the entries of a run in order, with their numbers in the table.
func (p *replayer) each(ctx context.Context, run raftRun, f func(e wal.Entry, n int)) error {
	for _, piece := range run.pieces {
		l := p.raft.logs[piece.log]
		for e, err := range l.read(ctx, piece) {
			if err != nil {
				return fmt.Errorf("read the WAL %s: %w", l.info.Path, err)
			}
			if n := p.find(e.Index, e.Term); n >= 0 {
				f(e, n)
			}
		}
	}
	return ctx.Err()
}

// take notes what came of an entry.
func (p *replayer) take(n int, o replay.Outcome, m *replay.Machine) {
	x := &p.entries[n]
	p.note(x, o.Request)
	p.event(n, o.Request)
	if o.Rejected == replay.Applied { // the base has it
		return
	}
	x.at = m.Revision()
	x.revision, x.rejection = o.Revision, o.Rejected
	x.state = EntryApplied
	if o.Rejected != replay.NotRejected {
		x.state = EntryRejected
	}
	if len(o.Compares) > 0 && x.expected >= 0 {
		x.found = o.Compares[0].FoundNumber()
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
	for r.cursor < len(p.h.revisions) && p.h.revisions[r.cursor].compareTo(rev) < 0 {
		r.missed(p.h, r.cursor)
		r.cursor++
	}
	if r.cursor < len(p.h.revisions) && p.h.revisions[r.cursor].compareTo(rev) == 0 {
		known := &p.h.revisions[r.cursor]
		switch {
		case p.h.hashes[r.cursor] == hash:
			r.agree = append(r.agree, r.cursor)
		case known.isCarved(): // it is the carved one that cannot be trusted
			p.keep(x, c, hash)
		default:
			r.disagree(c.Main, "revision %s is of other bytes in a store", rev.name())
		}
		r.cursor++
		return
	}
	if p.mustHave(c.Main) {
		r.disagree(c.Main, "revision %s of key %q is not in a store that should have it", rev.name(), c.Key)
		return
	}
	p.keep(x, c, hash)
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

// keep notes a change that no tree has.
func (p *replayer) keep(x *entry, c *replay.Change, hash uint64) {
	w := walRecord{hash: hash, place: walPlace{main: c.Main, sub: uint32(c.Sub), log: x.log, ref: x.ref, offset: int32(c.ValueOffset), size: uint32(len(c.Value))}}
	w.record = record{
		main: c.Main, sub: uint32(c.Sub), create: c.Create, version: c.Version, leased: c.Lease,
		size: uint32(len(c.Value)), key: p.h.table.share(c.Key), mark: markWAL,
	}
	if c.Tombstone {
		w.mark |= markTombstone
	}
	p.run.found = append(p.run.found, w)
}

// disagree counts a revision that entries and stores do not agree about.
func (r *runReplay) disagree(main int64, format string, args ...any) {
	if r.differ++; r.differ == 1 {
		r.differs, r.first = main, fmt.Sprintf(format, args...)
	}
}

// missed counts a revision of the history that no entry made.
func (r *runReplay) missed(h *History, i int) {
	if x := &h.revisions[i]; !x.isCarved() {
		r.disagree(x.main, "revision %s of a store is made by no entry", x.name())
	}
}

// skipped counts the revisions up to the last that no entry made.
func (r *runReplay) skipped(h *History, last int64) {
	for ; r.cursor < len(h.revisions) && h.revisions[r.cursor].main <= last; r.cursor++ {
		r.missed(h, r.cursor)
	}
}

// tell notes for the logs of a run what could not be made of it.
func (p *replayer) tell(run raftRun, why string) {
	for _, l := range p.logsOf(run) {
		l.problem("no revisions are made of the entries %d to %d: %s", run.first, run.last, why)
	}
}

// logsOf are the logs that a run was put together from, each once.
func (p *replayer) logsOf(run raftRun) []*memberLog {
	var list []*memberLog
	for _, piece := range run.pieces {
		if l := p.raft.logs[piece.log]; !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// memberNumber is the reverse of memberID, 0 for what is none.
func memberNumber(id string) uint64 {
	n, err := strconv.ParseUint(id, 16, 64)
	if err != nil {
		return 0
	}
	return n
}
