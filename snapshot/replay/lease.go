package replay

import (
	"maps"
	"slices"
)

// The longest life of a lease in seconds (etcd v3.7 server/lease/lessor.go).
const maxTTL = 9_000_000_000

// lease is a lease and the keys attached to it.
type lease struct {
	Lease
	keys map[string]struct{}
}

func newLease(l Lease) *lease { return &lease{l, map[string]struct{}{}} }

// grant adds a lease (etcd v3.7 server/lease/lessor.go, Grant).
func (m *Machine) grant(l Lease) Rejection {
	switch {
	case l.ID == 0:
		return LeaseNotFound
	case l.TTL > maxTTL:
		return LeaseTTLTooLarge
	case m.leases[l.ID] != nil:
		return LeaseExists
	}
	l.TTL = max(l.TTL, m.options.Rules.minTTL())
	m.leases[l.ID] = newLease(l)
	return NotRejected
}

// revoke ends a lease and deletes its keys in order. Expired leases end so too:
// the leader revokes them.
func (m *Machine) revoke(id int64) Rejection {
	l := m.leases[id]
	if l == nil {
		return LeaseNotFound
	}
	for _, key := range slices.Sorted(maps.Keys(l.keys)) {
		if k := m.keys.byName[key]; k != nil {
			m.delete(k)
		}
	}
	delete(m.leases, id)
	return NotRejected
}

// checkpoint keeps what is left of leases; those that are not there do not count.
func (m *Machine) checkpoint(leases []Lease) {
	for _, c := range leases {
		if l := m.leases[c.ID]; l != nil {
			l.Remaining = c.Remaining
		}
	}
}

// attach ties a key to a lease, if that is there.
func (m *Machine) attach(id int64, key string) {
	if l := m.leases[id]; l != nil {
		l.keys[key] = struct{}{}
	}
}

// detach unties a key from a lease, if it is tied to it.
func (m *Machine) detach(id int64, key string) {
	if l := m.leases[id]; l != nil {
		delete(l.keys, key)
	}
}
