package snapshot

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"etcd-autopsy/snapshot/replay"
	"etcd-autopsy/snapshot/wal"
)

// firstOf is where the entries of an index begin in the table, or would.
func (p *replayer) firstOf(index uint64) int {
	return sort.Search(len(p.entries), func(i int) bool { return p.entries[i].index >= index })
}

// find returns the number of an entry in the table, -1 if it is not there. It
// is asked for one after the other.
func (p *replayer) find(index, term uint64) int {
	if p.next >= len(p.entries) || p.entries[p.next].index != index {
		p.next = p.firstOf(index)
	}
	for ; p.next < len(p.entries) && p.entries[p.next].index == index; p.next++ {
		if p.entries[p.next].term == term {
			p.next++
			return p.next - 1
		}
	}
	return -1
}

// describe decodes the entries of a run that is not replayed.
func (p *replayer) describe(ctx context.Context, run raftRun) {
	if err := p.each(ctx, run, func(e wal.Entry, n int) { p.decode(n, e) }); err != nil && ctx.Err() == nil {
		p.tell(run, run.first, run.last, err.Error())
	}
}

// describeRest decodes the entries that are not committed, as far as is known.
func (p *replayer) describeRest() {
	for n := range p.entries {
		x := &p.entries[n]
		if x.state != EntryUncommitted && x.state != EntryLost {
			continue
		}
		l := p.raft.logs[x.log]
		data, err := l.log.Data(int(x.ref))
		if err != nil {
			l.problem("entry %d of term %d: %s", x.index, x.term, err)
			continue
		}
		p.decode(n, wal.Entry{Index: x.index, Term: x.term, Type: l.ref(x.ref).Type, Data: data})
	}
}

// decode notes what an entry asks for that no machine applies.
func (p *replayer) decode(n int, e wal.Entry) {
	r, err := replay.Decode(replay.Entry{Index: e.Index, Term: e.Term, Type: e.Type, Data: e.Data})
	if err != nil {
		return
	}
	p.note(&p.entries[n], &r)
	if p.entries[n].state == EntryUnplaced {
		p.event(n, &r)
	}
}

// finish hands the entries to the history.
func (p *replayer) finish() {
	h := p.h
	h.logs, h.entries, h.entryKeys, h.events = p.raft.logs, p.entries, &p.keys, p.events
	for i := range h.entries {
		x := &h.entries[i]
		if x.request != 0 {
			h.byRequest = append(h.byRequest, uint32(i))
		}
		if x.revision != 0 {
			h.producers = append(h.producers, uint32(i))
		}
	}
	slices.SortStableFunc(h.byRequest, func(a, b uint32) int { return cmp.Compare(h.entries[a].request, h.entries[b].request) })
	slices.SortStableFunc(h.producers, func(a, b uint32) int { return cmp.Compare(h.entries[a].revision, h.entries[b].revision) })
	slices.SortFunc(h.walPlaces, func(a, b walPlace) int { return cmp.Or(cmp.Compare(a.main, b.main), cmp.Compare(a.sub, b.sub)) })
	h.indexEntries()
	h.dateLogs()
}

// indexEntries finds the entries of each key.
func (h *History) indexEntries() {
	x := &h.entriesByKey
	x.starts = make([]uint32, len(h.entryKeys.names)+1)
	for i := range h.entries {
		if e := &h.entries[i]; e.verb != 0 {
			x.starts[e.key+1]++
		}
	}
	for k := range h.entryKeys.names {
		x.starts[k+1] += x.starts[k]
	}
	x.order = make([]uint32, x.starts[len(h.entryKeys.names)])
	next := slices.Clone(x.starts)
	for i := range h.entries {
		if e := &h.entries[i]; e.verb != 0 {
			x.order[next[e.key]] = uint32(i)
			next[e.key]++
		}
	}
}

// dateLogs notes which revisions each log and each of its segments holds.
func (h *History) dateLogs() {
	for _, l := range h.logs {
		l.info.Spans = make([]RevisionSpan, len(l.info.Segments))
		n := 0
		for _, v := range l.valid {
			ref := l.ref(v)
			for n < len(h.entries) && h.entries[n].index < ref.Index {
				n++
			}
			for k := n; k < len(h.entries) && h.entries[k].index == ref.Index; k++ {
				if e := &h.entries[k]; e.term == ref.Term && e.at != 0 {
					l.info.Spans[ref.Segment].add(e.at)
					l.info.Span.add(e.at)
				}
			}
		}
	}
}

// add widens the span, revisions being ascending.
func (s *RevisionSpan) add(main int64) {
	if s.First == 0 {
		s.First = main
	}
	s.Last = main
}
