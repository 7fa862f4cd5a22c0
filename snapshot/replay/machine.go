package replay

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// neverCompacted is what etcd has for a compaction revision before the first one.
const neverCompacted = -1

// Machine applies entries as a member does. It holds the live keys and leases,
// but no values. It is for one goroutine.
type Machine struct {
	options   Options
	applied   uint64 // index of the last entry
	revision  int64
	compacted int64 // neverCompacted before the first
	keys      keySet
	leases    map[int64]*lease
	alarms    map[Alarm]bool
	// noSpace and corrupt say which alarms are in force.
	noSpace, corrupt bool
	auth             bool
	doubts           Doubt

	// What is used again for each entry.
	request  Request
	changes  []Change
	compares []CompareResult
	path     []bool
	found    []*KeyState
}

// Apply applies the next entry. Entries have to come in the order of their
// indexes; of those that are not consecutive the outcomes are in doubt. It never
// fails: what etcd would refuse, or could not apply, is an outcome too.
func (m *Machine) Apply(e Entry) Outcome {
	if e.Index <= m.applied && e.Index > 0 {
		err := m.request.decode(e)
		return Outcome{Request: &m.request, Err: err, Rejected: Applied, Doubts: m.doubts}
	}
	if e.Index != m.applied+1 {
		m.doubts |= DoubtGap
	}
	m.applied = max(m.applied, e.Index)
	o := Outcome{Request: &m.request}
	if o.Err = m.request.decode(e); o.Err != nil {
		return m.undecoded(o)
	}
	if m.auth {
		m.doubts |= DoubtAuth
	}
	m.changes = emptied(m.changes)
	m.dispatch(&o)
	m.commit(&o)
	return o
}

// undecoded is the outcome of an entry that cannot be decoded. Nothing else is in
// doubt for it if it has no business with revisions.
func (m *Machine) undecoded(o Outcome) Outcome {
	if m.request.Kind == KindUnknown {
		m.doubts |= DoubtUndecoded
	}
	o.Rejected, o.Doubts = Undecoded, m.doubts
	return o
}

// dispatch does what the request asks for.
func (m *Machine) dispatch(o *Outcome) {
	r := &m.request
	if o.Rejected = m.alarmed(r); o.Rejected != NotRejected {
		return
	}
	switch r.Kind {
	case KindPut:
		o.Rejected = m.checkPut(&r.Op)
		if o.Rejected == NotRejected {
			m.put(&r.Op)
		}
	case KindDeleteRange:
		m.deleteRange(&r.Op)
	case KindTxn:
		m.txn(o)
	case KindCompaction:
		o.Rejected = m.compact(r.CompactRevision)
	case KindLeaseGrant:
		o.Rejected = m.grant(r.Lease)
	case KindLeaseRevoke:
		o.Rejected = m.revoke(r.Lease.ID)
	case KindLeaseCheckpoint:
		m.checkpoint(r.Checkpoints)
	case KindAlarm:
		m.setAlarm(r.Alarm)
	case KindAuthEnable:
		m.auth = true
	case KindAuthDisable:
		m.auth = false
	}
}

// commit makes a revision of the changes, if there are any.
func (m *Machine) commit(o *Outcome) {
	if len(m.changes) > 0 {
		m.revision++
		o.Revision, o.Changes = m.revision, m.changes
	}
	o.Doubts = m.doubts
}

// compact moves the compaction revision (etcd v3.7 server/storage/mvcc/kvstore.go,
// updateCompactRev). No live key is touched by it.
func (m *Machine) compact(revision int64) Rejection {
	switch {
	case revision <= m.compacted:
		return Compacted
	case revision > m.revision:
		return FutureRevision
	}
	m.compacted = revision
	return NotRejected
}

// Index returns the raft index of the last entry, 0 before the first.
func (m *Machine) Index() uint64 { return m.applied }

// Revision returns the current revision: 1 for an empty store.
func (m *Machine) Revision() int64 { return m.revision }

// Compacted returns the compaction revision, 0 if there was none.
func (m *Machine) Compacted() int64 { return max(m.compacted, 0) }

// AuthEnabled says whether authentication is on.
func (m *Machine) AuthEnabled() bool { return m.auth }

// Doubts say why the machine may not be where etcd was; 0 if it is exact.
func (m *Machine) Doubts() Doubt { return m.doubts }

// Len returns the number of live keys.
func (m *Machine) Len() int { return len(m.keys.byName) }

// Key returns a live key; ok is false if there is none.
func (m *Machine) Key(key string) (k KeyState, ok bool) {
	p := m.keys.byName[key]
	if p == nil {
		return k, false
	}
	return *p, true
}

// Keys yields the live keys in order. The machine may not be used meanwhile.
func (m *Machine) Keys() iter.Seq[KeyState] {
	return func(yield func(KeyState) bool) {
		m.keys.sorted.Ascend(func(k *KeyState) bool { return yield(*k) })
	}
}

// Leases returns the leases, by id.
func (m *Machine) Leases() []Lease {
	var leases []Lease
	for _, id := range slices.Sorted(maps.Keys(m.leases)) {
		leases = append(leases, m.leases[id].Lease)
	}
	return leases
}

// Alarms returns the alarms that are raised, by member and type.
func (m *Machine) Alarms() []Alarm {
	return slices.SortedFunc(maps.Keys(m.alarms), func(a, b Alarm) int {
		return cmp.Or(cmp.Compare(a.Member, b.Member), cmp.Compare(a.Type, b.Type))
	})
}
