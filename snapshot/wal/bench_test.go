package wal

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	etcdwal "go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

var walFlag = flag.String("wal", "", "a WAL folder to run the benchmarks on")

// busy has etcd write a log of updates as an API server makes them: objects of one
// to eight KiB, in about so many bytes.
func busy(b *testing.B, size int64) string {
	b.Helper()
	if *walFlag != "" {
		return *walFlag
	}
	dir := filepath.Join(b.TempDir(), "wal")
	w, err := etcdwal.Create(zap.NewNop(), dir, []byte{8, 7, 16, 9})
	must(b, err)
	w.SetUnsafeNoFsync()
	r := rand.New(rand.NewPCG(1, 1))
	value := make([]byte, 8<<10)
	for i := range value {
		value[i] = byte(r.Uint32())
	}
	index := uint64(0)
	for written := int64(0); written < size; {
		var batch []*raftpb.Entry
		for range 1 + r.IntN(8) {
			index++
			key := []byte(fmt.Sprintf("/registry/pods/namespace-%d/pod-%d", r.IntN(40), r.IntN(2000)))
			v := value[:1<<10+r.IntN(7<<10)]
			put := &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestPut{RequestPut: &etcdserverpb.PutRequest{Key: key, Value: v}}}
			get := &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestRange{RequestRange: &etcdserverpb.RangeRequest{Key: key}}}
			data, err := proto.Marshal(&etcdserverpb.InternalRaftRequest{Header: &etcdserverpb.RequestHeader{ID: index << 8}, Txn: &etcdserverpb.TxnRequest{
				Compare: []*etcdserverpb.Compare{{Target: etcdserverpb.Compare_MOD, Key: key, TargetUnion: &etcdserverpb.Compare_ModRevision{ModRevision: int64(index)}}},
				Success: []*etcdserverpb.RequestOp{put}, Failure: []*etcdserverpb.RequestOp{get},
			}})
			must(b, err)
			batch = append(batch, &raftpb.Entry{Index: proto.Uint64(index), Term: proto.Uint64(2), Data: data})
			written += int64(len(data))
		}
		must(b, w.Save(&raftpb.HardState{Term: proto.Uint64(2), Vote: proto.Uint64(7), Commit: proto.Uint64(index)}, batch))
	}
	must(b, w.Close())
	return dir
}

// BenchmarkWAL compares reading a log (scan, then the entries again) with etcd's
// own reader and the text that etcd-dump-logs makes of each entry.
func BenchmarkWAL(b *testing.B) {
	dir := busy(b, 200<<20)
	took := map[string]time.Duration{}
	run := func(name string, f func() (entries int, size int64)) {
		b.Run(name, func(b *testing.B) {
			entries, size := 0, int64(0)
			b.ReportAllocs()
			for b.Loop() {
				entries, size = f()
			}
			took[name] = b.Elapsed() / time.Duration(b.N)
			b.SetBytes(size)
			b.ReportMetric(float64(entries)/took[name].Seconds(), "entries/s")
			if d := took["dump"]; d > 0 && name != "dump" {
				b.ReportMetric(float64(d)/float64(took[name]), "x-dump-logs")
			}
		})
	}
	size := int64(0)
	run("dump", func() (int, int64) {
		w, err := etcdwal.OpenForRead(zap.NewNop(), dir, &walpb.Snapshot{Index: proto.Uint64(0), Term: proto.Uint64(0)})
		must(b, err)
		_, _, entries, err := w.ReadAll()
		must(b, err)
		size = 0
		for _, e := range entries {
			var r etcdserverpb.InternalRaftRequest
			must(b, proto.Unmarshal(e.Data, &r))
			_, _ = fmt.Fprintf(io.Discard, "%4d\t%10d\tnorm\t%s\n", e.GetTerm(), e.GetIndex(), prototext.MarshalOptions{}.Format(&r))
			size += int64(len(e.Data))
		}
		_ = w.Close()
		return len(entries), size
	})
	files, err := os.ReadDir(dir)
	must(b, err)
	var list []Source
	for _, f := range files {
		list = append(list, Source{Path: f.Name(), OSPath: filepath.Join(dir, f.Name())})
	}
	var l *Log
	run("scan", func() (int, int64) {
		var err error
		l, err = Open(list).Scan(context.Background())
		must(b, err)
		return len(l.Entries), size
	})
	run("read", func() (int, int64) {
		n := 0
		for _, err := range l.Read(context.Background(), 0, len(l.Entries)) {
			must(b, err)
			n++
		}
		return n, size
	})
}
