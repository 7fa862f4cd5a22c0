package wal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/server/v3/etcdserver/api/snap"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

const oldStore = `{"Root":{"Path":"/","Children":{"0":{"Path":"/0","Children":{"members":{"Path":"/0/members","Children":{
"82fe5b068afab294":{"Children":{"attributes":{"Value":"{\"name\":\"etcd-1\",\"clientURLs\":[\"http://10.0.0.1:2379\"]}"},"raftAttributes":{"Value":"{\"peerURLs\":[\"http://10.0.0.1:2380\"]}"}}},
"1f":{"Children":{}},"no ID":{}}}}}}}}`

// saved has etcd write a snapshot and returns its file.
func saved(t testing.TB, data string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, snap.New(zap.NewNop(), dir).SaveSnap(&raftpb.Snapshot{Data: []byte(data), Metadata: &raftpb.SnapshotMetadata{
		Index: proto.Uint64(301), Term: proto.Uint64(2), ConfState: &raftpb.ConfState{Voters: []uint64{1, 2}, Learners: []uint64{3}},
	}}))
	list, err := filepath.Glob(filepath.Join(dir, "*.snap"))
	must(t, err)
	return list[0]
}

func TestReadSnap(t *testing.T) {
	file := saved(t, oldStore)
	want := &Snap{Index: 301, Term: 2, Voters: []uint64{1, 2}, Learners: []uint64{3}, Members: []SnapMember{
		{ID: 0x1f}, {ID: 0x82fe5b068afab294, Name: "etcd-1", PeerURLs: []string{"http://10.0.0.1:2380"}, ClientURLs: []string{"http://10.0.0.1:2379"}},
	}}
	got, err := ReadSnap(file)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s, err := ReadSnap(saved(t, "not JSON")); err != nil || s.Index != 301 || s.Members != nil || s.Problem != "" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := ReadSnap(saved(t, "{broken")); err != nil || s.Problem == "" {
		t.Errorf("%+v, %v", s, err)
	}
	b, err := os.ReadFile(file)
	must(t, err)
	other := filepath.Join(t.TempDir(), "0000000000000002-0000000000000999.snap")
	must(t, os.WriteFile(other, b, 0o600))
	if s, err := ReadSnap(other); err != nil || !strings.Contains(s.Problem, "its name says term 2 and index 2457") {
		t.Errorf("%+v, %v", s, err)
	}
	b[len(b)-4] ^= 1
	must(t, os.WriteFile(other, b, 0o600))
	if _, err := ReadSnap(other); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged one: %v", err)
	}
	must(t, os.WriteFile(other, b[:40], 0o600))
	if _, err := ReadSnap(other); err == nil {
		t.Error("a cut one is read")
	}
}

func FuzzSnap(f *testing.F) {
	b, err := os.ReadFile(saved(f, oldStore))
	must(f, err)
	f.Add(b)
	f.Add(b[:30])
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := parseSnap(b); (s == nil) == (err == nil) {
			t.Fatal("neither a snapshot nor an error, or both")
		}
	})
}
