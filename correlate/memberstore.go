package correlate

import (
	"fmt"
	"time"

	"etcd-autopsy/snapshot"
)

// MemberStore is one database file of a member.
type MemberStore struct {
	Input  string `json:"input"`
	Source string `json:"source"`
	Bytes  int64  `json:"bytes"`
	// Revision is the newest one, CompactRevision the floor; Index and Term are the
	// raft position of the last applied entry.
	Revision        int64  `json:"revision"`
	CompactRevision int64  `json:"compactRevision"`
	Index           uint64 `json:"index"`
	Term            uint64 `json:"term"`
	// Version is the storage version, else the schema that the file's keys show.
	Version string `json:"version"`
	// DowngradeTarget is the version of a downgrade that is going on, "" for none.
	DowngradeTarget string `json:"downgradeTarget"`
	// Voters and Learners are the IDs of raft's own list of members; empty in
	// stores of etcd 3.4.
	Voters   []string `json:"voters"`
	Learners []string `json:"learners"`
	Auth     Auth     `json:"auth"`
	Leases   Leases   `json:"leases"`
}

// Auth is the state of etcd's own access control in one store. Passwords are not
// read.
type Auth struct {
	Enabled bool `json:"enabled"`
	// Revision counts its changes; it is no revision of the store.
	Revision uint64   `json:"revision"`
	Users    []string `json:"users"`
	Roles    []string `json:"roles"`
}

// Leases are the etcd leases of one store.
type Leases struct {
	Count int `json:"count"`
	// List is in order of ID: of those that one member granted, in the order in
	// which it did, as long as its clock was not set back.
	List []MemberLease `json:"list"`
}

// MemberLease is an etcd lease in a store, not a Lease object.
type MemberLease struct {
	// ID is 16 hexadecimal digits, as etcdctl prints it.
	ID string `json:"id"`
	// TTL is what was granted and RemainingTTL what was left when a leader last
	// saved it, 0 if none did; both in seconds. When it ends is not stored.
	TTL          int64 `json:"ttl"`
	RemainingTTL int64 `json:"remainingTTL"`
	// Keys is how many keys are attached to it at the store's last revision, null
	// if the store is not of one history with the others.
	Keys *int `json:"keys"`
	// GrantedNotBefore is when the member's process had started that granted it,
	// by the member's clock; null if the ID does not tell.
	GrantedNotBefore *time.Time `json:"grantedNotBefore"`
	// Member is the ID of the member that granted it, "" if that is not known.
	Member string `json:"member"`
}

// memberStore describes store k as the database of a member.
func (c *Case) memberStore(k int) MemberStore {
	s := c.hist.Stores()[k]
	version := s.StorageVersion
	if version == "" {
		version = s.Schema
	}
	return MemberStore{
		Input: s.Input, Source: s.Path, Bytes: s.Size, Revision: s.Last, CompactRevision: s.CompactRevision,
		Index: s.ConsistentIndex, Term: s.Term, Version: version, DowngradeTarget: s.DowngradeTarget,
		Voters: orEmpty(s.Voters), Learners: orEmpty(s.Learners),
		Auth:   Auth{Enabled: s.Auth.Enabled, Revision: s.Auth.Revision, Users: orEmpty(s.Auth.Users), Roles: orEmpty(s.Auth.Roles)},
		Leases: c.leasesOf(k, &s),
	}
}

// leasesOf lists the leases of store k.
func (c *Case) leasesOf(k int, s *snapshot.Store) Leases {
	out := Leases{Count: len(s.Leases), List: []MemberLease{}}
	keys := c.hist.LeaseKeyCounts(k)
	for _, l := range s.Leases {
		x := MemberLease{ID: fmt.Sprintf("%016x", uint64(l.ID)), TTL: int64(l.TTL / time.Second), RemainingTTL: int64(l.RemainingTTL / time.Second), Member: s.Granter(l)}
		if keys != nil {
			n := keys[l.ID]
			x.Keys = &n
		}
		x.GrantedNotBefore = c.notBefore(l, x.Member != "")
		out.List = append(out.List, x)
	}
	return out
}

// leaseSlack is how far a member's clock may be ahead of the evidence before a
// time in a lease's ID counts as chance.
const leaseSlack = 24 * time.Hour

// notBefore is the earliest time at which a lease was granted, nil if its ID does
// not tell. One that names no known member and a time after the evidence was
// chosen by a client.
func (c *Case) notBefore(l snapshot.Lease, known bool) *time.Time {
	_, at := l.Granted()
	if end := c.stateEnd(); !known && !end.IsZero() && at.After(end.Add(leaseSlack)) {
		return nil
	}
	return timePtr(at)
}
