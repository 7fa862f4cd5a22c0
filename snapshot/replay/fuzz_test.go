package replay

import (
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// seeds are entries of every kind.
func seeds(t testing.TB) []Entry {
	nested := txn(cmps{modIs("a", 2), upTo(valueIs("b", "x"), "\x00")}, ops{op(put("a", "1", leased(7))), op(txn(nil, ops{op(del("a", "c"))}, nil))}, ops{op(get("a", 1)), op(put("b", "", ignoreValue))})
	entries := logOf(t, put("a", "1"), put("k", "2", ignoreLease), del("a", "z"), nested, grant(9, 60), revoke(7), compact(2), raise(1, noSpace), disarm(1, corrupt),
		&pb.InternalRaftRequest{LeaseCheckpoint: &pb.LeaseCheckpointRequest{Checkpoints: []*pb.LeaseCheckpoint{{ID: 7, Remaining_TTL: 3}}}},
		&pb.InternalRaftRequest{AuthEnable: &pb.AuthEnableRequest{}})
	return append(entries, Entry{}, Entry{Data: oldRequest("PUT", "/0/members/9/attributes", "{}")},
		Entry{Type: raftpb.EntryConfChange, Data: confChange(t, raftpb.ConfChangeAddNode, 9, `{"id":9}`)})
}

// FuzzDecode decodes any bytes; what etcd decodes too says the same.
func FuzzDecode(f *testing.F) {
	for _, e := range seeds(f) {
		f.Add(int32(e.Type), e.Data)
	}
	f.Fuzz(func(t *testing.T, kind int32, data []byte) {
		before := slices.Clone(data)
		r, err := Decode(Entry{Index: 1, Type: raftpb.EntryType(kind), Data: data})
		if !slices.Equal(before, data) {
			t.Error("the bytes were changed")
		}
		if w, ok := r.Write(); ok && !slices.Equal(w.Value, data[w.ValueOffset:w.ValueOffset+len(w.Value)]) {
			t.Errorf("the value is not at %d", w.ValueOffset)
		}
		var want pb.InternalRaftRequest
		if kind != 0 || err != nil || r.Kind == KindV2 || r.V2.Method != "" || proto.Unmarshal(data, &want) != nil {
			return
		}
		sameRequest(t, &r, &want)
	})
}

// sameRequest compares a request with what protobuf makes of it.
func sameRequest(t *testing.T, r *Request, want *pb.InternalRaftRequest) {
	t.Helper()
	switch r.Kind {
	case KindPut:
		sameOp(t, &r.Op, op(&pb.InternalRaftRequest{Put: want.Put}))
	case KindDeleteRange:
		sameOp(t, &r.Op, op(&pb.InternalRaftRequest{DeleteRange: want.DeleteRange}))
	case KindTxn:
		sameTxn(t, &r.Txn, want.Txn)
	case KindLeaseGrant:
		if r.Lease != (Lease{ID: want.LeaseGrant.ID, TTL: want.LeaseGrant.TTL}) {
			t.Errorf("lease %+v, want %v", r.Lease, want.LeaseGrant)
		}
	case KindLeaseRevoke:
		if r.Lease.ID != want.LeaseRevoke.ID {
			t.Errorf("lease %+v, want %v", r.Lease, want.LeaseRevoke)
		}
	case KindCompaction:
		if r.CompactRevision != want.Compaction.Revision {
			t.Errorf("compaction %d, want %v", r.CompactRevision, want.Compaction)
		}
	case KindAlarm:
		if r.Alarm.Action != want.Alarm.Action || r.Alarm.Member != want.Alarm.MemberID || r.Alarm.Type != want.Alarm.Alarm {
			t.Errorf("alarm %+v, want %v", r.Alarm, want.Alarm)
		}
	}
}

func sameTxn(t *testing.T, got *Txn, want *pb.TxnRequest) {
	t.Helper()
	if len(got.Compares) != len(want.Compare) || len(got.Success) != len(want.Success) || len(got.Failure) != len(want.Failure) {
		t.Fatalf("%d compares, %d and %d operations, want %v", len(got.Compares), len(got.Success), len(got.Failure), want)
	}
	for i, c := range want.Compare {
		g := got.Compares[i]
		number := map[pb.Compare_CompareTarget]int64{
			pb.Compare_VERSION: c.GetVersion(), pb.Compare_CREATE: c.GetCreateRevision(), pb.Compare_MOD: c.GetModRevision(), pb.Compare_LEASE: c.GetLease(),
		}[c.Target]
		var value []byte
		if c.Target == pb.Compare_VALUE {
			value = c.GetValue()
		}
		if g.Target != c.Target || g.Result != c.Result || g.Number != number || !slices.Equal(g.Value, value) || !slices.Equal(g.Key, c.Key) || !slices.Equal(g.RangeEnd, c.RangeEnd) {
			t.Errorf("compare %+v, want %v", g, c)
		}
	}
	for i := range want.Success {
		sameOp(t, &got.Success[i], want.Success[i])
	}
	for i := range want.Failure {
		sameOp(t, &got.Failure[i], want.Failure[i])
	}
}

func sameOp(t *testing.T, got *Op, want *pb.RequestOp) {
	t.Helper()
	var w Op
	switch {
	case want.GetRequestPut() != nil:
		p := want.GetRequestPut()
		w = Op{Kind: OpPut, Key: p.Key, Value: p.Value, Lease: p.Lease, IgnoreValue: p.IgnoreValue, IgnoreLease: p.IgnoreLease}
	case want.GetRequestDeleteRange() != nil:
		d := want.GetRequestDeleteRange()
		w = Op{Kind: OpDeleteRange, Key: d.Key, RangeEnd: d.RangeEnd}
	case want.GetRequestRange() != nil:
		r := want.GetRequestRange()
		w = Op{Kind: OpRange, Key: r.Key, RangeEnd: r.RangeEnd, Revision: r.Revision}
	case want.GetRequestTxn() != nil:
		if got.Kind != OpTxn {
			t.Fatalf("operation %+v, want a txn", got)
		}
		sameTxn(t, got.Txn, want.GetRequestTxn())
		return
	}
	if got.Kind != w.Kind || got.Lease != w.Lease || got.Revision != w.Revision || got.IgnoreValue != w.IgnoreValue || got.IgnoreLease != w.IgnoreLease ||
		!slices.Equal(got.Key, w.Key) || !slices.Equal(got.RangeEnd, w.RangeEnd) || !slices.Equal(got.Value, w.Value) {
		t.Errorf("operation %+v, want %v", got, want)
	}
}

// FuzzApply applies any bytes, twice, to a store with some keys: no panic, and
// what comes of it hangs together.
func FuzzApply(f *testing.F) {
	for _, e := range seeds(f) {
		f.Add(int32(e.Type), e.Data, uint64(8))
	}
	f.Fuzz(func(t *testing.T, kind int32, data []byte, index uint64) {
		m := New(Options{})
		for _, e := range logOf(t, grant(7, 60), put("a", "1"), put("b", "1", leased(7)), put("c", "1", leased(7)), put("a", "2")) {
			m.Apply(e)
		}
		for range 2 {
			before := m.Revision()
			o := m.Apply(Entry{Index: index, Type: raftpb.EntryType(kind), Data: data})
			index++
			if made := o.Revision != 0; made != (len(o.Changes) > 0) || made != (m.Revision() == before+1) || !made && m.Revision() != before {
				t.Errorf("revision %d to %d with %d changes: %+v", before, m.Revision(), len(o.Changes), o)
			}
			if o.Revision != 0 && o.Rejected != NotRejected {
				t.Errorf("rejected and revision %d: %v", o.Revision, o.Rejected)
			}
			for i, c := range o.Changes {
				if c.Main != o.Revision || c.Sub != int64(i) || !c.Tombstone && (c.Create > c.Main || c.Version < 1) {
					t.Errorf("change %d of %d: %+v", i, o.Revision, c)
				}
			}
			sameKeys(t, m)
		}
	})
}

// sameKeys sees that the ways to list keys and leases agree.
func sameKeys(t *testing.T, m *Machine) {
	t.Helper()
	last, n := "", 0
	for k := range m.Keys() {
		if n > 0 && k.Key <= last {
			t.Errorf("key %q after %q", k.Key, last)
		}
		last = k.Key
		n++
	}
	if n != m.Len() {
		t.Errorf("%d keys in order, %d in all", n, m.Len())
	}
	for id, l := range m.leases {
		for key := range l.keys {
			if k, ok := m.Key(key); !ok || k.Lease != id {
				t.Errorf("lease %d has key %q, which is %+v", id, key, k)
			}
		}
	}
}
