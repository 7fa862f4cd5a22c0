package replay

import "slices"

// knownKey is what a log has made of a key. mod is 0 if it deleted it; version is
// 0 if it is not known.
type knownKey struct{ mod, version, lease int64 }

// knownLease is what a log has made of a lease.
type knownLease struct {
	keys map[string]struct{}
	// whole is set if no other key can be attached.
	whole bool
}

// knownKeys are the keys and leases whose state follows from the log.
type knownKeys struct {
	keys   map[string]knownKey
	leases map[int64]*knownLease
	// lives are the steps that grant and revoke each lease.
	lives map[int64][]int
	steps []step
}

func newKnownKeys(p *placer) knownKeys {
	k := knownKeys{lives: map[int64][]int{}, steps: p.steps}
	for i := range p.steps {
		if s := &p.steps[i]; s.kind == stepGrant || s.kind == stepRevoke {
			k.lives[s.lease] = append(k.lives[s.lease], i)
		}
	}
	k.forget()
	return k
}

// forget forgets all keys.
func (k *knownKeys) forget() {
	k.keys, k.leases = map[string]knownKey{}, map[int64]*knownLease{}
}

// live returns what is known of a key.
func (k *knownKeys) live(key string) (knownKey, bool) {
	known, ok := k.keys[key]
	return known, ok
}

// leaseLives says whether a lease is known to be there at a step: it was granted
// before.
func (k *knownKeys) leaseLives(id int64, at int) bool {
	steps := k.lives[id]
	n, _ := slices.BinarySearch(steps, at)
	if n == 0 {
		return false
	}
	last := &k.steps[steps[n-1]]
	return last.kind == stepGrant && !last.doubtful
}

// attached returns the keys that are known to be attached to a lease, and whether
// there are no others.
func (k *knownKeys) attached(id int64) (keys []string, whole bool) {
	l := k.leases[id]
	if l == nil {
		return nil, false
	}
	for key := range l.keys {
		keys = append(keys, key)
	}
	return keys, l.whole
}

// lease returns a lease that is taken note of.
func (k *knownKeys) lease(id int64) *knownLease {
	if k.leases[id] == nil {
		k.leases[id] = &knownLease{keys: map[string]struct{}{}}
	}
	return k.leases[id]
}

// ownLeases is what the ids are above that etcd chooses itself: the bits of a member
// and of its start are in them (etcd v3.7 pkg/idutil). Only a grant of another id
// can be refused because there is such a lease.
const ownLeases = 1 << 40

// grant takes note of a lease. Nothing is attached to a new one.
func (k *knownKeys) grant(id int64) {
	if k.leases[id] == nil {
		k.lease(id).whole = id > ownLeases
	}
}

// revoke takes note of the end of a lease, and of its keys if it had some.
func (k *knownKeys) revoke(id int64, deleted bool) {
	keys, _ := k.attached(id)
	for _, key := range keys {
		if deleted {
			k.keys[key] = knownKey{}
		} else {
			delete(k.keys, key)
		}
	}
	delete(k.leases, id)
}

// put takes note of a put that made a revision.
func (k *knownKeys) put(s *step, revision int64) {
	old, known := k.keys[s.key]
	k.detach(s.key)
	now := knownKey{mod: revision, lease: s.lease}
	switch {
	case s.pre == MustNotExist || known && old.mod == 0:
		now.version = 1
	case s.pre == SameVersion:
		now.version = s.expected + 1
	case known && old.version != 0:
		now.version = old.version + 1
	}
	k.keys[s.key] = now
	if s.lease != 0 {
		k.lease(s.lease).keys[s.key] = struct{}{}
	}
}

// delete takes note of a delete that made a revision.
func (k *knownKeys) delete(key string) {
	k.detach(key)
	k.keys[key] = knownKey{}
}

// detach takes a key off its lease.
func (k *knownKeys) detach(key string) {
	if l := k.leases[k.keys[key].lease]; l != nil {
		delete(l.keys, key)
	}
}

// blur forgets a key: it may still be attached to its lease, or not.
func (k *knownKeys) blur(key string) {
	if l := k.leases[k.keys[key].lease]; l != nil {
		delete(l.keys, key)
		l.whole = false
	}
	delete(k.keys, key)
}

// doubt takes note that a step may have attached keys to leases.
func (k *knownKeys) doubt(s *step) {
	switch s.kind {
	case stepWrite:
		if s.lease != 0 {
			k.lease(s.lease).whole = false
		}
	case stepOther:
		for _, l := range k.leases {
			l.whole = false
		}
	}
}
