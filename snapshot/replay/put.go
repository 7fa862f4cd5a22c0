package replay

// checkPut says whether a put can be done (etcd v3.7 server/etcdserver/txn/put.go).
func (m *Machine) checkPut(o *Op) Rejection {
	if o.Lease != 0 && m.leases[o.Lease] == nil {
		return LeaseNotFound
	}
	if (o.IgnoreValue || o.IgnoreLease) && m.keys.get(o.Key) == nil {
		return KeyNotFound
	}
	return NotRejected
}

// put writes a key (etcd v3.7 server/storage/mvcc/kvstore_txn.go, put).
func (m *Machine) put(o *Op) {
	main := m.revision + 1
	change := Change{Main: main, Sub: int64(len(m.changes)), Lease: o.Lease, Value: o.Value, ValueOffset: o.ValueOffset}
	k := m.keys.get(o.Key)
	if o.IgnoreValue {
		m.keepValue(&change, k)
	}
	if k == nil {
		k = &KeyState{Key: string(o.Key), Create: main}
		m.keys.add(k)
	}
	if o.IgnoreLease {
		change.Lease = k.Lease
	}
	if k.Lease != change.Lease {
		m.detach(k.Lease, k.Key)
	}
	m.attach(change.Lease, k.Key)
	k.Mod, k.Lease, k.Index = main, change.Lease, m.applied
	k.Version++
	change.Key, change.Create, change.Version = k.Key, k.Create, k.Version
	m.changes = append(m.changes, change)
}

// keepValue gives a change the value that the key has.
func (m *Machine) keepValue(c *Change, k *KeyState) {
	c.Value, c.ValueOffset = nil, -1
	known := false
	if k != nil {
		c.Value, known = m.value(k)
	}
	c.ValueUnknown = !known
}

// deleteRange deletes the live keys of a range in order; that may be none.
func (m *Machine) deleteRange(o *Op) {
	m.found = emptied(m.found)
	m.keys.each(o.Key, o.RangeEnd, func(k *KeyState) bool {
		m.found = append(m.found, k)
		return true
	})
	for _, k := range m.found {
		m.delete(k)
	}
}

// delete ends a key's lifetime.
func (m *Machine) delete(k *KeyState) {
	m.changes = append(m.changes, Change{Main: m.revision + 1, Sub: int64(len(m.changes)), Key: k.Key, Tombstone: true, ValueOffset: -1})
	m.removeKey(k)
}

// removeKey takes a key out of the live ones and off its lease.
func (m *Machine) removeKey(k *KeyState) {
	m.keys.remove(k)
	m.detach(k.Lease, k.Key)
}
