package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// smallSegments makes etcd begin a new segment of its log after so many bytes.
func smallSegments(t testing.TB, size int64) {
	was := wal.SegmentSizeBytes
	wal.SegmentSizeBytes = size
	t.Cleanup(func() { wal.SegmentSizeBytes = was })
}

// quickConfig is that of a member that elects fast and snapshots often.
func quickConfig(t testing.TB, name, data string) *embed.Config {
	t.Helper()
	sockets, err := os.MkdirTemp("", "etcd") // the path of a socket has to be short
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(sockets)) })
	config := embed.NewConfig()
	config.Name, config.Dir = name, data
	config.TickMs, config.ElectionMs = 10, 100
	config.UnsafeNoFsync = true
	config.SnapshotCount, config.SnapshotCatchUpEntries = 200, 50
	config.MaxWalFiles, config.MaxSnapFiles = 0, 0
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	client, peer := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "c")}, url.URL{Scheme: "unix", Path: filepath.Join(sockets, "p")}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(name)
	return config
}

// quickEtcd starts a cluster of one member.
func quickEtcd(t testing.TB, data string) (e *embed.Etcd, c *clientv3.Client, stop func()) {
	t.Helper()
	e, err := embed.StartEtcd(quickConfig(t, "one", data))
	must(t, err)
	stop = sync.OnceFunc(e.Close)
	t.Cleanup(stop)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		t.Fatal("etcd does not start")
	}
	return e, v3client.New(e.Server), stop
}

// watching collects what a watch sees from the first revision on. The function
// that it returns waits for a revision and returns a line for each change.
func watching(ctx context.Context, t testing.TB, c *clientv3.Client) func(last int64) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	t.Cleanup(cancel)
	var mu sync.Mutex
	var lines []string
	var at int64
	subs := map[int64]int64{}
	events := c.Watch(ctx, "/", clientv3.WithPrefix(), clientv3.WithRev(1))
	go func() {
		for r := range events {
			mu.Lock()
			for _, e := range r.Events {
				main := e.Kv.ModRevision
				lines = append(lines, fmt.Sprintf("%s %s %s %d %d %d %q", revisionName(main, subs[main]), e.Type, e.Kv.Key,
					e.Kv.CreateRevision, e.Kv.Version, e.Kv.Lease, e.Kv.Value))
				subs[main]++
				at = main
			}
			mu.Unlock()
		}
	}()
	return func(last int64) []string {
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			mu.Lock()
			if at >= last {
				defer mu.Unlock()
				return lines
			}
			mu.Unlock()
			if time.Now().After(deadline) {
				t.Fatalf("the watch does not get to revision %d", last)
			}
		}
	}
}

// writer makes random requests, some of which etcd refuses.
type writer struct {
	t      testing.TB
	c      *clientv3.Client
	rand   *rand.Rand
	leases []clientv3.LeaseID
	rev    int64 // about the current one
	// seen is that of watching: nothing is compacted that it has not got.
	seen func(last int64) []string
}

func newWriter(t testing.TB, c *clientv3.Client, seed uint64, seen func(int64) []string) *writer {
	return &writer{t: t, c: c, seen: seen, rand: rand.New(rand.NewPCG(seed, 0)), leases: []clientv3.LeaseID{0, 0, 12345}}
}

func (w *writer) one(n int) bool { return w.rand.IntN(n) == 0 }
func (w *writer) key() string    { return fmt.Sprintf("/registry/k/%02d", w.rand.IntN(30)) }
func (w *writer) value() string  { return strings.Repeat(fmt.Sprint(w.rand.IntN(4)), w.rand.IntN(600)) }
func (w *writer) lease() clientv3.LeaseID {
	return w.leases[w.rand.IntN(len(w.leases))]
}

// run makes n requests and returns the revision after the last.
func (w *writer) run(ctx context.Context, n int) int64 {
	for range n {
		switch at := w.rand.IntN(100); {
		case at < 40:
			w.put(ctx)
		case at < 55:
			w.del(ctx)
		case at < 90:
			w.txn(ctx)
		case at < 95:
			w.grant(ctx)
		case at < 97:
			_, _ = w.c.Revoke(ctx, w.lease())
		default:
			w.seen(w.rev)
			_, _ = w.c.Compact(ctx, w.rev-w.rand.Int64N(80)+10, clientv3.WithCompactPhysical())
		}
	}
	r, err := w.c.Get(ctx, "/none")
	must(w.t, err)
	w.rev = r.Header.Revision
	return w.rev
}

