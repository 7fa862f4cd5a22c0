package snapshot

import (
	"slices"
	"strconv"
	"time"
)

// Parts of an ID that etcd's generator made (etcd v3.6 pkg/idutil/id.go): the low
// 16 bits of the member's ID, 40 bits of the milliseconds at which its process
// started, and a counter, which runs over into the milliseconds. A lease ID has
// lost the top bit (EtcdServer.LeaseGrant in v3.6 server/etcdserver/v3_server.go).
const (
	idMemberShift = 48
	idMemberMask  = 1<<15 - 1
	idTimeShift   = 8
	idTimeBits    = 40
)

// firstEtcd3 is the release of etcd 3.0, the first with leases: an ID that names
// an earlier time was chosen by a client.
var firstEtcd3 = time.Date(2016, 6, 30, 0, 0, 0, 0, time.UTC)

// Granted tells what the ID says of who granted the lease, and when. Member has
// the low 15 bits of the granting member's ID (Store.Granter finds the member).
// NotBefore is when that member's process started, by its own clock, and a little
// later the more IDs it has made since (a millisecond for each 256): the lease
// was granted then at the earliest. A member that has run for a week still names
// the time of a week ago.
//
// Of two leases with the same member the one with the higher ID was granted
// later, unless the member's clock was set back before a restart.
//
// Both are zero if the ID does not look generated. Clients may choose IDs, as
// Kubernetes never does, and one that was drawn at random can look generated:
// that no member has its bits and that its time is not plausible are the only
// signs of that.
func (l Lease) Granted() (member uint16, notBefore time.Time) {
	if l.ID <= 0 {
		return 0, time.Time{}
	}
	t := idTime(uint64(l.ID))
	if t.Before(firstEtcd3) {
		return 0, time.Time{}
	}
	return uint16(l.ID >> idMemberShift & idMemberMask), t
}

// Granter returns the ID of the member that granted a lease: the only one, among
// those that the store knows or that were removed from it, whose low 15 bits the
// lease's ID has. It is "" if none or several have them, and if the ID was not
// generated.
func (s *Store) Granter(l Lease) string {
	low, at := l.Granted()
	if at.IsZero() {
		return ""
	}
	granter := ""
	for _, id := range s.memberIDs() {
		n, err := strconv.ParseUint(id, 16, 64)
		if err != nil || uint16(n&idMemberMask) != low || id == granter {
			continue
		}
		if granter != "" {
			return ""
		}
		granter = id
	}
	return granter
}

// LeaseKeys returns the keys that are attached to a lease at the newest revision,
// sorted: those that die with it. A later put can have attached a key to another
// lease, or to none. Nil if there are none, and for lease 0, which is none.
func (h *History) LeaseKeys(id int64) []string {
	if id == 0 {
		return nil
	}
	var keys []string
	for n := range h.keys {
		indexes := h.of(n)
		if r := &h.revisions[indexes[len(indexes)-1]]; r.leased == id && h.alive(r) {
			keys = append(keys, h.keys[n])
		}
	}
	return keys
}

// alive says whether a put that is the newest of its key is there at the newest
// revision. Above CompactRevision nothing is missing, so it is. What is older may
// have been deleted by a change that compaction took: it is alive only if a store
// has it that was compacted as far, for that keeps only what is alive. The loss of
// a tombstone to a damage is not seen.
func (h *History) alive(r *record) bool {
	switch {
	case r.tombstone() || r.isCarved():
		return false
	case r.main > h.compact:
		return true
	}
	return slices.ContainsFunc(h.sets[r.set()], func(i int) bool {
		above, _ := h.stores[i].coverage()
		return above >= h.compact
	})
}

// LeaseKeyCounts returns, for each lease, how many keys are attached to it at the
// last revision of one store, an index into Stores; leases without keys are not in
// it. Nil if the store was not merged.
func (h *History) LeaseKeyCounts(store int) map[int64]int {
	if h.stores[store].info.Rejected != "" {
		return nil
	}
	counts := map[int64]int{}
	for n := range h.keys {
		if r := h.newestIn(n, store); r != nil && r.leased != 0 && !r.tombstone() {
			counts[r.leased]++
		}
	}
	return counts
}

// newestIn is the newest revision of a key that one store's tree has, nil if it
// has none.
func (h *History) newestIn(key, store int) *record {
	indexes := h.of(key)
	for n := len(indexes) - 1; n >= 0; n-- {
		r := &h.revisions[indexes[n]]
		if !r.isCarved() && slices.Contains(h.sets[r.set()], store) {
			return r
		}
	}
	return nil
}
