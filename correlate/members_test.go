package correlate

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/lease/leasepb"
	"google.golang.org/protobuf/proto"

	"etcd-autopsy/fixtures"
	"etcd-autopsy/fixtures/world"
)

// TestMembers: databases, restarts and terms of recorded members.
func TestMembers(t *testing.T) {
	rec := fixtures.Unpack(t, "hiccup-not-guilty")
	rows := loadDir(t, rec.Dir).Members()
	if len(rows) != 3 {
		t.Fatalf("%d members, want 3", len(rows))
	}
	var killed MemberRow
	for _, m := range rows {
		if len(m.Stores) != 1 || len(m.Logs) != 1 || m.Name == "" || len(m.ClientURLs) == 0 {
			t.Errorf("member %s: %+v", m.ID, m)
		}
		if m.Name == "etcd-1" {
			killed = m
		} else if len(m.Starts) != 1 || len(m.Down) != 0 {
			t.Errorf("%s starts %v down %v, want one start and no time down", m.Name, m.Starts, m.Down)
		}
	}
	if len(killed.Starts) != 2 || len(killed.Down) != 1 || len(killed.Led) == 0 {
		t.Fatalf("etcd-1 starts %v, down %v, led %v: it led, was killed and came back", killed.Starts, killed.Down, killed.Led)
	}
	if d := killed.Down[0]; d.End == nil || d.End.Sub(*d.Start) < 5*time.Second || d.End.Sub(*d.Start) > 12*time.Second {
		t.Errorf("etcd-1 was down %v to %v, truth about 8 s", d.Start, d.End)
	}
	if killed.Led[0].End == nil {
		t.Error("etcd-1 leads for ever")
	}
}

// TestMemberLeases: leases name who granted them, save those that a client chose,
// and count the keys that die with them.
func TestMemberLeases(t *testing.T) {
	dir := t.TempDir()
	w := world.New()
	w.PutRaw(0, "/registry/events/default/a", []byte("{}")) // revision 2
	w.Renew("kube-system", "kube-scheduler", "s", sec, 20*sec, 2*sec)
	saveMembers(t, w, dir, 2)
	start := w.Time(-90 * sec)
	suffix := start.UnixMilli()&(1<<40-1)<<8 + 17
	mine := 0x2222<<48 | suffix
	strange := 0x7777<<48 | suffix + (400*24*time.Hour).Milliseconds()<<8 // of no member, and of next year
	editStore(t, memberPath(dir, 2), func(tx *bolt.Tx) error {
		for _, id := range []int64{mine, strange, 99} {
			v, err := proto.Marshal(&leasepb.Lease{ID: id, TTL: 3600})
			must(t, err)
			must(t, tx.Bucket([]byte("lease")).Put(be64(id), v))
		}
		return editPut(tx, 2, func(kv *mvccpb.KeyValue) { kv.Lease = mine })
	})
	must(t, os.Remove(memberPath(dir, 1)))
	rows := loadDir(t, dir).Members()
	if len(rows) != 3 || len(rows[1].Stores) != 1 {
		t.Fatalf("members %+v", rows)
	}
	one, none := 1, 0
	want := Leases{Count: 3, List: []MemberLease{
		{ID: "0000000000000063", TTL: 3600, Keys: &none},
		{ID: fmt.Sprintf("%016x", mine), TTL: 3600, Keys: &one, GrantedNotBefore: timePtr(start), Member: world.MemberIDs[1]},
		{ID: fmt.Sprintf("%016x", strange), TTL: 3600, Keys: &none},
	}}
	if d := cmp.Diff(want, rows[1].Stores[0].Leases); d != "" {
		t.Errorf("leases (-want +got):\n%s", d)
	}
}

// TestMembersOfNewestStore: what an older store says of a member is overruled.
func TestMembersOfNewestStore(t *testing.T) {
	dir := t.TempDir()
	w := world.New()
	w.Renew("kube-system", "kube-scheduler", "s", sec, 40*sec, 2*sec)
	saveMembers(t, w, dir, 2)
	learner := []byte(`{"id":4919131752989213764,"peerURLs":["https://10.0.0.4:2380"],"name":"etcd-4","isLearner":true}`)
	voter := []byte(`{"id":4919131752989213764,"peerURLs":["https://10.0.0.4:2380"],"name":"etcd-4"}`)
	editStore(t, memberPath(dir, 1), func(tx *bolt.Tx) error { // the newest, though it comes first
		must(t, tx.Bucket([]byte("members")).Put([]byte("4444444444444444"), voter))
		must(t, tx.Bucket([]byte("members")).Delete([]byte(world.MemberIDs[2])))
		return tx.Bucket([]byte("members_removed")).Put([]byte(world.MemberIDs[2]), []byte("removed"))
	})
	editStore(t, memberPath(dir, 2), func(tx *bolt.Tx) error {
		must(t, tx.Bucket([]byte("members")).Put([]byte("4444444444444444"), learner))
		return tx.Bucket([]byte("key")).Delete(revisionBytes(21))
	})
	rows := loadDir(t, dir).Members()
	if len(rows) != 4 || rows[3].Learner || rows[3].Removed || rows[2].Name != "etcd-3" || !rows[2].Removed || rows[1].Removed {
		t.Errorf("members %+v", rows)
	}
}
