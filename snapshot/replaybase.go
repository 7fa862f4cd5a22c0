package snapshot

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/raft/v3/raftpb"

	"etcd-autopsy/snapshot/replay"
)

// raftBase is a moment of which the state of the store is known: right after an
// entry, or before the first one.
type raftBase struct {
	index uint64
	store *store // nil for the empty store of a new cluster
}

// bases are those from which a run of entries can be replayed, the first one
// first: the empty store where the log begins with a new cluster, and stores that
// were copied meanwhile. One that has the last entry already is of no use.
func (p *replayer) bases(run raftRun) []raftBase {
	var list []raftBase
	if run.first == 1 && p.raft.anew {
		list = append(list, raftBase{})
	}
	for _, i := range p.m.accepted {
		s := p.h.stores[i]
		if !s.exact() || !p.inside(s, run) || p.raft.restored && !s.restored() || p.raft.anew && s.restored() {
			continue
		}
		list = append(list, raftBase{s.info.ConsistentIndex, s})
	}
	slices.SortStableFunc(list, func(a, b raftBase) int { return cmp.Compare(a.index, b.index) })
	return list
}

// exact says whether the store has, for all that is known, all that etcd had.
func (s *store) exact() bool {
	return s.info.Salvaged == "" && s.spoilt() == 0 && !s.partial && len(s.unread) == 0 && len(s.info.Lost) == 0
}

// machine is at a base.
func (p *replayer) machine(b raftBase) *replay.Machine {
	o := replay.Options{Values: p.valueOf}
	if b.store == nil {
		return replay.New(o)
	}
	o.Rules = replay.RulesFor(b.store.info.ClusterVersion)
	return replay.NewAt(b.store.base(), o)
}

// inside says whether a store is of a moment within a run, or right before it, but
// not at its end.
func (p *replayer) inside(s *store, run raftRun) bool {
	i := &s.info
	if i.ConsistentIndex == 0 || i.ConsistentIndex+1 < run.first || i.ConsistentIndex >= run.last {
		return false
	}
	if i.Term == 0 {
		return true
	}
	if i.ConsistentIndex < run.first {
		return i.Term <= p.raft.termIn(run, run.first)
	}
	return i.Term == p.raft.termIn(run, i.ConsistentIndex)
}

// termIn is the term of an entry of a run.
func (r *raftLog) termIn(run raftRun, index uint64) uint64 {
	for _, piece := range run.pieces {
		l := r.logs[piece.log]
		if at, ok := l.place(index); ok && at >= piece.from && at < piece.to {
			return l.refAt(at).Term
		}
	}
	return 0
}

// begin notes whether the logs show how the raft log began: with a new cluster, or
// with one that was restored from a snapshot.
func (r *raftLog) begin() {
	for _, l := range r.logs {
		r.restored = r.restored || l.restored()
		r.anew = r.anew || l.beginsAnew()
	}
	r.anew = r.anew && !r.restored
}

// restored says whether the log is of a cluster that was made of a snapshot: such
// a one begins with the members, a vote in term 1, and a snapshot right behind the
// members (etcd v3.6 etcdutl/snapshot/v3_snapshot.go, saveWALAndSnap). A new
// cluster has neither.
func (l *memberLog) restored() bool {
	if first, _ := l.span(); first != 1 {
		return false
	}
	for _, s := range l.log.States {
		if s.Term == 1 && s.Vote != 0 {
			return true
		}
	}
	at := l.firstNormal()
	for _, s := range l.log.Snapshots {
		if s.Index > 0 && s.Index <= uint64(at) {
			return true
		}
	}
	return false
}

// beginsAnew says whether the log has all that the first entries of a new cluster
// are: nothing is lost before the first that is no change of the membership.
func (l *memberLog) beginsAnew() bool {
	if first, _ := l.span(); first != 1 || !l.log.Begins {
		return false
	}
	ref := l.refAt(l.firstNormal())
	for _, f := range l.log.Faults {
		if f.Segment == l.segment(0) && (ref == nil || ref.Segment > 0 || f.Offset < ref.Offset) {
			return false
		}
	}
	return true
}

// firstNormal is the place in valid of the first entry that is no change of the
// membership.
func (l *memberLog) firstNormal() int {
	at := slices.IndexFunc(l.valid, func(n int32) bool { return l.ref(n).Type == raftpb.EntryNormal })
	if at < 0 {
		return len(l.valid)
	}
	return at
}

// base is the state of the store at its consistent index.
func (s *store) base() replay.Base {
	above, last := s.coverage()
	b := replay.Base{
		Index: s.info.ConsistentIndex, Revision: max(last, above), Compacted: max(s.info.CompactRevision, s.info.ScheduledCompactRevision),
		Keys: s.liveKeys(), AuthEnabled: s.info.Auth.Enabled,
	}
	for _, l := range s.info.Leases {
		b.Leases = append(b.Leases, replay.Lease{ID: l.ID, TTL: int64(l.TTL / time.Second), Remaining: int64(l.RemainingTTL / time.Second)})
	}
	for _, a := range s.info.Alarms {
		b.Alarms = append(b.Alarms, replay.Alarm{Member: memberNumber(a.MemberID), Type: etcdserverpb.AlarmType(etcdserverpb.AlarmType_value[a.Kind])})
	}
	return b
}

// liveKeys gives the keys that the tree holds and that are not deleted.
func (s *store) liveKeys() iter.Seq[replay.KeyState] {
	newest := make([]int32, len(s.keys.names))
	for i := range s.records {
		newest[s.records[i].key] = int32(i + 1)
	}
	return func(yield func(replay.KeyState) bool) {
		for key, n := range newest {
			if n == 0 {
				continue
			}
			r := &s.records[n-1]
			k := replay.KeyState{Key: s.keys.names[key], Create: r.create, Mod: r.main, Version: r.version, Lease: r.leased}
			if !r.tombstone() && !yield(k) {
				return
			}
		}
	}
}
