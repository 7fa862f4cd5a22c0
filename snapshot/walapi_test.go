package snapshot

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/membershippb"
	"go.etcd.io/raft/v3/raftpb"
)

// confChange adds a change of the membership.
func (m *madeWAL) confChange(kind raftpb.ConfChangeType, id uint64, context string) *madeWAL {
	return m.save(raftpb.EntryConfChange, marshal(&raftpb.ConfChange{Type: &kind, NodeId: &id, Context: []byte(context)}))
}

// attributes adds what a member says of itself.
func (m *madeWAL) attributes(id uint64, name string) *madeWAL {
	return m.request(&etcdserverpb.InternalRaftRequest{ClusterMemberAttrSet: &membershippb.ClusterMemberAttrSetRequest{
		Member_ID: id, MemberAttributes: &membershippb.Attributes{Name: name, ClientUrls: []string{"http://" + name}},
	}})
}

func TestRaftEvents(t *testing.T) {
	l := newWAL(t, 1).members(1).state(0, 1).leader(2, 1).attributes(1, "one").put("/a", "1")
	l.confChange(raftpb.ConfChangeAddLearnerNode, 2, `{"id":2,"peerURLs":["http://two"],"isLearner":true}`).attributes(2, "two")
	l.confChange(raftpb.ConfChangeAddNode, 2, `{"id":2,"peerURLs":["http://two"],"isPromote":true}`)
	l.save(raftpb.EntryNormal, nil) // a change that was refused
	l.confChange(raftpb.ConfChangeAddNode, 3, `{"id":3,"peerURLs":["http://three"]}`)
	l.confChange(raftpb.ConfChangeUpdateNode, 1, `{"id":1,"peerURLs":["http://moved"]}`)
	l.leader(3, 11)
	l.confChange(raftpb.ConfChangeRemoveNode, 3, "").attributes(3, "late")
	l.request(&etcdserverpb.InternalRaftRequest{Alarm: &etcdserverpb.AlarmRequest{Action: etcdserverpb.AlarmRequest_ACTIVATE, MemberID: 2, Alarm: etcdserverpb.AlarmType_NOSPACE}})
	l.request(&etcdserverpb.InternalRaftRequest{Alarm: &etcdserverpb.AlarmRequest{Action: etcdserverpb.AlarmRequest_GET}})
	l.put("/a", "2")
	l.request(&etcdserverpb.InternalRaftRequest{Alarm: &etcdserverpb.AlarmRequest{Action: etcdserverpb.AlarmRequest_DEACTIVATE, MemberID: 2, Alarm: etcdserverpb.AlarmType_NOSPACE}})
	l.request(&etcdserverpb.InternalRaftRequest{ClusterVersionSet: &membershippb.ClusterVersionSetRequest{Ver: "3.6.0"}})
	l.request(&etcdserverpb.InternalRaftRequest{DowngradeInfoSet: &membershippb.DowngradeInfoSetRequest{Enabled: true, Ver: "3.5.0"}})
	l.request(&etcdserverpb.InternalRaftRequest{DowngradeInfoSet: &membershippb.DowngradeInfoSetRequest{}})
	l.request(&etcdserverpb.InternalRaftRequest{Compaction: &etcdserverpb.CompactionRequest{Revision: 2}})
	l.request(&etcdserverpb.InternalRaftRequest{AuthUserAdd: &etcdserverpb.AuthUserAddRequest{Name: "x", Password: "secret"}})
	last := l.last
	l.attributes(1, "not committed")
	h := loadFiles(t, l.state(1, last).files("m")...)
	var got []string
	for _, e := range h.RaftEvents() {
		got = append(got, fmt.Sprintf("%d %s %s %s", h.Entry(e.Entry).Index, e.Kind, e.Member, e.Text))
	}
	want := []string{
		"1 member 0000000000000001 added as m1, peers at http://m1",
		"2 leader  a new leader begins term 2",
		"3 start 0000000000000001 started as one, clients at http://one",
		"5 member 0000000000000002 added as a learner, peers at http://two",
		"6 start 0000000000000002 started as two, clients at http://two",
		"7 member 0000000000000002 promoted from learner, peers at http://two",
		"9 member 0000000000000003 added, peers at http://three",
		"10 member 0000000000000001 updated, peers at http://moved",
		"12 leader  a new leader begins term 3",
		"13 member 0000000000000003 removed",
		"14 start 0000000000000003 started as late, clients at http://late",
		"15 alarm 0000000000000002 raises the alarm NOSPACE",
		"18 alarm 0000000000000002 the alarm NOSPACE is disarmed",
		"19 version  cluster version 3.6.0",
		"20 version  downgrade to 3.5.0 allowed",
		"21 version  downgrade cancelled",
		"22 compaction  compaction of revision 2",
		"23 auth  auth-user",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	members := []Member{
		{ID: "0000000000000001", Name: "one", PeerURLs: []string{"http://moved"}, ClientURLs: []string{"http://one"}},
		{ID: "0000000000000002", Name: "two", PeerURLs: []string{"http://two"}, ClientURLs: []string{"http://two"}},
	}
	if d := cmp.Diff(members, h.LoggedMembers()); d != "" {
		t.Errorf("members (-want +got):\n%s", d)
	}
}

// TestEntry has an entry of each state and asks for it in every way.
func TestEntry(t *testing.T) {
	l := newWAL(t, 1).members(1, 2, 3).leader(2, 3).put("/a", "one")
	l.update("/a", "three", 2).update("/a", "never", 2).update("/new", "first", 0)
	l.request(&etcdserverpb.InternalRaftRequest{DeleteRange: &etcdserverpb.DeleteRangeRequest{Key: []byte("/a")}})
	l.put("/lost", "x")
	l.leader(3, 9).put("/z", "end").state(1, 11).put("/tail", "y")
	h := loadFiles(t, l.files("m")...)
	entries := map[uint64][]Entry{}
	for i := range h.Entries() {
		e := h.Entry(i)
		if e.WAL != 0 || e.Segment != h.WALs()[0].Segments[0] || e.Offset == 0 || e.Request == 0 && e.Kind != "no-op" && e.Kind != "conf-change" {
			t.Errorf("%+v", e)
		}
		if n, ok := h.EntryOfRequest(e.Request); e.Request != 0 && (!ok || n != i) {
			t.Errorf("request %x is entry %d, not %d", e.Request, n, i)
		}
		if n, ok := h.EntryOfRevision(e.Revision); ok != (e.Revision != 0) || ok && n != i {
			t.Errorf("revision %d is of entry %d, not %d", e.Revision, n, i)
		}
		e.Offset, e.Request, e.Segment = 0, 0, ""
		entries[e.Index] = append(entries[e.Index], e)
	}
	want := map[uint64][]Entry{
		4:  {{Index: 4, Term: 2, Kind: "no-op", Expected: -1, Found: -1, State: EntryApplied, At: 1}},
		5:  {{Index: 5, Term: 2, Kind: "put", Verb: "put", Key: "/a", Expected: -1, Found: -1, State: EntryApplied, Revision: 2, At: 2, Size: 3}},
		6:  {{Index: 6, Term: 2, Kind: "txn", Verb: "update", Key: "/a", Expected: 2, Found: -1, State: EntryApplied, Revision: 3, At: 3, Size: 5}},
		7:  {{Index: 7, Term: 2, Kind: "txn", Verb: "update", Key: "/a", Expected: 2, Found: 3, State: EntryRejected, At: 3, Reason: "compare-failed", Size: 5}},
		8:  {{Index: 8, Term: 2, Kind: "txn", Verb: "create", Key: "/new", Expected: 0, Found: -1, State: EntryApplied, Revision: 4, At: 4, Size: 5}},
		9:  {{Index: 9, Term: 2, Kind: "delete-range", Verb: "delete", Key: "/a", Expected: -1, Found: -1, State: EntryApplied, Revision: 5, At: 5}},
		10: {{Index: 10, Term: 3, Kind: "no-op", Expected: -1, Found: -1, State: EntryApplied, At: 5}, {Index: 10, Term: 2, Kind: "put", Verb: "put", Key: "/lost", Expected: -1, Found: -1, State: EntryLost, Size: 1}},
		11: {{Index: 11, Term: 3, Kind: "put", Verb: "put", Key: "/z", Expected: -1, Found: -1, State: EntryApplied, Revision: 6, At: 6, Size: 3}},
		12: {{Index: 12, Term: 3, Kind: "put", Verb: "put", Key: "/tail", Expected: -1, Found: -1, State: EntryUncommitted, Size: 1}},
	}
	for index := range uint64(4) {
		delete(entries, index)
	}
	if d := cmp.Diff(want, entries); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
	var of []uint64
	for _, i := range h.EntriesOf("/a") {
		of = append(of, h.Entry(i).Index)
	}
	if !slices.Equal(of, []uint64{5, 6, 7, 9}) || h.EntriesOf("/none") != nil || len(h.EntriesOf("/lost")) != 1 {
		t.Errorf("entries of /a: %v", of)
	}
	for _, id := range []uint64{0, 12345} {
		if i, ok := h.EntryOfRequest(id); ok || i != -1 {
			t.Errorf("request %d is entry %d", id, i)
		}
	}
	for _, main := range []int64{0, 1, 7, -1} {
		if i, ok := h.EntryOfRevision(main); ok || i != -1 {
			t.Errorf("revision %d is of entry %d", main, i)
		}
	}
}

// TestWALs describes a log, its terms left out.
func TestWALs(t *testing.T) {
	l := begun(t, 1).state(1, 4)
	h := loadFiles(t, append(l.files("m"), File{Input: "n", Path: "member/wal/0000000000000000-0000000000000000.wal", OSPath: "/dev/null", Kind: Segment})...)
	got := h.WALs()
	want := []WAL{
		{Input: "m", Path: "member/wal", Segments: []string{"member/wal/0000000000000000-0000000000000000.wal"},
			MemberID: "0000000000000001", ClusterID: "000000000000000c", First: 1, Last: 5, Entries: 5, Commit: 4},
		{Input: "n", Path: "member/wal", Segments: []string{"member/wal/0000000000000000-0000000000000000.wal"},
			Problems: []string{"member/wal/0000000000000000-0000000000000000.wal, offset 0: not a regular file"}},
	}
	for i := range got {
		w := WAL{Input: got[i].Input, Path: got[i].Path, Segments: got[i].Segments, MemberID: got[i].MemberID, ClusterID: got[i].ClusterID,
			First: got[i].First, Last: got[i].Last, Entries: got[i].Entries, Commit: got[i].Commit, Problems: got[i].Problems, Rejected: got[i].Rejected}
		if d := cmp.Diff(want[i], w); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	if none := loadFiles(t); none.Entries() != 0 || none.EntriesOf("/a") != nil || len(none.RaftEvents())+len(none.LoggedMembers())+len(none.WALs()) != 0 {
		t.Error("a history of nothing has entries")
	}
}

// TestLogsAtOnce asks for all that logs give from several goroutines.
func TestLogsAtOnce(t *testing.T) {
	log, stores := randomTwin(t, 1)
	h := loadFiles(t, join(log, stores[:1])...)
	want := changes(h)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got := changes(h); got != want {
				t.Error("another answer")
			}
			for i := range h.Entries() {
				e := h.Entry(i)
				_, _ = h.EntryOfRequest(e.Request)
				_, _ = h.EntryOfRevision(e.Revision)
				_ = h.EntriesOf(e.Key)
			}
			_, _, _ = h.RaftEvents(), h.LoggedMembers(), h.WALs()
		})
	}
	all.Wait()
}
