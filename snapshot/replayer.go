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
	if p.run.differ > 0 {
		p.h.disagreed = why
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
