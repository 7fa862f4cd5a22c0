package snapshot

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/authpb"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// describe opens one store and returns its description without what depends on
// the file's layout.
func describe(t *testing.T, e *etcdStore) Store {
	t.Helper()
	s := load(t, e.file(t, filepath.Join(t.TempDir(), "db"))).Stores()[0]
	s.Size, s.TxID = 0, 0
	return s
}

func TestSchemas(t *testing.T) {
	base := Store{Input: "db", Path: "db", PageSize: 4096, Records: 1, First: 2, Last: 2, ConsistentIndex: 77}
	voters := []string{"0000000000000001", "0000000000000002", "0000000000000003"}
	tests := []struct {
		version string
		want    func(s *Store)
	}{
		{"3.4", func(s *Store) { s.Schema, s.ClusterVersion = "3.4", "3.4.0" }},
		{"3.5", func(s *Store) { s.Schema, s.ClusterVersion, s.Term = "3.5", "3.5.0", 3 }},
		{"3.6", func(s *Store) { s.Schema, s.ClusterVersion, s.StorageVersion, s.Term = "3.6", "3.6.0", "3.6.0", 3 }},
		{"3.7", func(s *Store) { s.Schema, s.ClusterVersion, s.StorageVersion, s.Term = "3.7", "3.7.0", "3.7.0", 3 }},
	}
	for _, tt := range tests {
		t.Run(tt.version, func(t *testing.T) {
			e := newEtcdStore().schema(tt.version)
			e.put("k", "v")
			want := base
			tt.want(&want)
			if want.Term > 0 {
				want.Voters = voters
			}
			if d := cmp.Diff(want, describe(t, e)); d != "" {
				t.Errorf("store (-want +got):\n%s", d)
			}
		})
	}
}