func (w *writer) put(ctx context.Context) {
	r, err := w.c.Do(ctx, w.putOp())
	if err == nil {
		w.rev = r.Put().Header.Revision
	}
}

// putOp is a put that may keep the value or the lease of a key which only puts
// touch: etcd 3.7.3 panics if the same txn deletes that key.
func (w *writer) putOp() clientv3.Op {
	kept := fmt.Sprint("/registry/kept/", w.rand.IntN(4))
	switch {
	case w.one(8):
		return clientv3.OpPut(kept, "", clientv3.WithIgnoreValue(), clientv3.WithLease(w.lease()))
	case w.one(8):
		return clientv3.OpPut(kept, w.value(), clientv3.WithIgnoreLease())
	case w.one(8):
		return clientv3.OpPut(kept, w.value())
	}
	return clientv3.OpPut(w.key(), w.value(), clientv3.WithLease(w.lease()))
}

func (w *writer) del(ctx context.Context) {
	var options []clientv3.OpOption
	if w.one(4) {
		options = append(options, clientv3.WithRange("/registry/k/99"))
	}
	r, err := w.c.Delete(ctx, w.key(), options...)
	must(w.t, err)
	w.rev = r.Header.Revision
}

func (w *writer) txn(ctx context.Context) {
	key := w.key()
	compare := clientv3.Compare(clientv3.ModRevision(key), "=", w.modOf(ctx, key))
	then := []clientv3.Op{clientv3.OpPut(key, w.value(), clientv3.WithLease(w.lease()))}
	switch {
	case w.one(6):
		compare = clientv3.Compare(clientv3.Value(key), "<", "2")
	case w.one(6):
		then = []clientv3.Op{clientv3.OpDelete(key)}
	case w.one(6):
		then = append(then, clientv3.OpPut("/registry/a", w.value()), clientv3.OpDelete("/registry/b"), clientv3.OpPut("/registry/c", w.value()))
	}
	r, err := w.c.Txn(ctx).If(compare).Then(then...).Else(clientv3.OpGet(key)).Commit()
	if err == nil {
		w.rev = r.Header.Revision
	}
}

// modOf is the key's mod_revision, or for one in six a wrong one.
func (w *writer) modOf(ctx context.Context, key string) int64 {
	if w.one(6) {
		return max(w.rev-w.rand.Int64N(5), 1)
	}
	r, err := w.c.Get(ctx, key)
	must(w.t, err)
	if len(r.Kvs) == 0 {
		return 0
	}
	return r.Kvs[0].ModRevision
}

func (w *writer) grant(ctx context.Context) {
	ttl := int64(3600)
	if w.one(3) {
		ttl = 1 // it expires while the test runs, or later
	}
	l, err := w.c.Grant(ctx, ttl)
	must(w.t, err)
	w.leases = append(w.leases, l.ID)
}

// walFiles are the files of the WAL of a data directory, as a bundle has them.
func walFiles(t testing.TB, input, data string) []File {
	t.Helper()
	dir := filepath.Join(data, "member", "wal")
	list, err := os.ReadDir(dir)
	must(t, err)
	var files []File
	for _, f := range list {
		files = append(files, File{Input: input, Path: "member/wal/" + f.Name(), OSPath: filepath.Join(dir, f.Name()), Kind: Segment})
	}
	return files
}

// segmentsOf drops the files that are no segments of a log.
func segmentsOf(files []File) []File {
	var list []File
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".wal") {
			list = append(list, f)
		}
	}
	return list
}

// dbFile is the backend of a data directory.
func dbFile(input, data string) File {
	return File{Input: input, Path: "member/snap/db", OSPath: filepath.Join(data, "member", "snap", "db")}
}

// copyDir copies a data directory, but no sockets.
func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	must(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSocket != 0 {
			return err
		}
		rel, err := filepath.Rel(from, path)
		must(t, err)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		b, err := os.ReadFile(path)
		must(t, err)
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	}))
	return to
}

// loadFiles loads files of any kind.
func loadFiles(t testing.TB, files ...File) *History {
	t.Helper()
	h, err := Load(context.Background(), files, Options{LockTimeout: 50e6})
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return h
}
