package snapshot

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/lease/leasepb"
	"google.golang.org/protobuf/proto"
)

// keyBucket holds the revisions.
var keyBucket = []byte("key")

// errNoKeys means that a sound bbolt file is not etcd's.
var errNoKeys = errors.New("a bbolt file without the bucket \"key\": not an etcd store")

// buckets are those that etcd 3.0 to 3.7 makes (etcd v3.6
// server/storage/schema/bucket.go), with what is read of each. The key bucket
// is read apart.
var buckets = map[string]func(s *store, key, value []byte) error{
	"key":             nil,
	"meta":            (*store).readMetaKey,
	"lease":           (*store).readLease,
	"alarm":           (*store).readAlarm,
	"cluster":         (*store).readCluster,
	"members":         (*store).readMember,
	"members_removed": (*store).readRemoved,
	"auth":            (*store).readAuth,
	"authUsers":       (*store).readUser,
	"authRoles":       (*store).readRole,
}

// readBuckets reads all buckets, the key bucket last.
func (s *store) readBuckets(ctx context.Context) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		keys := tx.Bucket(keyBucket)
		if keys == nil {
			return errNoKeys
		}
		if err := tx.ForEach(s.readBucket); err != nil {
			return err
		}
		s.settle()
		return s.readKeys(ctx, keys)
	}
}

// readBucket reads one of the small buckets. An entry that cannot be decoded is
// a Problem.
func (s *store) readBucket(name []byte, b *bbolt.Bucket) error {
	read, known := buckets[string(name)]
	if !known {
		s.info.UnknownBuckets = append(s.info.UnknownBuckets, string(name))
	}
	if read == nil || b == nil {
		return nil
	}
	return b.ForEach(func(k, v []byte) error {
		s.entry(read, name, k, v)
		return nil
	})
}

// entry reads an entry of a small bucket.
func (s *store) entry(read func(s *store, key, value []byte) error, bucket, key, value []byte) {
	if err := read(s, key, value); err != nil {
		s.problem("bucket %s, entry %q: %s", bucket, key, err)
	}
}

// settle puts what the small buckets gave in order.
func (s *store) settle() {
	i := &s.info
	slices.SortFunc(i.Members, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(i.Leases, func(a, b Lease) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(i.Alarms, func(a, b Alarm) int {
		return cmp.Or(cmp.Compare(a.MemberID, b.MemberID), cmp.Compare(a.Kind, b.Kind))
	})
	slices.Sort(i.RemovedMembers)
	slices.Sort(i.Auth.Users)
	slices.Sort(i.Auth.Roles)
	i.ScheduledCompactRevision = max(i.ScheduledCompactRevision, i.CompactRevision)
	i.Schema = s.schema()
}

// schema tells the version of the schema from what the meta bucket has (etcd
// v3.6 server/storage/schema/schema.go).
func (s *store) schema() string {
	if v := s.info.StorageVersion; v != "" {
		parts := strings.SplitN(v, ".", 3)
		return strings.Join(parts[:min(2, len(parts))], ".")
	}
	if s.confState && s.info.Term != 0 {
		return "3.5"
	}
	return "3.4"
}

// readMetaKey reads an entry of the bucket meta.
func (s *store) readMetaKey(key, value []byte) (err error) {
	i := &s.info
	switch string(key) {
	case "consistent_index":
		i.ConsistentIndex, err = bigEndian(value)
	case "term":
		i.Term, err = bigEndian(value)
	case "confState":
		s.confState = true
		err = s.readConfState(value)
	case "storageVersion":
		i.StorageVersion = string(value)
	case "scheduledCompactRev":
		i.ScheduledCompactRevision, err = mainRevision(value)
	case "finishedCompactRev":
		i.CompactRevision, err = mainRevision(value)
	}
	return err
}

// bigEndian decodes a number of eight bytes.
func bigEndian(b []byte) (uint64, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("%d bytes instead of 8", len(b))
	}
	return binary.BigEndian.Uint64(b), nil
}

// mainRevision decodes a revision of which only the main part counts.
func mainRevision(b []byte) (int64, error) {
	r, ok := parseRevisionKey(b)
	if !ok {
		return 0, fmt.Errorf("%x is not a revision", b)
	}
	return r.main, nil
}

// readLease reads an entry of the bucket lease.
func (s *store) readLease(key, value []byte) error {
	var l leasepb.Lease
	if err := proto.Unmarshal(value, &l); err != nil {
		return errors.New("not a Lease message")
	}
	if id, err := bigEndian(key); err != nil || int64(id) != l.ID {
		return fmt.Errorf("holds the lease %x", l.ID)
	}
	s.info.Leases = append(s.info.Leases, Lease{ID: l.ID, TTL: seconds(l.TTL), RemainingTTL: seconds(l.RemainingTTL)})
	return nil
}

// seconds is a duration, the longest there is instead of one that is longer.
func seconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(max(n, -most), most)) * time.Second
}