func TestSmallBuckets(t *testing.T) {
	e := newEtcdStore()
	e.put("k", "v")
	e.put("k", "w")
	e.compact(2)
	e.others["meta"]["scheduledCompactRev"] = revisionKey{main: 3}.append(nil)
	e.others["members"]["8e9e05c52164694d"] = []byte(`{"id":10276657743932975437,"peerURLs":["http://10.0.0.1:2380"],"name":"m1","clientURLs":["http://10.0.0.1:2379"]}`)
	e.others["members"]["a1"] = []byte(`{"id":161,"peerURLs":["http://10.0.0.2:2380"],"isLearner":true}`)
	e.others["members_removed"]["b2"] = []byte("removed")
	e.alarm(0xa1, etcdserverpb.AlarmType_NOSPACE)
	e.alarm(0, etcdserverpb.AlarmType_CORRUPT)
	e.lease(7, 15, 0)
	e.lease(6, 3600, 20)
	e.others["meta"]["confState"] = []byte(`{"voters":[10276657743932975437],"learners":[161],"auto_leave":false}`)
	e.others["cluster"]["downgrade"] = []byte(`{"target-version":"3.5.0","enabled":true}`)
	e.others["auth"]["authEnabled"] = []byte{1}
	e.others["auth"]["authRevision"] = binary.BigEndian.AppendUint64(nil, 7)
	e.others["authUsers"]["root"] = marshal(&authpb.User{Name: []byte("root"), Password: []byte("$2a$10$secret"), Roles: []string{"root"}})
	e.others["authUsers"]["backup"] = marshal(&authpb.User{Name: []byte("backup"), Options: &authpb.UserAddOptions{NoPassword: true}})
	e.others["authRoles"]["root"] = marshal(&authpb.Role{Name: []byte("root")})
	e.others["unheard_of"] = map[string][]byte{"a": []byte("b")}
	got := describe(t, e)
	want := Store{
		Input: "db", Path: "db", PageSize: 4096, Records: 2, First: 2, Last: 3,
		CompactRevision: 2, ScheduledCompactRevision: 3, Schema: "3.4",
		Members: []Member{
			{ID: "00000000000000a1", PeerURLs: []string{"http://10.0.0.2:2380"}, Learner: true},
			{ID: "8e9e05c52164694d", Name: "m1", PeerURLs: []string{"http://10.0.0.1:2380"}, ClientURLs: []string{"http://10.0.0.1:2379"}},
		},
		RemovedMembers: []string{"00000000000000b2"},
		Alarms:         []Alarm{{"0000000000000000", "CORRUPT"}, {"00000000000000a1", "NOSPACE"}},
		Leases:         []Lease{{6, time.Hour, 20 * time.Second}, {7, 15 * time.Second, 0}},
		Voters:         []string{"8e9e05c52164694d"}, Learners: []string{"00000000000000a1"}, DowngradeTarget: "3.5.0",
		Auth:           Auth{Enabled: true, Revision: 7, Users: []string{"backup", "root"}, Roles: []string{"root"}},
		UnknownBuckets: []string{"unheard_of"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("store (-want +got):\n%s", d)
	}
}

func TestOddEntries(t *testing.T) {
	e := newEtcdStore()
	e.put("k", "v")                                                                                           // 2
	e.put("l", "v")                                                                                           // 3
	e.records["short"] = []byte("x")                                                                          // no revision
	e.records[string(revisionKey{main: 4}.append(nil))] = []byte{0xff}                                        // no KeyValue
	e.records[string(revisionKey{main: 5}.append(nil))] = e.records[string(revisionKey{main: 3}.append(nil))] // mod_revision 3
	e.records[string(revisionKey{main: 3, tombstone: true}.append(nil))] = []byte("\x0a\x01l")
	e.records[string(revisionKey{main: 1000}.append(nil))] = nil // --bump-revision
	e.others["meta"]["consistent_index"] = []byte("short")
	e.others["meta"]["finishedCompactRev"] = []byte("short")
	e.others["lease"]["12345678"] = []byte{0xff}
	e.others["alarm"]["\xff"] = nil
	e.others["members"]["zz"] = []byte("{")
	e.others["members_removed"]["zz"] = nil
	e.others["meta"]["confState"] = []byte("{")
	e.others["cluster"]["downgrade"] = []byte("{")
	e.others["auth"]["authEnabled"] = []byte{2}
	e.others["auth"]["authRevision"] = []byte("short")
	e.others["authUsers"]["eve"] = []byte("\x12\x3c$2a$10$secret")
	e.others["authUsers"]["mallory"] = marshal(&authpb.User{Name: []byte("root"), Password: []byte("$2a$10$secret")})
	e.others["authRoles"]["eve"] = []byte{0xff}
	e.others["authRoles"]["mallory"] = marshal(&authpb.Role{Name: []byte("root")})
	s := describe(t, e)
	if s.Records != 7 || s.First != 2 || s.Last != 1000 {
		t.Errorf("%d records, %d to %d", s.Records, s.First, s.Last)
	}
	all := strings.Join(s.Problems, "\n")
	for _, want := range []string{
		"1 records whose key is not a revision are left out (the first is 73686f7274)",
		"1 records whose value cannot be decoded are left out (the first is revision 4)",
		"1 records whose mod_revision is not that of their key (the first is revision 5)",
		"1 revisions are both a put and a deletion, the deletion is left out (the first is revision 3)",
		"1 records have no key, as snapshot restore --bump-revision writes them (the first is revision 1000)",
		`bucket meta, entry "consistent_index": 5 bytes instead of 8`,
		`bucket meta, entry "finishedCompactRev": 73686f7274 is not a revision`,
		`bucket lease, entry "12345678": not a Lease message`,
		`bucket alarm, entry "\xff": not an AlarmMember message`,
		`bucket members, entry "zz": not a member`,
		`bucket members_removed, entry "zz": not a member ID`,
		`bucket meta, entry "confState": not a ConfState`,
		`bucket cluster, entry "downgrade": not a DowngradeInfo`,
		`bucket auth, entry "authEnabled": neither enabled nor disabled`,
		`bucket auth, entry "authRevision": 5 bytes instead of 8`,
		`bucket authUsers, entry "eve": not a User message`,
		`bucket authUsers, entry "mallory": holds the user of another name`,
		`bucket authRoles, entry "eve": not a Role message`,
		`bucket authRoles, entry "mallory": holds the role "root"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no problem %q in:\n%s", want, all)
		}
	}
	if strings.Contains(all, "secret") {
		t.Errorf("a password hash is shown:\n%s", all)
	}
	if len(s.Problems) != 19 {
		t.Errorf("%d problems:\n%s", len(s.Problems), all)
	}
}

func TestSavedSnapshot(t *testing.T) {
	e := story()
	path := e.saved(t, filepath.Join(t.TempDir(), "snap.db"))
	s := load(t, path).Stores()[0]
	if !s.Snapshot || s.HashOK == nil || !*s.HashOK || len(s.Problems) > 0 {
		t.Errorf("%+v", s)
	}
	if live := describe(t, e); live.Snapshot || live.HashOK != nil {
		t.Errorf("a live file: %+v", live)
	}
}

// TestSchema32 reads a store as etcd 3.2 and older left it: the free pages are
// listed, and what later releases keep is not there. The free pages that are listed
// still have what was on them.
func TestSchema32(t *testing.T) {
	e := bigger()
	delete(e.others, "cluster")
	delete(e.others, "auth")
	e.others["meta"] = map[string][]byte{"consistent_index": binary.BigEndian.AppendUint64(nil, 77)}
	e.member(0x82fe5b068afab294)
	e.freelist = true
	path, before := compactedBy(t, e)
	h := load(t, path)
	s := h.Stores()[0]
	if s.Schema != "3.4" || s.Term != 0 || s.ClusterVersion != "" || s.StorageVersion != "" || s.ConsistentIndex != 77 || len(s.Members) != 1 || len(s.Problems) > 0 {
		t.Errorf("%+v", s)
	}
	if carved := checkRecords(t, h, before); carved == 0 || carved != s.Carved || s.Records != len(e.records) {
		t.Errorf("%d carved, %d records of %d", carved, s.Records, len(e.records))
	}
	for _, l := range Check(context.Background(), File{Path: "db", OSPath: path}, Options{}) {
		if l.Status == CheckFault && l.Name != "values" { // which are no objects here
			t.Errorf("%+v", l)
		}
	}
}
