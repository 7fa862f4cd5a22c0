package snapshot

import "time"

// Revision is one stored change of one key: a record of etcd's key bucket
// without its value, which is read when asked for (History.Value, History.Object).
type Revision struct {
	// Main is the transaction's revision, Sub the ordinal of the change inside
	// it (0 for nearly all; several keys deleted by one lease count up).
	Main, Sub int64
	Key       string
	// Tombstone is true for a deletion. A tombstone stores only its key: Create,
	// Version and Lease are those of the lifetime it ends, 0 if that is unknown.
	Tombstone bool
	// Create is the create_revision of the key's lifetime and Version its
	// ordinal in it, from 1 (mvccpb.KeyValue).
	Create, Version int64
	// Lease is the etcd lease the key is attached to, 0 for none.
	Lease int64
	// Size is the length of the value in bytes.
	Size int
	// Stores holds the indexes into History.Stores of every store that has the
	// record, ascending; empty for one that only a WAL has. Of a record that is not Carved they are the
	// stores whose tree has it.
	Stores []int
	// Carved is true for a record that no store's tree holds: it was read from a
	// page that compaction, a rewrite or damage has left behind. Such records are
	// true as far as can be checked, but there are holes between them: only two
	// of a lifetime (equal Create) whose Versions follow each other are known to
	// have nothing between them.
	Carved bool
	// WAL is true for a revision that an entry of the raft log makes
	// (History.EntryOfRevision), which was replayed.
	WAL bool
	// Dump is true for a revision that a dump of objects has (History.DumpOf). One
	// that nothing else has is an observation between holes: its Version is 0, and
	// its Create only tells lifetimes apart.
	Dump bool
}

// Store describes one opened etcd backend file.
type Store struct {
	// Input and Path name the file as source.File does.
	Input, Path string
	// Snapshot is true for the output of "snapshot save" (a hash trailer), false
	// for a member's live file or a copy of one.
	Snapshot bool
	// HashOK says whether the trailing SHA-256 matches; nil where there is none.
	HashOK *bool
	Size   int64
	// PageSize is that of the bbolt file, Records the number of records in the
	// key bucket, Carved that of the further ones that pages outside its tree
	// hold (Revision.Carved).
	PageSize, Records, Carved int
	// First and Last are the lowest and highest main revision of Records,
	// CarvedFirst and CarvedLast those of the carved ones; 0 if there are none.
	First, Last             int64
	CarvedFirst, CarvedLast int64
	// CompactRevision is the finished compaction, 0 if never compacted;
	// ScheduledCompactRevision is higher while one was running.
	CompactRevision, ScheduledCompactRevision int64
	// ConsistentIndex and Term are the raft position of the last applied entry;
	// Term is 0 in stores of etcd 3.4 and older.
	ConsistentIndex, Term uint64
	// StorageVersion and ClusterVersion are as stored ("3.6.0"), "" if absent;
	// Schema is "3.4" (that or any release before), "3.5" or "3.6" after the keys
	// that the meta bucket has, newer where the storage version says so.
	StorageVersion, ClusterVersion, Schema string
	// TxID is the bbolt transaction of the meta page that was used.
	TxID uint64
	// UnknownBuckets are the buckets that no etcd from 3.0 to 3.7 has, sorted.
	UnknownBuckets []string
	Members        []Member
	RemovedMembers []string
	// Voters and Learners are raft's own list of members (confState in the bucket
	// meta, etcd 3.5 and later), IDs in order; nil where the store has none. They
	// are what elections count, Members what etcd has on record.
	Voters, Learners []string
	// DowngradeTarget is the version that the cluster is being downgraded to, as
	// stored ("3.5.0"), "" if it is not.
	DowngradeTarget string
	Alarms          []Alarm
	// Leases are in order of ID.
	Leases []Lease
	Auth   Auth
	// Problems are damages and oddities of this file, each a sentence.
	Problems []string
	// Rejected is set when the store could be read but was not merged, and why.
	Rejected string
	// Foreign is true for a rejected store that has no past in common with those
	// that were merged: it is of another cluster, or of another etcd of the same one.
	// It contradicts nothing.
	Foreign bool
	// EventsOnly is true if all keys are those of k8s Events: an etcd that API
	// servers use for them alone.
	EventsOnly bool
	// Salvaged says why the store was not read as a sound file, "" if it was: it
	// is damaged, cut, torn or locked. What was readable is used all the same.
	Salvaged string
	// Lost are the revisions that damaged pages held, ascending. Some of them may
	// have been found elsewhere, as carved records or in another store.
	Lost []Range
}

// Range is a range of main revisions.
type Range struct {
	// From and To are its first and last revision, both included; a To of 0
	// means that its end is not known.
	From, To int64
	// Why says what is wrong, and where.
	Why string
}

// Member is an etcd member as a store's members bucket has it.
type Member struct {
	// ID is 16 hexadecimal digits, as etcd's logs print it.
	ID, Name             string
	PeerURLs, ClientURLs []string
	Learner              bool
}

// Alarm is an active alarm of a store.
type Alarm struct {
	MemberID string
	// Kind is NOSPACE or CORRUPT. A CORRUPT one may name no member: its MemberID
	// is then all zeros.
	Kind string
}

// Lease is an etcd lease (a time to live on keys), not a Lease object. When it
// ends is not stored.
type Lease struct {
	ID int64
	// TTL is what was granted, RemainingTTL what was left when the leader last
	// saved it, 0 if it did not (etcd 3.4 and later, and only where that is turned
	// on).
	TTL          time.Duration
	RemainingTTL time.Duration
}

// Resource is the Kubernetes object behind a key.
type Resource struct {
	// Group is "" for built-in kinds: their keys do not say it.
	Group string
	// Resource is the plural as kubectl spells it: "nodes" for the key
	// /registry/minions, "services" for services/specs.
	Resource        string
	Namespace, Name string
}
