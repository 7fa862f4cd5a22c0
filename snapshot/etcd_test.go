package snapshot

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"
)

// startEtcd runs a cluster of one member. stop ends it; the end of the test does
// too.
func startEtcd(t *testing.T, options ...func(*embed.Config)) (e *embed.Etcd, c *clientv3.Client, stop func()) {
	t.Helper()
	dir := t.TempDir()
	config := embed.NewConfig()
	config.Dir = filepath.Join(dir, "data")
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	client := url.URL{Scheme: "unix", Path: filepath.Join(dir, "c")}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(dir, "p")}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	for _, option := range options {
		option(config)
	}
	e, err := embed.StartEtcd(config)
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

// exercise makes every kind of change and returns a revision in the middle.
func exercise(ctx context.Context, t *testing.T, c *clientv3.Client) (middle int64) {
	t.Helper()
	lease, err := c.Grant(ctx, 3600)
	must(t, err)
	for i := range 60 {
		_, err := c.Put(ctx, fmt.Sprint("/registry/pods/default/p", i%20), strings.Repeat("v", i*40))
		must(t, err)
		if i%7 == 0 {
			_, err := c.Delete(ctx, fmt.Sprint("/registry/pods/default/p", i%20))
			must(t, err)
		}
		if i%9 == 0 {
			_, err := c.Put(ctx, fmt.Sprint("/registry/events/default/e", i), "event", clientv3.WithLease(lease.ID))
			must(t, err)
		}
		if i == 30 {
			r, err := c.Txn(ctx).Then(
				clientv3.OpPut("/registry/a", "1"), clientv3.OpPut("/registry/b", "2"), clientv3.OpDelete("/registry/pods/default/p3"),
			).Commit()
			must(t, err)
			middle = r.Header.Revision
		}
	}
	_, err = c.Revoke(ctx, lease.ID)
	must(t, err)
	_, err = c.Grant(ctx, 600)
	must(t, err)
	_, err = c.Delete(ctx, "/registry/", clientv3.WithPrefix())
	must(t, err)
	_, err = c.Put(ctx, "/registry/a", "last")
	must(t, err)
	return middle
}

// watched returns what a watch sees from a revision up to another.
func watched(ctx context.Context, t *testing.T, c *clientv3.Client, from, to int64) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var lines []string
	subs := map[int64]int64{}
	for r := range c.Watch(ctx, "/", clientv3.WithPrefix(), clientv3.WithRev(from)) {
		must(t, r.Err())
		for _, e := range r.Events {
			main := e.Kv.ModRevision
			lines = append(lines, fmt.Sprintf("%s %s %s %d %d %d %q", revisionName(main, subs[main]), e.Type, e.Kv.Key,
				e.Kv.CreateRevision, e.Kv.Version, e.Kv.Lease, e.Kv.Value))
			subs[main]++
		}
		if last := r.Events[len(r.Events)-1].Kv.ModRevision; last == to {
			return lines
		}
	}
	t.Fatalf("the watch ended: %v", ctx.Err())
	return nil
}

