package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/membershippb"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// oldRequest writes a request of the old API, all of whose fields are always there.
func oldRequest(method, path, value string) []byte {
	b := appendNumber(nil, 1, 77)
	for number, s := range []string{2: method, 3: path, 4: value} {
		if number > 1 {
			b = protowire.AppendTag(b, protowire.Number(number), protowire.BytesType)
			b = protowire.AppendString(b, s)
		}
	}
	b = protowire.AppendTag(b, 17, protowire.VarintType)
	return protowire.AppendVarint(b, 0)
}

// confChange writes a change of the membership.
func confChange(t testing.TB, kind raftpb.ConfChangeType, node uint64, context string) []byte {
	b, err := proto.Marshal(&raftpb.ConfChange{Id: proto.Uint64(77), Type: kind.Enum(), NodeId: &node, Context: []byte(context)})
	must(t, err)
	return b
}

// TestDecode has every kind that is not a write.
func TestDecode(t *testing.T) {
	tests := []struct {
		name string
		e    Entry
		want Request
	}{
		{"no-op", Entry{}, Request{Kind: KindNoOp}},
		{"compaction", logOf(t, compact(9))[0], Request{ID: 1000, Kind: KindCompaction, CompactRevision: 9}},
		{"lease-grant", logOf(t, grant(7, 60))[0], Request{ID: 1000, Kind: KindLeaseGrant, Lease: Lease{ID: 7, TTL: 60}}},
		{"lease-revoke", logOf(t, revoke(-7))[0], Request{ID: 1000, Kind: KindLeaseRevoke, Lease: Lease{ID: -7}}},
		{"alarm", logOf(t, raise(3, noSpace))[0], Request{ID: 1000, Kind: KindAlarm, Alarm: AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: Alarm{3, noSpace}}}},
		{"user", logOf(t, &pb.InternalRaftRequest{Header: &pb.RequestHeader{ID: 5, Username: "root"}, AuthUserAdd: &pb.AuthUserAddRequest{Name: "u", Password: "secret"}})[0],
			Request{ID: 5, Kind: KindAuthUser, Username: "root"}},
		{"cluster-version", logOf(t, &pb.InternalRaftRequest{ClusterVersionSet: &membershippb.ClusterVersionSetRequest{Ver: "3.6.0"}})[0],
			Request{ID: 1000, Kind: KindClusterVersion, ClusterVersion: "3.6.0"}},
		{"member-attributes", logOf(t, &pb.InternalRaftRequest{ClusterMemberAttrSet: &membershippb.ClusterMemberAttrSetRequest{
			Member_ID: 9, MemberAttributes: &membershippb.Attributes{Name: "m1", ClientUrls: []string{"http://a", "http://b"}},
		}})[0], Request{ID: 1000, Kind: KindMemberAttributes, Member: MemberAttributes{ID: 9, Name: "m1", ClientURLs: []string{"http://a", "http://b"}}}},
		{"downgrade", logOf(t, &pb.InternalRaftRequest{DowngradeInfoSet: &membershippb.DowngradeInfoSetRequest{Enabled: true, Ver: "3.5.0"}})[0],
			Request{ID: 1000, Kind: KindDowngrade, Downgrade: Downgrade{true, "3.5.0"}}},
		{"of two requests the first one that etcd looks for", logOf(t, &pb.InternalRaftRequest{Compaction: &pb.CompactionRequest{Revision: 3}, LeaseRevoke: &pb.LeaseRevokeRequest{ID: 4}})[0],
			Request{ID: 1000, Kind: KindCompaction, CompactRevision: 3}},
		{"id outside of the header", logOf(t, &pb.InternalRaftRequest{ID: 3, Header: &pb.RequestHeader{ID: 4}, AuthStatus: &pb.AuthStatusRequest{}})[0], Request{ID: 3, Kind: KindAuthStatus}},
		{"old member attributes", Entry{Data: oldRequest("PUT", "/0/members/8e9e05c52164694d/attributes", `{"name":"m1","clientURLs":["http://a"]}`)},
			Request{ID: 77, Kind: KindMemberAttributes, Member: MemberAttributes{ID: 0x8e9e05c52164694d, Name: "m1", ClientURLs: []string{"http://a"}}, V2: V2Request{"PUT", "/0/members/8e9e05c52164694d/attributes"}}},
		{"old cluster version", Entry{Data: oldRequest("PUT", "/0/version", "3.5.0")}, Request{ID: 77, Kind: KindClusterVersion, ClusterVersion: "3.5.0", V2: V2Request{"PUT", "/0/version"}}},
		{"old sync", Entry{Data: oldRequest("SYNC", "", "")}, Request{ID: 77, Kind: KindV2, V2: V2Request{"SYNC", ""}}},
		{"old key", Entry{Data: oldRequest("PUT", "/1/a", "v")}, Request{ID: 77, Kind: KindV2, V2: V2Request{"PUT", "/1/a"}}},
		{"member added", Entry{Type: raftpb.EntryConfChange, Data: confChange(t, raftpb.ConfChangeAddLearnerNode, 9, `{"id":9,"peerURLs":["http://p"],"isLearner":true,"name":"","isPromote":false}`)},
			Request{ID: 77, Kind: KindConfChange, ConfChange: ConfChange{raftpb.ConfChangeAddLearnerNode, 9, ConfMember{ID: 9, PeerURLs: []string{"http://p"}, Learner: true}}}},
		{"member promoted", Entry{Type: raftpb.EntryConfChange, Data: confChange(t, raftpb.ConfChangeAddNode, 9, `{"id":9,"peerURLs":["http://p"],"name":"m","clientURLs":["http://c"],"isPromote":true}`)},
			Request{ID: 77, Kind: KindConfChange, ConfChange: ConfChange{raftpb.ConfChangeAddNode, 9, ConfMember{ID: 9, PeerURLs: []string{"http://p"}, Name: "m", ClientURLs: []string{"http://c"}, Promote: true}}}},
		{"member removed", Entry{Type: raftpb.EntryConfChange, Data: confChange(t, raftpb.ConfChangeRemoveNode, 9, "")},
			Request{ID: 77, Kind: KindConfChange, ConfChange: ConfChange{Type: raftpb.ConfChangeRemoveNode, Node: 9}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode(tt.e)
			must(t, err)
			tt.want.Index, tt.want.Term = tt.e.Index, tt.e.Term
			if d := cmp.Diff(tt.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Compare{})); d != "" {
				t.Errorf("request (-want +got):\n%s", d)
			}
		})
	}
}

