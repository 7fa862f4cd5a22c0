package replay

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kind says what an entry asks for.
type Kind uint8

// The kinds of requests. Those of authentication change no revision.
const (
	// KindUnknown is a request of no known field, or bytes that are no request.
	KindUnknown Kind = iota
	// KindNoOp is the empty entry with which a leader begins its term.
	KindNoOp
	KindPut
	KindDeleteRange
	KindTxn
	// KindRange is a read that went through the log (etcd 3.0 and older).
	KindRange
	KindCompaction
	KindLeaseGrant
	KindLeaseRevoke
	KindLeaseCheckpoint
	KindAlarm
	KindAuthEnable
	KindAuthDisable
	KindAuthStatus
	// KindAuthenticate is a login.
	KindAuthenticate
	KindAuthUser
	KindAuthRole
	KindClusterVersion
	KindMemberAttributes
	KindDowngrade
	// KindDowngradeTest is a request of etcd's own tests, which does nothing.
	KindDowngradeTest
	KindConfChange
	// KindV2 is a request of the old API, other than those that etcd up to 3.5
	// writes for itself (KindMemberAttributes and KindClusterVersion).
	KindV2
)

var kindNames = [...]string{
	KindUnknown: "unknown", KindNoOp: "no-op", KindPut: "put", KindDeleteRange: "delete-range", KindTxn: "txn",
	KindRange: "range", KindCompaction: "compaction", KindLeaseGrant: "lease-grant", KindLeaseRevoke: "lease-revoke",
	KindLeaseCheckpoint: "lease-checkpoint", KindAlarm: "alarm", KindAuthEnable: "auth-enable",
	KindAuthDisable: "auth-disable", KindAuthStatus: "auth-status", KindAuthenticate: "authenticate",
	KindAuthUser: "auth-user", KindAuthRole: "auth-role", KindClusterVersion: "cluster-version",
	KindMemberAttributes: "member-attributes", KindDowngrade: "downgrade", KindDowngradeTest: "downgrade-test",
	KindConfChange: "conf-change", KindV2: "v2",
}

// String is the name of the kind, as in "delete-range".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// MarshalText writes the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// requestField is a field of etcdserverpb.InternalRaftRequest that asks for
// something (etcd v3.7 api/etcdserverpb/raft_internal.proto).
type requestField struct {
	number protowire.Number
	kind   Kind
}

// requestFields are in the order in which etcd looks for them: of a request with
// two, the first counts (etcd v3.7 server/etcdserver/apply/uber_applier.go).
var requestFields = []requestField{
	{1300, KindClusterVersion}, {1301, KindMemberAttributes}, {1302, KindDowngrade}, {9900, KindDowngradeTest},
	{3, KindRange}, {4, KindPut}, {5, KindDeleteRange}, {6, KindTxn}, {7, KindCompaction},
	{8, KindLeaseGrant}, {9, KindLeaseRevoke}, {11, KindLeaseCheckpoint}, {10, KindAlarm},
	{1012, KindAuthenticate}, {1000, KindAuthEnable}, {1011, KindAuthDisable}, {1013, KindAuthStatus},
	{1100, KindAuthUser}, {1101, KindAuthUser}, {1103, KindAuthUser}, {1104, KindAuthUser}, {1102, KindAuthUser},
	{1105, KindAuthUser}, {1200, KindAuthRole}, {1203, KindAuthRole}, {1202, KindAuthRole}, {1204, KindAuthRole},
	{1201, KindAuthRole}, {1106, KindAuthUser}, {1107, KindAuthRole},
}

// rank returns the place of a field in requestFields, or its length.
func rank(number protowire.Number) int {
	for i, f := range requestFields {
		if f.number == number {
			return i
		}
	}
	return len(requestFields)
}
