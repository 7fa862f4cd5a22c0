package snapshot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	etcdwal "go.etcd.io/etcd/server/v3/storage/wal"
)

// loadAll loads databases, WAL segments and raft snapshots, told by their names.
func loadAll(t testing.TB, paths ...string) *History {
	t.Helper()
	var files []File
	for _, p := range paths {
		f := File{Input: "x", Path: filepath.ToSlash(p), OSPath: p}
		switch {
		case strings.HasSuffix(p, ".wal"), strings.HasSuffix(p, ".tmp"):
			f.Kind = Segment
		case strings.HasSuffix(p, ".snap"):
			f.Kind = RaftSnapshot
		}
		files = append(files, f)
	}
	h, err := Load(context.Background(), files, Options{})
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return h
}

// glob lists files; it fails if there are none.
func glob(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	must(t, err)
	if len(list) == 0 {
		t.Fatalf("no %s", pattern)
	}
	return list
}

// wild makes random changes of every kind, of which some fail.
func wild(ctx context.Context, t *testing.T, c *clientv3.Client, r *rand.Rand, n int) {
	t.Helper()
	lease, err := c.Grant(ctx, 3600)
	must(t, err)
	key := func() string { return fmt.Sprint("/registry/pods/default/p", r.IntN(40)) }
	for range n {
		k, v := key(), strings.Repeat("v", r.IntN(900))
		var err error
		switch r.IntN(12) {
		case 0:
			_, err = c.Delete(ctx, k)
		case 1:
			_, err = c.Delete(ctx, "/registry/pods/default/p1", clientv3.WithPrefix())
		case 2: // as API servers write, at times with a lost race
			var g *clientv3.GetResponse
			if g, err = c.Get(ctx, k); err == nil && len(g.Kvs) == 1 {
				_, err = c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(k), "=", g.Kvs[0].ModRevision)).Then(clientv3.OpPut(k, v)).Else(clientv3.OpGet(k)).Commit()
				must(t, err)
			}
			if r.IntN(4) == 0 {
				_, err = c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(k), "=", 999_999)).Then(clientv3.OpPut(k, v)).Else(clientv3.OpGet(k)).Commit()
			}
		case 3:
			_, err = c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(k), "=", 0)).Then(clientv3.OpPut(k, v)).Else(clientv3.OpGet(k)).Commit()
		case 4:
			_, err = c.Put(ctx, k, v, clientv3.WithLease(lease.ID))
		case 5:
			_, err = c.Txn(ctx).Then(clientv3.OpPut("/registry/a", v), clientv3.OpPut("/registry/b", v), clientv3.OpDelete(k)).Commit()
		case 6:
			_, _ = c.Put(ctx, k, v, clientv3.WithLease(12345)) // there is no such lease
		case 7:
			if r.IntN(10) == 0 {
				_, err = c.Revoke(ctx, lease.ID)
				must(t, err)
				lease, err = c.Grant(ctx, 3600)
			}
		default:
			_, err = c.Put(ctx, k, v)
		}
		must(t, err)
	}
}

