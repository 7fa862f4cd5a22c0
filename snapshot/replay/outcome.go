package replay

import (
	"fmt"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Outcome is what came of an entry. It and what it points to are good until the
// next Apply.
type Outcome struct {
	// Request is what the entry asked for, never nil.
	Request *Request
	// Err says why the entry could not be decoded, or is nil.
	Err error
	// Revision is the one that the entry made, 0 if it made none.
	Revision int64
	// Changes are those of Revision, in order.
	Changes []Change
	// Rejected says why the request did not do what it asked for. What is not
	// rejected has taken effect: the lease, alarm or member is as Request says.
	Rejected Rejection
	// Succeeded says which branch a txn took.
	Succeeded bool
	// Compares are those of a txn that took the other branch, each with what the
	// store had.
	Compares []CompareResult
	// Doubts say why this outcome and all later ones may be wrong; 0 if they are
	// exact.
	Doubts Doubt
}

// CompareResult is a compare of a failed txn and what it found.
type CompareResult struct {
	// Compare is what was asked, and Held the answer.
	*Compare
	Held bool
	// Found is the first live key of those compared that did not hold, or the
	// first one if all did; a key that is not live has all zeros and an empty Key.
	Found KeyState
}

// FoundNumber returns what the target has in the store; of a value it is 0.
func (r *CompareResult) FoundNumber() int64 { return r.Found.number(r.Target) }

// number returns what a compare of a target looks at, 0 for a value.
func (k *KeyState) number(target pb.Compare_CompareTarget) int64 {
	switch target {
	case pb.Compare_VERSION:
		return k.Version
	case pb.Compare_CREATE:
		return k.Create
	case pb.Compare_MOD:
		return k.Mod
	case pb.Compare_LEASE:
		return k.Lease
	}
	return 0
}

// Rejection says why a request did not do what it asked for.
type Rejection uint8

const (
	// NotRejected is for all that took effect, also for a delete of nothing.
	NotRejected Rejection = iota
	// CompareFailed is for a txn whose compares did not hold and which changed
	// nothing for it: a lost race.
	CompareFailed
	// LeaseNotFound is for a put or a revoke that names a lease that is not there.
	LeaseNotFound
	// LeaseExists is for a grant of an id that is taken.
	LeaseExists
	// LeaseTTLTooLarge is for a grant of more than 9,000,000,000 seconds.
	LeaseTTLTooLarge
	// KeyNotFound is for a put that keeps the value or lease of no key.
	KeyNotFound
	// NoSpace and Corrupt are for writes while an alarm of that type is raised.
	NoSpace
	Corrupt
	// Compacted and FutureRevision are for a compaction, or a read in a txn, of a
	// revision that is gone or not there yet.
	Compacted
	FutureRevision
	// Applied is for an entry that the base or an earlier call has already.
	Applied
	// Undecoded is for an entry that cannot be decoded.
	Undecoded
)

var rejectionNames = [...]string{
	NotRejected: "", CompareFailed: "compare-failed", LeaseNotFound: "lease-not-found", LeaseExists: "lease-exists",
	LeaseTTLTooLarge: "lease-ttl-too-large", KeyNotFound: "key-not-found", NoSpace: "no-space", Corrupt: "corrupt",
	Compacted: "compacted", FutureRevision: "future-revision", Applied: "applied", Undecoded: "undecoded",
}

// String is the name of the rejection, as in "compare-failed"; it is empty for
// none.
func (r Rejection) String() string {
	if int(r) < len(rejectionNames) {
		return rejectionNames[r]
	}
	return fmt.Sprintf("rejection %d", uint8(r))
}

// MarshalText writes the name of the rejection.
func (r Rejection) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Doubt is a set of reasons why a Machine may not be where etcd was.
type Doubt uint8

const (
	// DoubtGap: entries are missing before this one.
	DoubtGap Doubt = 1 << iota
	// DoubtUndecoded: an entry could not be decoded.
	DoubtUndecoded
	// DoubtValue: a value that mattered is not known.
	DoubtValue
	// DoubtAuth: authentication is on, and who may do what is not tracked: all
	// requests are taken to be permitted.
	DoubtAuth
	// DoubtBase: the base has revisions that no etcd has, or keys from after it.
	DoubtBase
)

var doubtNames = []string{
	"entries are missing", "an entry could not be decoded", "a value is not known", "authentication is on",
	"the base is damaged",
}

// String names the reasons; it is empty for none.
func (d Doubt) String() string {
	var names []string
	for i, name := range doubtNames {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