// TestDecodeErrors has what is no request.
func TestDecodeErrors(t *testing.T) {
	deep := txn(nil, nil, nil)
	for range maxDepth + 1 {
		deep = txn(nil, ops{op(deep)}, nil)
	}
	many := txn(nil, slices.Repeat(ops{{}}, maxOps+1), nil)
	unknown := protowire.AppendTag(appendNumber(nil, 1, 5), 1400, protowire.BytesType)
	unknown = protowire.AppendString(unknown, "later")
	tests := []struct {
		name string
		e    Entry
		kind Kind
		want string
	}{
		{"no message", Entry{Index: 3, Data: []byte("\x0f")}, KindUnknown, "decode entry 3: not a protobuf message"},
		{"cut", Entry{Data: logOf(t, put("a", "b"))[0].Data[:9]}, KindUnknown, "not a protobuf message"},
		{"cut inside", Entry{Data: appendBytes(nil, 4, "\x0a\x09a")}, KindUnknown, "not a protobuf message"},
		{"of a later release", Entry{Data: unknown}, KindUnknown, "no request that is known among fields [1400]"},
		{"deep", logOf(t, deep)[0], KindUnknown, "nested too deep"},
		{"many", logOf(t, many)[0], KindUnknown, "more operations"},
		{"type", Entry{Type: raftpb.EntryConfChangeV2}, KindUnknown, "an entry of type 2"},
		{"member", Entry{Type: raftpb.EntryConfChange, Data: confChange(t, 0, 9, "{")}, KindConfChange, "the member of a conf change"},
		{"old attributes", Entry{Data: oldRequest("PUT", "/0/members/9/attributes", "{")}, KindV2, "the attributes of a member"},
		{"old member", Entry{Data: oldRequest("PUT", "/0/members/x/attributes", "{}")}, KindV2, "the member of"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Decode(tt.e)
			if err == nil || !strings.Contains(err.Error(), tt.want) || r.Kind != tt.kind {
				t.Errorf("%v: %v", r.Kind, err)
			}
		})
	}
	deep = txn(nil, nil, nil)
	for range maxDepth {
		deep = txn(nil, ops{op(deep)}, nil)
	}
	for _, e := range logOf(t, deep, txn(nil, slices.Repeat(ops{{}}, maxOps), nil)) {
		if _, err := Decode(e); err != nil {
			t.Errorf("at the limit: %v", err)
		}
	}
}