// asWatched writes what a history has above a revision as watched does.
func asWatched(t *testing.T, h *History, above int64) []string {
	t.Helper()
	var lines []string
	for i := range h.Len() {
		r := h.At(i)
		if r.Main <= above {
			continue
		}
		value, err := h.Value(i)
		must(t, err)
		if r.Tombstone { // a watch says nothing of the lifetime that ended
			lines = append(lines, fmt.Sprintf("%s DELETE %s 0 0 0 %q", revisionName(r.Main, r.Sub), r.Key, value))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s PUT %s %d %d %d %q", revisionName(r.Main, r.Sub), r.Key, r.Create, r.Version, r.Lease, value))
	}
	return lines
}

// save takes a snapshot over the maintenance API.
func save(ctx context.Context, t *testing.T, c *clientv3.Client, path string) string {
	t.Helper()
	r, err := c.Snapshot(ctx)
	must(t, err)
	out, err := os.Create(path)
	must(t, err)
	_, err = io.Copy(out, r)
	must(t, err)
	must(t, r.Close())
	must(t, out.Close())
	return path
}

// TestAgainstEtcd compares histories with what a real etcd says of itself.
func TestAgainstEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an etcd")
	}
	ctx := context.Background()
	dir := t.TempDir()
	server, client, stop := startEtcd(t)
	middle := exercise(ctx, t, client)
	get, err := client.Get(ctx, "/registry/a")
	must(t, err)
	last := get.Header.Revision
	all := watched(ctx, t, client, 1, last)

	before := load(t, save(ctx, t, client, filepath.Join(dir, "before.db")))
	if d := cmp.Diff(all, asWatched(t, before, 0)); d != "" {
		t.Errorf("before compaction (-watch +history):\n%s", d)
	}
	checkTombstones(ctx, t, client, before)
	rangesAgree(ctx, t, client, before, 1)

	_, err = client.Compact(ctx, middle, clientv3.WithCompactPhysical())
	must(t, err)
	after := load(t, save(ctx, t, client, filepath.Join(dir, "after.db")))
	if d := cmp.Diff(watched(ctx, t, client, middle+1, last), asWatched(t, after, middle)); d != "" {
		t.Errorf("after compaction (-watch +history):\n%s", d)
	}
	if after.CompactRevision() != middle || after.Last() != last {
		t.Errorf("compacted %d, last %d; want %d and %d", after.CompactRevision(), after.Last(), middle, last)
	}
	rangesAgree(ctx, t, client, after, middle)

	s := after.Stores()[0]
	if !*s.HashOK || s.Schema != "3.7" || len(s.Members) != 1 || len(s.Leases) != 1 || s.Leases[0].TTL != 10*time.Minute || len(s.Problems) > 0 {
		t.Errorf("store: %+v", s)
	}
	if id := server.Server.MemberID().String(); len(s.Members) == 1 && !strings.HasSuffix(s.Members[0].ID, id) {
		t.Errorf("member %s, want %s", s.Members[0].ID, id)
	}

	live := filepath.Join(server.Config().Dir, "member", "snap", "db")
	if s := load(t, live).Stores()[0]; !strings.HasPrefix(s.Salvaged, "locked by another process") || s.Last != last {
		t.Errorf("the file of the running etcd: %+v", s)
	}
	stop()
	merged := load(t, live, filepath.Join(dir, "before.db"), filepath.Join(dir, "after.db"))
	if d := cmp.Diff(all, asWatched(t, merged, 0)); d != "" {
		t.Errorf("merged with the member's file (-watch +history):\n%s", d)
	}
	if merged.CompactRevision() != 0 {
		t.Errorf("merged floor %d", merged.CompactRevision())
	}
}

// rangesAgree compares what is alive at each revision from one on with what etcd
// answers to a range.
func rangesAgree(ctx context.Context, t *testing.T, c *clientv3.Client, h *History, from int64) {
	t.Helper()
	for rev := from; rev <= h.Last(); rev++ {
		g, err := c.Get(ctx, "\x00", clientv3.WithFromKey(), clientv3.WithRev(rev))
		must(t, err)
		var want []string
		for _, kv := range g.Kvs {
			want = append(want, fmt.Sprintf("%s %d %d %d %d %q", kv.Key, kv.CreateRevision, kv.ModRevision, kv.Version, kv.Lease, kv.Value))
		}
		if d := cmp.Diff(want, aliveAt(t, h, rev)); d != "" {
			t.Fatalf("%s, range at revision %d (-etcd +history):\n%.2000s", h.Stores()[0].Path, rev, d)
		}
	}
}

// aliveAt writes what is alive at a revision as rangesAgree does. Carved records
// are of no use to it: of a key that was deleted the put may be there and the
// tombstone not.
func aliveAt(t *testing.T, h *History, rev int64) []string {
	t.Helper()
	var lines []string
	for _, key := range h.Keys() {
		newest := -1
		for _, i := range h.Key(key) {
			if r := h.At(i); r.Main <= rev && !r.Carved {
				newest = i
			}
		}
		if newest < 0 || h.At(newest).Tombstone {
			continue
		}
		value, err := h.Value(newest)
		must(t, err)
		r := h.At(newest)
		lines = append(lines, fmt.Sprintf("%s %d %d %d %d %q", r.Key, r.Create, r.Main, r.Version, r.Lease, value))
	}
	return lines
}

// checkTombstones asks etcd for each deleted key one revision before its end.
func checkTombstones(ctx context.Context, t *testing.T, c *clientv3.Client, h *History) {
	t.Helper()
	tombstones := 0
	for i := range h.Len() {
		r := h.At(i)
		if !r.Tombstone {
			continue
		}
		tombstones++
		g, err := c.Get(ctx, r.Key, clientv3.WithRev(r.Main-1))
		must(t, err)
		if len(g.Kvs) != 1 || g.Kvs[0].CreateRevision != r.Create || g.Kvs[0].Version != r.Version || g.Kvs[0].Lease != r.Lease {
			t.Errorf("%+v ends %v", r, g.Kvs)
		}
		if at := h.Key(r.Key); !slices.Contains(at, i) {
			t.Errorf("%s is not among the revisions of its key", r.Key)
		}
	}
	if tombstones == 0 {
		t.Error("no tombstones")
	}
}
