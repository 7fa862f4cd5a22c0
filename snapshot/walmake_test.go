package snapshot

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
)

// madeWAL is a WAL that etcd's own writer writes, of what a test makes up.
type madeWAL struct {
	t    testing.TB
	w    *wal.WAL
	data string
	term uint64
	last uint64
}

// newWAL begins the log of a member; its cluster is 0xc. Segments are of 4 KiB.
func newWAL(t testing.TB, member uint64) *madeWAL {
	t.Helper()
	return newWALOf(t, member, 0xc)
}

func newWALOf(t testing.TB, member, cluster uint64) *madeWAL {
	t.Helper()
	smallSegments(t, 4<<10)
	data := filepath.Join(t.TempDir(), "data")
	w, err := wal.Create(zap.NewNop(), filepath.Join(data, "member", "wal"), marshal(&etcdserverpb.Metadata{NodeID: &member, ClusterID: &cluster}))
	must(t, err)
	return &madeWAL{t: t, w: w, data: data, term: 1}
}

// members adds an entry for each member with which a cluster begins.
func (m *madeWAL) members(ids ...uint64) *madeWAL {
	for _, id := range ids {
		c := raftpb.ConfChange{Type: raftpb.ConfChangeAddNode.Enum(), NodeId: new(id), Context: fmt.Appendf(nil, `{"id":%d,"name":"m%d","peerURLs":["http://m%d"]}`, id, id, id)}
		m.save(raftpb.EntryConfChange, marshal(&c))
	}
	return m
}

// save writes an entry behind the last.
func (m *madeWAL) save(kind raftpb.EntryType, data []byte) *madeWAL {
	m.last++
	must(m.t, m.w.Save(&raftpb.HardState{}, []*raftpb.Entry{{Type: &kind, Term: new(m.term), Index: new(m.last), Data: data}}))
	return m
}

// state writes a hard state.
func (m *madeWAL) state(vote, commit uint64) *madeWAL {
	must(m.t, m.w.Save(&raftpb.HardState{Term: new(m.term), Vote: &vote, Commit: &commit}, nil))
	return m
}

// leader begins a term behind an entry.
func (m *madeWAL) leader(term, after uint64) *madeWAL {
	m.term, m.last = term, after
	return m.save(raftpb.EntryNormal, nil)
}

// request writes a request; its ID is made of term and index.
func (m *madeWAL) request(r *etcdserverpb.InternalRaftRequest) *madeWAL {
	r.Header = &etcdserverpb.RequestHeader{ID: m.term<<48 | (m.last + 1)}
	return m.save(raftpb.EntryNormal, marshal(r))
}

func (m *madeWAL) put(key, value string) *madeWAL {
	return m.request(&etcdserverpb.InternalRaftRequest{Put: &etcdserverpb.PutRequest{Key: []byte(key), Value: []byte(value)}})
}

// update puts a key that must have been changed last at a revision.
func (m *madeWAL) update(key, value string, mod int64) *madeWAL {
	return m.request(&etcdserverpb.InternalRaftRequest{Txn: &etcdserverpb.TxnRequest{
		Compare: []*etcdserverpb.Compare{{Key: []byte(key), Target: etcdserverpb.Compare_MOD, TargetUnion: &etcdserverpb.Compare_ModRevision{ModRevision: mod}}},
		Success: []*etcdserverpb.RequestOp{{Request: &etcdserverpb.RequestOp_RequestPut{RequestPut: &etcdserverpb.PutRequest{Key: []byte(key), Value: []byte(value)}}}},
	}})
}

// snapshot writes the mark of a snapshot, after which the log goes on.
func (m *madeWAL) snapshot(index, term uint64) *madeWAL {
	must(m.t, m.w.SaveSnapshot(&walpb.Snapshot{Index: &index, Term: &term, ConfState: &raftpb.ConfState{Voters: []uint64{1}}}))
	return m
}

// files closes the log and returns its segments.
func (m *madeWAL) files(input string) []File {
	m.t.Helper()
	must(m.t, m.w.Close())
	return segmentsOf(walFiles(m.t, input, m.data))
}

// changes writes the revisions of a history: a line has no more than counts here.
func changes(h *History) string {
	var words []string
	for i := range h.Len() {
		r := h.At(i)
		value, err := h.Value(i)
		if err != nil {
			value = []byte(err.Error())
		}
		word := fmt.Sprintf("%s:%s=%s", revisionName(r.Main, r.Sub), r.Key, value)
		if r.Tombstone {
			word = fmt.Sprintf("%s:-%s", revisionName(r.Main, r.Sub), r.Key)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// entryStatesOf writes the entries of a history from an index on.
func entryStatesOf(h *History, from uint64) string {
	var words []string
	for i := range h.Entries() {
		if e := h.Entry(i); e.Index >= from {
			words = append(words, fmt.Sprintf("%d@%d:%s:%d", e.Index, e.Term, e.State, e.Revision))
		}
	}
	return strings.Join(words, " ")
}

// checkProblems wants the problems of all logs, and why those are rejected that
// are, each to have a text in it.
func checkProblems(t *testing.T, h *History, want ...string) {
	t.Helper()
	got := problems(h)
	for _, l := range h.WALs() {
		if l.Rejected != "" {
			got = append(got, l.Input+" rejected: "+l.Rejected)
		}
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.Contains(got[i], want[i]) {
			t.Errorf("problems %q, want %q", got, want)
			return
		}
	}
}

// join joins files.
func join(lists ...[]File) []File { return slices.Concat(lists...) }
