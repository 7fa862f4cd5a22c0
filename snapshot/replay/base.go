package replay

import "iter"

// Base is the state of a store after an entry: that of a database whose
// consistent index is Index.
type Base struct {
	// Index is the raft index of the last entry that is in the state.
	Index uint64
	// Revision is the current revision, at least 1. A database that was compacted
	// has none below that compaction, even if its records are older (etcd v3.7
	// server/storage/mvcc/kvstore.go, restore).
	Revision int64
	// Compacted is the compaction that was last scheduled, 0 if there was none.
	Compacted int64
	// Keys are the live keys, in any order.
	Keys   iter.Seq[KeyState]
	Leases []Lease
	// Alarms are those of the alarm bucket.
	Alarms      []Alarm
	AuthEnabled bool
}

// Options say how entries are applied.
type Options struct {
	Rules Rules
	// Values returns the value that a live key has, by the revision that wrote
	// it; it is asked only for compares of values and for puts that keep one. nil
	// knows none.
	Values func(key string, mod int64) ([]byte, error)

	_ struct{}
}

// New returns a machine with the empty store of a new cluster: its revision is 1,
// and entry 1 is the first.
func New(o Options) *Machine { return NewAt(Base{}, o) }

// maxRevision is more than any etcd gets to, and leaves room for all entries.
const maxRevision = 1 << 62

// NewAt returns a machine with the state of a base. Entries that the base has
// already are passed over.
func NewAt(b Base, o Options) *Machine {
	m := &Machine{
		options:   o,
		applied:   b.Index,
		revision:  min(max(b.Revision, b.Compacted, 1), maxRevision),
		compacted: neverCompacted,
		keys:      newKeySet(),
		leases:    map[int64]*lease{},
		alarms:    map[Alarm]bool{},
		auth:      b.AuthEnabled,
	}
	if b.Compacted > 0 {
		m.compacted = b.Compacted
	}
	if b.Revision > maxRevision || b.Compacted > maxRevision {
		m.doubts |= DoubtBase
	}
	for _, l := range b.Leases {
		l.TTL = max(l.TTL, o.Rules.minTTL())
		m.leases[l.ID] = newLease(l)
	}
	for _, a := range b.Alarms {
		m.alarms[a] = true
	}
	m.enforceAll()
	if b.Keys != nil {
		m.loadKeys(b.Keys)
	}
	return m
}

// loadKeys takes over the keys of a base and attaches them to their leases.
func (m *Machine) loadKeys(keys iter.Seq[KeyState]) {
	for k := range keys {
		if old := m.keys.byName[k.Key]; old != nil {
			m.removeKey(old)
		}
		if k.Mod > m.revision {
			m.doubts |= DoubtBase
		}
		m.keys.add(&k)
		m.attach(k.Lease, k.Key)
	}
}
