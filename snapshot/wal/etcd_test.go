package wal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	etcdwal "go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

// lowered makes etcd's segments small for a test.
func lowered(t testing.TB, size int64) {
	old := etcdwal.SegmentSizeBytes
	etcdwal.SegmentSizeBytes = size
	t.Cleanup(func() { etcdwal.SegmentSizeBytes = old })
}

// written has etcd write a log with overwritten entries, new terms and snapshots,
// and returns its folder.
func written(t testing.TB, seed uint64, batches int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "wal")
	w, err := etcdwal.Create(zap.NewNop(), dir, []byte{8, 7, 16, 9})
	must(t, err)
	r := rand.New(rand.NewPCG(seed, 1))
	index, term, commit := uint64(0), uint64(1), uint64(0)
	for range batches {
		if r.IntN(12) == 0 && index > commit { // another leader, without the last entries
			term++
			index = commit + r.Uint64N(index-commit+1)
		}
		var batch []*raftpb.Entry
		for range 1 + r.IntN(4) {
			index++
			kind := raftpb.EntryNormal
			if r.IntN(30) == 0 {
				kind = raftpb.EntryConfChange
			}
			batch = append(batch, &raftpb.Entry{Index: proto.Uint64(index), Term: proto.Uint64(term), Type: kind.Enum(), Data: []byte(strings.Repeat(fmt.Sprint(index, "."), r.IntN(300)))})
		}
		commit = max(commit, min(index, commit+r.Uint64N(4)))
		must(t, w.Save(&raftpb.HardState{Term: proto.Uint64(term), Vote: proto.Uint64(7), Commit: proto.Uint64(commit)}, batch))
		if r.IntN(40) == 0 && commit > 0 {
			must(t, w.SaveSnapshot(&walpb.Snapshot{Index: proto.Uint64(commit), Term: proto.Uint64(term), ConfState: &raftpb.ConfState{Voters: []uint64{7}}}))
		}
	}
	must(t, w.Close())
	return dir
}

// sources are the files of a folder.
func sources(t testing.TB, dir string) (list []Source) {
	t.Helper()
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range files {
		list = append(list, Source{Path: f.Name(), OSPath: filepath.Join(dir, f.Name())})
	}
	return list
}

// TestAgainstEtcd reads what etcd has written, over several segments, and compares
// with etcd's own reader.
func TestAgainstEtcd(t *testing.T) {
	lowered(t, 64<<10)
	for seed := range uint64(3) {
		dir := written(t, seed, 600)
		ours, err := Open(sources(t, dir)).Scan(context.Background())
		must(t, err)
		w, err := etcdwal.OpenForRead(zap.NewNop(), dir, &walpb.Snapshot{Index: proto.Uint64(0), Term: proto.Uint64(0)})
		must(t, err)
		metadata, state, entries, err := w.ReadAll()
		must(t, err)
		_ = w.Close() // it cannot sync what it has open for reading
		if len(ours.Faults) > 0 || ours.NodeID != 7 || ours.ClusterID != 9 || string(metadata) != "\x08\x07\x10\x09" || !ours.Begins || len(ours.Segments) < 5 {
			t.Fatalf("faults %v, IDs %x %x, %d segments", ours.Faults, ours.NodeID, ours.ClusterID, len(ours.Segments))
		}
		if last := ours.States[len(ours.States)-1]; last.Term != state.GetTerm() || last.Vote != state.GetVote() || last.Commit != state.GetCommit() || ours.Commit != state.GetCommit() {
			t.Errorf("state %+v, want %+v", last, state)
		}
		var got []string
		n := 0
		for e, err := range ours.Read(context.Background(), 0, len(ours.Entries)) {
			must(t, err)
			if !ours.Entries[n].Overwritten {
				got = append(got, fmt.Sprint(e.Index, e.Term, e.Type, string(e.Data)))
			}
			n++
		}
		var want []string
		for _, e := range entries {
			want = append(want, fmt.Sprint(e.GetIndex(), e.GetTerm(), e.GetType(), string(e.GetData())))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("entries differ (-etcd +ours):\n%.2000s", diff)
		}
		if n == len(got) {
			t.Error("no entry was overwritten: the test shows nothing")
		}
		must(t, ours.Close())
	}
}

// TestPurged takes the first segments away, as etcd does in time.
func TestPurged(t *testing.T) {
	lowered(t, 64<<10)
	dir := written(t, 9, 400)
	all := sources(t, dir)
	whole, err := Open(all).Scan(context.Background())
	must(t, err)
	first := whole.Segments[2].FirstIndex
	l, err := Open(all[2:]).Scan(context.Background())
	must(t, err)
	if len(l.Faults) > 0 || l.Begins || l.Entries[0].Index > first {
		t.Fatalf("faults %v, begins %v, first entry %d of a segment named %d", l.Faults, l.Begins, l.Entries[0].Index, first)
	}
	tail := indexes(whole)
	if got := indexes(l); !cmp.Equal(got, tail[len(tail)-len(got):]) {
		t.Error("the rest of the log differs")
	}
}

// TestChanged reads entries of a file that is not what it was.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, name(0, 0))
	must(t, os.WriteFile(path, healthy(5).bytes, 0o600))
	l, err := Open([]Source{{Path: "x", OSPath: path}}).Scan(context.Background())
	must(t, err)
	must(t, os.WriteFile(path, healthy(2).bytes, 0o600))
	if _, err := l.Data(4); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("data of a lost entry: %v", err)
	}
	must(t, l.Close())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open([]Source{{Path: "x", OSPath: path}}).Scan(ctx); err != context.Canceled {
		t.Errorf("a cancelled scan: %v", err)
	}
	for _, err := range l.Read(ctx, 0, 1) {
		if err != context.Canceled {
			t.Errorf("a cancelled read: %v", err)
		}
	}
}