// readAlarm reads an entry of the bucket alarm; the key is the message.
func (s *store) readAlarm(key, _ []byte) error {
	var a etcdserverpb.AlarmMember
	if err := proto.Unmarshal(key, &a); err != nil {
		return errors.New("not an AlarmMember message")
	}
	s.info.Alarms = append(s.info.Alarms, Alarm{MemberID: memberID(a.MemberID), Kind: a.Alarm.String()})
	return nil
}

// readConfState reads raft's list of members: a raftpb.ConfState in JSON, of
// which etcd 3.7 leaves out what is empty (etcd v3.7
// server/storage/schema/confstate.go).
func (s *store) readConfState(value []byte) error {
	var c struct {
		Voters   []uint64 `json:"voters"`
		Learners []uint64 `json:"learners"`
	}
	if err := json.Unmarshal(value, &c); err != nil {
		return fmt.Errorf("not a ConfState: %w", err)
	}
	s.info.Voters, s.info.Learners = memberIDs(c.Voters), memberIDs(c.Learners)
	return nil
}

// memberIDs writes IDs in order; nil if there are none.
func memberIDs(ids []uint64) []string {
	var list []string
	for _, id := range ids {
		list = append(list, memberID(id))
	}
	slices.Sort(list)
	return list
}

// readCluster reads an entry of the bucket cluster.
func (s *store) readCluster(key, value []byte) error {
	switch string(key) {
	case "clusterVersion":
		s.info.ClusterVersion = string(value)
	case "downgrade":
		return s.readDowngrade(value)
	}
	return nil
}

// readDowngrade reads a version.DowngradeInfo in JSON; one that is over stays
// there, not enabled (etcd v3.5 and later server/etcdserver/version/downgrade.go).
func (s *store) readDowngrade(value []byte) error {
	var d struct {
		Target  string `json:"target-version"`
		Enabled bool   `json:"enabled"`
	}
	if err := json.Unmarshal(value, &d); err != nil {
		return fmt.Errorf("not a DowngradeInfo: %w", err)
	}
	if d.Enabled {
		s.info.DowngradeTarget = d.Target
	}
	return nil
}

// readMember reads an entry of the bucket members.
func (s *store) readMember(_, value []byte) error {
	var m struct {
		ID         uint64   `json:"id"`
		Name       string   `json:"name"`
		PeerURLs   []string `json:"peerURLs"`
		ClientURLs []string `json:"clientURLs"`
		Learner    bool     `json:"isLearner"`
	}
	if err := json.Unmarshal(value, &m); err != nil {
		return fmt.Errorf("not a member: %w", err)
	}
	s.info.Members = append(s.info.Members, Member{
		ID: memberID(m.ID), Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: m.Learner,
	})
	return nil
}

// readRemoved reads an entry of the bucket members_removed; the key is the ID.
func (s *store) readRemoved(key, _ []byte) error {
	id, err := strconv.ParseUint(string(key), 16, 64)
	if err != nil {
		return errors.New("not a member ID")
	}
	s.info.RemovedMembers = append(s.info.RemovedMembers, memberID(id))
	return nil
}

// memberID writes an ID with all its digits.
func memberID(id uint64) string { return fmt.Sprintf("%016x", id) }
