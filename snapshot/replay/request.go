package replay

import pb "go.etcd.io/etcd/api/v3/etcdserverpb"

// Request is what an entry asks for. Only the fields of its Kind are set. Byte
// slices point into the entry's Data.
type Request struct {
	// Index and Term are those of the entry.
	Index, Term uint64
	// ID is the request id: the member that proposed it and a counter that begins
	// with that member's start (etcd v3.7 pkg/idutil). 0 if there is none.
	ID   uint64
	Kind Kind
	// Username is who asked, where authentication is on.
	Username string

	// Op is that of a put, a delete-range or a range.
	Op  Op
	Txn Txn
	// CompactRevision is the revision of a compaction.
	CompactRevision int64
	// Lease is that of a lease-grant, and the ID alone of a lease-revoke.
	Lease Lease
	// Checkpoints are the leases of a lease-checkpoint; they have no TTL.
	Checkpoints    []Lease
	Alarm          AlarmRequest
	Member         MemberAttributes
	ClusterVersion string
	Downgrade      Downgrade
	ConfChange     ConfChange
	V2             V2Request
	// Unknown are the numbers of the fields that no etcd up to 3.7 has, in the
	// order of the bytes, and no more than 16 of them.
	Unknown []int
}

// OpKind says what an Op does.
type OpKind uint8

const (
	// OpNone is an empty operation or one of a later release, which does nothing
	// in the etcd versions known here.
	OpNone OpKind = iota
	// The others have the numbers of RequestOp's fields.
	OpRange
	OpPut
	OpDeleteRange
	OpTxn
)

// Op is one operation of a transaction, or one that stands alone
// (etcdserverpb.RequestOp).
type Op struct {
	Kind OpKind
	// Key is the key, or the first one of a range. RangeEnd is empty for one key,
	// a single zero byte for all keys from Key on, else the first key that is no
	// more in the range.
	Key, RangeEnd []byte
	// Value is what a put writes; ValueOffset is where it begins in Data.
	Value       []byte
	ValueOffset int
	// Lease is that of a put, 0 for none.
	Lease int64
	// IgnoreValue and IgnoreLease keep what the key has.
	IgnoreValue, IgnoreLease bool
	// Revision is the one that a range reads at, 0 for the current one.
	Revision int64
	// Txn is that of OpTxn.
	Txn *Txn
}

// Txn is a transaction: Success is done if all compares hold, else Failure.
type Txn struct {
	Compares         []Compare
	Success, Failure []Op
}

// Compare is one condition of a transaction (etcdserverpb.Compare).
type Compare struct {
	Target pb.Compare_CompareTarget
	Result pb.Compare_CompareResult
	// Key and RangeEnd are as those of Op.
	Key, RangeEnd []byte
	// Number is what a version, a revision or a lease is compared with.
	Number int64
	// Value is what a value is compared with.
	Value []byte
	// operand is the field number of what is compared with; 0 if there is none.
	operand int
}

// Lease is an etcd lease.
type Lease struct {
	ID int64
	// TTL is its time to live in seconds, as granted.
	TTL int64
	// Remaining is what a checkpoint left of it, in seconds; 0 for none.
	Remaining int64
}

// AlarmRequest raises or disarms an alarm, or asks for alarms.
type AlarmRequest struct {
	Action pb.AlarmRequest_AlarmAction
	Alarm
}

// Alarm is an alarm of a member.
type Alarm struct {
	Member uint64
	Type   pb.AlarmType
}

// MemberAttributes is what a member says of itself at each of its starts.
type MemberAttributes struct {
	ID         uint64
	Name       string
	ClientURLs []string
}

// Downgrade says that the cluster may go back to a version, or no more.
type Downgrade struct {
	Enabled bool
	Version string
}

// V2Request is a request of the old API. Its value is not kept.
type V2Request struct {
	Method, Path string
}
