package peertest

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	etcdutl "go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"

	"etcd-autopsy/snapshot"
)

// restoreName, restoreURL and the default token make the IDs of member and cluster:
// those of the restored one are those of the one before.
const (
	restoreName = "one"
	restoreURL  = "http://127.0.0.1:0"
)

// runEtcd runs an etcd on a data directory while f uses it.
func runEtcd(t *testing.T, data string, f func(ctx context.Context, c *clientv3.Client)) {
	t.Helper()
	sockets, err := os.MkdirTemp("", "etcd")
	must(t, err)
	defer func() { must(t, os.RemoveAll(sockets)) }()
	config := embed.NewConfig()
	config.Name, config.Dir = restoreName, data
	config.TickMs, config.ElectionMs = 10, 100
	config.UnsafeNoFsync = true
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	peer, err := url.Parse(restoreURL)
	must(t, err)
	client := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "c")}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	config.InitialCluster = config.InitialClusterFromName(restoreName)
	e, err := embed.StartEtcd(config)
	must(t, err)
	defer e.Close()
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		t.Fatal("etcd does not start")
	}
	f(context.Background(), v3client.New(e.Server))
}

// write puts some keys and updates them as the API server does; it returns a line
// for each revision.
func write(ctx context.Context, t *testing.T, c *clientv3.Client, n int, text string) (lines []string) {
	t.Helper()
	for i := range n {
		key := fmt.Sprint("/registry/k", i%7)
		g, err := c.Get(ctx, key)
		must(t, err)
		var mod int64
		if len(g.Kvs) > 0 {
			mod = g.Kvs[0].ModRevision
		}
		value := fmt.Sprint(text, i)
		r, err := c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", mod)).Then(clientv3.OpPut(key, value)).Commit()
		must(t, err)
		lines = append(lines, fmt.Sprint(r.Header.Revision, " ", key, " ", value))
	}
	return lines
}

// segments are those of a data directory's WAL.
func segments(t *testing.T, input, data string) (files []snapshot.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(data, "member", "wal", "*.wal"))
	must(t, err)
	for _, p := range paths {
		files = append(files, snapshot.File{Input: input, Path: "member/wal/" + filepath.Base(p), OSPath: p, Kind: snapshot.Segment})
	}
	return files
}

// copyFile copies a file and returns it as an input.
func copyFile(t *testing.T, name, from string) snapshot.File {
	t.Helper()
	b, err := os.ReadFile(from)
	must(t, err)
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, b, 0o600))
	return snapshot.File{Input: name, Path: name, OSPath: path}
}

// TestRestored has a cluster that was restored from a snapshot and goes on under
// the IDs of the one before. Its log says nothing of what was restored.
func TestRestored(t *testing.T) {
	old, restored := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "restored")
	saved := filepath.Join(t.TempDir(), "saved.db")
	var truth []string
	runEtcd(t, old, func(ctx context.Context, c *clientv3.Client) {
		truth = write(ctx, t, c, 60, "before")
		r, err := c.Snapshot(ctx)
		must(t, err)
		f, err := os.Create(saved)
		must(t, err)
		_, err = io.Copy(f, r)
		must(t, err)
		must(t, f.Close())
		write(ctx, t, c, 20, "undone")
	})
	must(t, etcdutl.NewV3(zap.NewNop()).Restore(etcdutl.RestoreConfig{
		SnapshotPath: saved, Name: restoreName, OutputDataDir: restored, PeerURLs: []string{restoreURL},
		InitialCluster: restoreName + "=" + restoreURL, InitialClusterToken: embed.NewConfig().InitialClusterToken,
	}))
	before := copyFile(t, "saved.db", saved)
	fresh := copyFile(t, "fresh.db", filepath.Join(restored, "member", "snap", "db"))
	runEtcd(t, restored, func(ctx context.Context, c *clientv3.Client) {
		truth = append(truth, write(ctx, t, c, 120, "after")...)
	})
	after := copyFile(t, "after.db", filepath.Join(restored, "member", "snap", "db"))
	log, oldLog := segments(t, "new", restored), segments(t, "old", old)

	tests := []struct {
		name  string
		files []snapshot.File
		// logged counts the revisions that the logs are said to make. The last
		// store places all writes but the first few: each names the revision of
		// the one before it on its key.
		logged int
	}{
		{"log alone", log, 0},
		{"with the snapshot that was restored", append(slices.Clone(log), before), 0},
		{"with the store as it was restored", append(slices.Clone(log), fresh), 120},
		{"with the last store", append(slices.Clone(log), after), 116},
		{"with all stores", append(slices.Clone(log), before, fresh, after), 120},
		{"both logs and the last store", append(slices.Concat(log, oldLog), after), 116},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := snapshot.Load(context.Background(), tt.files, snapshot.Options{})
			must(t, err)
			defer func() { must(t, h.Close()) }()
			logged := 0
			for i := range h.Len() {
				r := h.At(i)
				value, err := h.Value(i)
				must(t, err)
				if line := fmt.Sprint(r.Main, " ", r.Key, " ", string(value)); !slices.Contains(truth, line) {
					t.Errorf("invented: %s", line)
				}
				if r.WAL {
					logged++
				}
			}
			var problems []string
			for _, l := range h.WALs() {
				problems = append(problems, l.Problems...)
				problems = append(problems, l.Rejected)
			}
			if logged != tt.logged {
				t.Errorf("the log makes %d revisions, want %d: %q", logged, tt.logged, problems)
			}
			if tt.logged == 0 && !strings.Contains(strings.Join(problems, "\n"), "no revisions are replayed of") {
				t.Errorf("nothing says that the log makes no revisions: %q", problems)
			}
			t.Logf("%d of %d revisions are the log's; %q", logged, h.Len(), problems)
		})
	}
}