// TestWrite has the shapes of the API server's writes, and near misses.
func TestWrite(t *testing.T) {
	other := modIs("a", 0)
	other.Result = pb.Compare_GREATER
	tests := []struct {
		name string
		r    *pb.InternalRaftRequest
		want *Write // nil for none
	}{
		{"create", txn(cmps{modIs("a", 0)}, ops{op(put("a", "v", leased(7)))}, nil), &Write{Verb: VerbCreate, Precondition: MustNotExist, Lease: 7}},
		{"update", txn(cmps{modIs("a", 5)}, ops{op(put("a", "v"))}, ops{op(get("a", 0))}), &Write{Verb: VerbUpdate, Precondition: SameModRevision, Expected: 5}},
		{"delete", txn(cmps{modIs("a", 5)}, ops{op(del("a", ""))}, ops{op(get("a", 0))}), &Write{Verb: VerbDelete, Precondition: SameModRevision, Expected: 5}},
		{"compact_rev_key", txn(cmps{compare("a", pb.Compare_VERSION, pb.Compare_EQUAL, 5)}, ops{op(put("a", "v"))}, ops{op(get("a", 0))}),
			&Write{Verb: VerbUpdate, Precondition: SameVersion, Expected: 5}},
		{"first compact_rev_key", txn(cmps{compare("a", pb.Compare_VERSION, pb.Compare_EQUAL, 0)}, ops{op(put("a", "v"))}, ops{op(get("a", 0))}),
			&Write{Verb: VerbCreate, Precondition: MustNotExist}},
		{"put", put("a", "v"), &Write{Verb: VerbPut}},
		{"put in a txn", txn(nil, ops{op(put("a", "v"))}, nil), &Write{Verb: VerbPut}},
		{"plain delete", del("a", ""), &Write{Verb: VerbDelete}},
		{"delete of a range", del("a", "b"), nil},
		{"put that keeps the value", put("a", "", ignoreValue), nil},
		{"two writes", txn(cmps{modIs("a", 0)}, ops{op(put("a", "v")), op(put("b", "v"))}, nil), nil},
		{"two compares", txn(cmps{modIs("a", 0), modIs("b", 0)}, ops{op(put("a", "v"))}, nil), nil},
		{"compare of another key", txn(cmps{modIs("b", 0)}, ops{op(put("a", "v"))}, nil), nil},
		{"compare of a range", txn(cmps{upTo(modIs("a", 0), "b")}, ops{op(put("a", "v"))}, nil), nil},
		{"compare of a value", txn(cmps{valueIs("a", "")}, ops{op(put("a", "v"))}, nil), nil},
		{"compare of the creation", txn(cmps{compare("a", pb.Compare_CREATE, pb.Compare_EQUAL, 5)}, ops{op(put("a", "v"))}, nil), nil},
		{"compare that is not for equality", txn(cmps{other}, ops{op(put("a", "v"))}, nil), nil},
		{"write in the other branch", txn(cmps{modIs("a", 0)}, ops{op(put("a", "v"))}, ops{op(del("a", ""))}), nil},
		{"compaction", compact(4), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := logOf(t, tt.r)[0]
			r, err := Decode(e)
			must(t, err)
			w, ok := r.Write()
			if ok != (tt.want != nil) {
				t.Fatalf("%+v, %v", w, ok)
			}
			if !ok {
				return
			}
			tt.want.Key = []byte("a")
			if w.Verb != VerbDelete {
				tt.want.Value = []byte("v")
			}
			if d := cmp.Diff(*tt.want, w, cmpopts.IgnoreFields(Write{}, "ValueOffset")); d != "" {
				t.Errorf("write (-want +got):\n%s", d)
			}
			if !bytes.HasPrefix(e.Data[w.ValueOffset:], w.Value) {
				t.Errorf("the value is not at %d of %q", w.ValueOffset, e.Data)
			}
		})
	}
}

// TestNames sees that all kinds and rejections have a name.
func TestNames(t *testing.T) {
	for k := KindUnknown; k <= KindV2; k++ {
		b, err := json.Marshal(k)
		must(t, err)
		if s := string(b); len(s) < 4 || strings.Contains(s, "kind") {
			t.Errorf("kind %d is %s", k, s)
		}
	}
	for r := CompareFailed; r <= Undecoded; r++ {
		if s := r.String(); s == "" || strings.Contains(s, "rejection") {
			t.Errorf("rejection %d is %q", r, s)
		}
	}
	if s := (DoubtGap | DoubtAuth).String(); s != "entries are missing, authentication is on" {
		t.Errorf("doubts: %q", s)
	}
}