// TestWALAgainstEtcd compares what is replayed of an etcd's log with what a watch
// has seen, over several segments, raft snapshots and a compaction.
func TestWALAgainstEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an etcd")
	}
	old := etcdwal.SegmentSizeBytes
	etcdwal.SegmentSizeBytes = 64 << 10
	t.Cleanup(func() { etcdwal.SegmentSizeBytes = old })
	ctx := context.Background()
	server, client, stop := startEtcd(t, func(c *embed.Config) { c.SnapshotCount, c.MaxWalFiles = 200, 0 })
	random := rand.New(rand.NewPCG(7, 7))
	wild(ctx, t, client, random, 500)
	middle := save(ctx, t, client, filepath.Join(t.TempDir(), "middle.db"))
	wild(ctx, t, client, random, 500)
	g, err := client.Get(ctx, "/registry/a")
	must(t, err)
	all := watched(ctx, t, client, 1, g.Header.Revision)
	_, err = client.Compact(ctx, g.Header.Revision, clientv3.WithCompactPhysical())
	must(t, err)
	stop()
	member := filepath.Join(server.Config().Dir, "member")
	segments := glob(t, filepath.Join(member, "wal", "*.wal"))
	db := filepath.Join(member, "snap", "db")
	if len(segments) < 5 {
		t.Fatalf("%d segments: the test shows little", len(segments))
	}

	t.Run("the log alone", func(t *testing.T) {
		h := loadAll(t, segments...)
		if d := cmp.Diff(all, asWatched(t, h, 0)); d != "" {
			t.Errorf("-watch +history:\n%.3000s", d)
		}
		if h.CompactRevision() != 0 || h.Last() != g.Header.Revision || len(h.WALs()[0].Problems) > 0 {
			t.Errorf("floor %d, last %d, problems %v", h.CompactRevision(), h.Last(), h.WALs()[0].Problems)
		}
	})
	t.Run("with the database and raft snapshots", func(t *testing.T) {
		h := loadAll(t, slices.Concat(segments, []string{db}, glob(t, filepath.Join(member, "snap", "*.snap")))...)
		if d := cmp.Diff(all, asWatched(t, h, 0)); d != "" {
			t.Errorf("-watch +history:\n%.3000s", d)
		}
		for i := range h.Len() {
			r := h.At(i)
			if !r.WAL {
				t.Fatalf("no entry makes %+v", r)
			}
			if n, ok := h.EntryOfRevision(r.Main); !ok || h.Entry(n).Revision != r.Main || h.Entry(n).State != EntryApplied {
				t.Fatalf("revision %d is made by entry %d", r.Main, n)
			}
		}
		if h.CompactRevision() != 0 || len(h.WALs()[0].Problems) > 0 || len(h.Stores()[0].Problems) > 0 {
			t.Errorf("floor %d, problems %v %v", h.CompactRevision(), h.WALs()[0].Problems, h.Stores()[0].Problems)
		}
		sum, err := h.CompactionHash(ctx, g.Header.Revision, -1, TombstoneSkipped)
		must(t, err)
		if sum == 0 {
			t.Error("no hash")
		}
	})
	t.Run("the end of the log behind a database of the middle", func(t *testing.T) {
		h := loadAll(t, append(slices.Clone(segments[1:]), middle)...)
		at := h.Stores()[0].Last
		if d := cmp.Diff(above(all, at), asWatched(t, h, at)); d != "" {
			t.Errorf("-watch +history:\n%.3000s", d)
		}
		if n := subset(t, all, asWatched(t, h, 0)); n < len(all)*9/10 {
			t.Errorf("%d of %d revisions", n, len(all))
		}
	})
	t.Run("the end of the log and the compacted database", func(t *testing.T) {
		h := loadAll(t, append(slices.Clone(segments[1:]), db)...)
		subset(t, all, asWatched(t, h, 0))
	})
	t.Run("a damaged entry", func(t *testing.T) {
		dir := t.TempDir()
		var copies []string
		for i, s := range segments {
			b, err := os.ReadFile(s)
			must(t, err)
			if i == 2 {
				b[len(b)/2] ^= 1
			}
			copies = append(copies, filepath.Join(dir, filepath.Base(s)))
			must(t, os.WriteFile(copies[i], b, 0o600))
		}
		h := loadAll(t, copies...)
		n := subset(t, all, asWatched(t, h, 0))
		if len(h.WALs()[0].Problems) == 0 || n == len(all) || n < len(all)/10 {
			t.Errorf("%d of %d revisions, problems %v", n, len(all), h.WALs()[0].Problems)
		}
	})
	t.Run("beside the database of another cluster", func(t *testing.T) {
		e := newEtcdStore().schema("3.6")
		for i := range 50 {
			e.put(fmt.Sprint("/registry/pods/other/", i), "other")
		}
		e.member(0xabc)
		h := loadAll(t, append(slices.Clone(segments), e.file(t, filepath.Join(t.TempDir(), "db")))...)
		if w := h.WALs()[0]; !strings.Contains(w.Rejected, "which no store knows") || h.Last() != 51 {
			t.Errorf("rejected %q, last revision %d", w.Rejected, h.Last())
		}
	})
}

// above are the lines of watched above a revision.
func above(lines []string, at int64) (list []string) {
	for _, l := range lines {
		var main int64
		_, _ = fmt.Sscan(strings.NewReplacer("_", " ").Replace(l), &main)
		if main > at {
			list = append(list, l)
		}
	}
	return list
}

// subset makes sure that every line of a history is true, and counts them. What is
// not known of a lifetime may be missing.
func subset(t *testing.T, all, got []string) int {
	t.Helper()
	known := map[string]bool{}
	for _, l := range all {
		known[l] = true
		f := strings.SplitN(l, " ", 7)
		known[strings.Join([]string{f[0], f[1], f[2], "0 0", f[5], f[6]}, " ")] = true
	}
	for _, l := range got {
		if !known[l] {
			t.Fatalf("never written: %.200s", l)
		}
	}
	return len(got)
}
