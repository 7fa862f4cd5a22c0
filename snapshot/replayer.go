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
	removed map[uint64]bool // members

	run    runReplay
	buffer []byte
	next   int // the entry that find expects
	// described is true once what the entries of the run ask for is noted.
	described bool
}

// runReplay is what replaying one run of entries has given so far.
type runReplay struct {
	base    uint64 // index of the last entry that the base has
	from    int64  // revision of the base
	cursor  int    // in History.revisions
	found   []walRecord
	agree   []int // revisions of stores that an entry makes too
	carved  []int // carved revisions that no entry makes, or not so
	differ  int
	first   string // what differs first
	differs int64  // and at which revision
	// doubtful is the first entry whose outcome is not sure, 0 for none; certain is
	// the revision before it, and doubt says why.
	doubtful uint64
	certain  int64
	doubt    string
	refuted  bool // what came behind it differs
	// hits are writes that name the revision of their key which they have seen, where
	// that is one of the key; misses are those where it is not. Only revisions of the
	// run count.
	hits, misses int
	made         revisionKeys
	live         liveValues
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
		p.described = false
		p.place(ctx, run)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	p.describeRest()
	return ctx.Err()
}

// place replays a run from the first base that fits, and where that leads no
// further from the next one.
func (p *replayer) place(ctx context.Context, run raftRun) {
	next, why := run.first, ""
	for _, b := range p.bases(run) {
		if b.index+1 < next {
			continue
		}
		from, not := p.replay(ctx, run, b)
		if from > b.index+1 {
			if why != "" && b.index >= next {
				p.tell(run, next, b.index, why)
			}
			next = from
		}
		if why = not; next > run.last {
			p.anchorRest(ctx, run)
			return
		}
	}
	if why == "" {
		why = "what was stored before them is not known"
	}
	if !p.described {
		p.describe(ctx, run)
	}
	p.tell(run, next, run.last, why)
	p.anchorRest(ctx, run)
}

// replay applies the entries of a run to a base. from is the first entry that
// could not be placed, and why says so.
func (p *replayer) replay(ctx context.Context, run raftRun, b raftBase) (from uint64, why string) {
	m := p.machine(b)
	if last := p.h.replayedTo(); m.Revision() < last {
		return b.index + 1, fmt.Sprintf("the store before them is at revision %d, but earlier entries make revision %d", m.Revision(), last)
	}
	p.run = runReplay{
		base: b.index, from: m.Revision(), cursor: p.h.after(m.Revision()),
		live: liveValues{places: map[uint32]walPlace{}, kept: map[uint32]int64{}},
	}
	err := p.each(ctx, run, func(e wal.Entry, n int) {
		before := m.Revision()
		o := m.Apply(replay.Entry{Index: e.Index, Term: e.Term, Type: e.Type, Data: e.Data})
		if o.Doubts != 0 {
			p.run.stop(e.Index, before, o.Doubts.String())
		}
		if !p.described && o.Err == nil {
			p.note(&p.entries[n], o.Request)
			p.event(n, o.Request)
		}
		p.take(n, o, m)
	})
	p.described = true
	if err != nil {
		p.run.stop(m.Index()+1, m.Revision(), err.Error())
	}
	p.run.skipped(p.h, m.Revision())
	return p.accept(run, m.Revision())
}

// stop notes the first entry from which on nothing is sure.
func (r *runReplay) stop(index uint64, certain int64, why string) {
	if r.doubtful == 0 {
		r.doubtful, r.certain, r.doubt = index, certain, why
	}
}

// each gives the entries of a run in order, with their numbers in the table.
func (p *replayer) each(ctx context.Context, run raftRun, f func(e wal.Entry, n int)) error {
	for _, piece := range run.pieces {
		l := p.raft.logs[piece.log]
		for e, err := range l.read(ctx, piece) {
			if err != nil {
				return fmt.Errorf("read %s: %w", l.name(), err)
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

// tell notes for the logs of a run, once each, which entries nothing could be made
// of.
func (p *replayer) tell(run raftRun, from, to uint64, why string) {
	for _, l := range p.logsOf(run) {
		l.problem("no revisions are replayed of the entries %d to %d: %s", from, to, why)
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
