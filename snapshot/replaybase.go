package snapshot

import (
	"fmt"
	"iter"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/raft/v3/raftpb"

	"etcd-autopsy/snapshot/replay"
)

// base makes a machine with the state of the store before a run of entries, nil if
// there is none: the empty store where the log begins with a new cluster, else
// that of a store which was copied in the middle of the run.
func (p *replayer) base(run raftRun) *replay.Machine {
	if run.first == 1 && !p.raft.logs[run.pieces[0].log].restored() {
		return replay.New(p.options(""))
	}
	var best *store
	for _, i := range p.m.accepted {
		s := p.h.stores[i]
		if s.info.Salvaged == "" && p.inside(s, run) && (best == nil || s.info.ConsistentIndex < best.info.ConsistentIndex) {
			best = s
		}
	}
	if best == nil {
		return nil
	}
	return replay.NewAt(best.base(), p.options(best.info.ClusterVersion))
}

// inside says whether a store is of a moment within a run, or right before it.
func (p *replayer) inside(s *store, run raftRun) bool {
	i := &s.info
	if i.ConsistentIndex+1 < run.first || i.ConsistentIndex > run.last {
		return false
	}
	if i.ConsistentIndex < run.first || i.Term == 0 {
		return true
	}
	for _, piece := range run.pieces {
		if term := p.raft.logs[piece.log].term(i.ConsistentIndex); term != 0 {
			return term == i.Term
		}
	}
	return false
}

func (p *replayer) options(version string) replay.Options {
	return replay.Options{Rules: replay.RulesFor(version), Values: p.valueOf}
}

// restored says whether the log is of a cluster that was made of a snapshot:
// such a one begins with the members, and a snapshot right behind them (etcd v3.6
// etcdutl/snapshot/v3_snapshot.go, saveWALAndSnap).
func (l *memberLog) restored() bool {
	for _, s := range l.log.Snapshots {
		if s.Index == 0 {
			continue
		}
		at, _ := l.place(s.Index + 1)
		for _, n := range l.valid[:at] {
			if l.ref(n).Type == raftpb.EntryNormal {
				return false
			}
		}
		return at > 0
	}
	return false
}

// base is the state of the store at its consistent index.
func (s *store) base() replay.Base {
	above, last := s.coverage()
	b := replay.Base{
		Index: s.info.ConsistentIndex, Revision: max(last, above), Compacted: max(s.info.CompactRevision, s.info.ScheduledCompactRevision),
		Keys: s.liveKeys(),
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

// valueOf reads the value that a live key has while entries are applied; few
// transactions ask.
func (p *replayer) valueOf(key string, mod int64) ([]byte, error) {
	for i := p.h.after(mod - 1); i < len(p.h.revisions) && p.h.revisions[i].main == mod; i++ {
		r := &p.h.revisions[i]
		if p.h.table.names[r.key] != key || r.tombstone() {
			continue
		}
		for _, s := range p.m.sets.list[r.set()] {
			if v, err := p.h.stores[s].value(r.main, int64(r.sub)); err == nil {
				return v, nil
			}
		}
	}
	for n := len(p.run.found) - 1; n >= 0 && p.run.found[n].main >= mod; n-- {
		w := &p.run.found[n]
		if w.main == mod && p.h.table.names[w.key] == key && w.place.offset >= 0 {
			return p.raft.logs[w.place.log].value(w.place)
		}
	}
	return nil, fmt.Errorf("the value of revision %d of key %q is not known", mod, key)
}
