package snapshot

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// release is an etcd to run, and what its stores are like.
type release struct {
	version string // of the binary, as it prints it
	// module is the module file of the command oldetcd that builds it, "" for a
	// binary that is installed.
	module string
	schema string
	rule   TombstoneRule
}

var releases = []release{
	{version: "3.4.", schema: "3.4", rule: TombstoneHashed},
	{version: "3.5.", module: "v35.mod", schema: "3.5", rule: TombstoneSkipped},
	{version: "3.6.", module: "go.mod", schema: "3.6", rule: TombstoneSkipped},
}

// binary finds or builds the release; it skips the test where that is not to be had
// here: of etcd 3.4 there is no module, but Debian has it (etcd-server).
func (r release) binary(t *testing.T) string {
	t.Helper()
	if r.module == "" {
		path, err := exec.LookPath("etcd")
		if err != nil {
			t.Skip("no etcd is installed")
		}
		if out, _ := exec.Command(path, "--version").Output(); !strings.HasPrefix(string(out), "etcd Version: "+r.version) {
			t.Skipf("the etcd that is installed is not %s: %.40s", r.version, out)
		}
		return path
	}
	path := filepath.Join(t.TempDir(), "etcd")
	build := exec.Command("go", "build", "-modfile="+r.module, "-o", path, ".")
	build.Dir = "oldetcd"
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("etcd %s cannot be built here: %s", r.version, out)
	}
	return path
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { must(t, l.Close()) }()
	return l.Addr().String()
}

// run starts the release with a data folder; stop ends it.
func (r release) run(t *testing.T, binary, data string) (c *clientv3.Client, stop func()) {
	t.Helper()
	client, peer := "http://"+freeAddress(t), "http://"+freeAddress(t)
	cmd := exec.Command(binary, "--name=old", "--data-dir="+data, "--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=old="+peer, "--snapshot-count=40")
	cmd.Env = append(os.Environ(), "ETCD_UNSUPPORTED_ARCH=arm64")
	must(t, cmd.Start())
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{strings.TrimPrefix(client, "http://")}, Logger: zap.NewNop()})
	must(t, err)
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		must(t, c.Close())
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		_ = cmd.Wait()
	}
	t.Cleanup(stop)
	for range 300 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err = c.Get(ctx, "health")
		cancel()
		if err == nil {
			return c, stop
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("etcd does not start: %v", err)
	return nil, nil
}

// TestReleases compares what is read of the stores and logs of older releases with
// what those say themselves.
func TestReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("runs etcds")
	}
	for _, r := range releases {
		t.Run(r.schema, func(t *testing.T) {
			t.Parallel()
			r.check(t)
		})
	}
}

func (r release) check(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	c, stop := r.run(t, r.binary(t), data)
	middle := exercise(ctx, t, c)
	g, err := c.Get(ctx, "/registry/a")
	must(t, err)
	last := g.Header.Revision
	all := watched(ctx, t, c, 1, last)
	before := load(t, save(ctx, t, c, filepath.Join(dir, "before.db")))
	if d := cmp.Diff(all, asWatched(t, before, 0)); d != "" {
		t.Errorf("before compaction (-watch +history):\n%.2000s", d)
	}
	checkTombstones(ctx, t, c, before)
	r.hash(ctx, t, c, before, last)
	r.hash(ctx, t, c, before, middle)

	_, err = c.Compact(ctx, middle, clientv3.WithCompactPhysical())
	must(t, err)
	after := load(t, save(ctx, t, c, filepath.Join(dir, "after.db")))
	if d := cmp.Diff(above(all, middle), asWatched(t, after, middle)); d != "" {
		t.Errorf("after compaction (-watch +history):\n%.2000s", d)
	}
	subset(t, all, asWatched(t, after, 0))
	r.hash(ctx, t, c, after, last)
	s := after.Stores()[0]
	if !*s.HashOK || s.Schema != r.schema || s.CompactRevision != middle || len(s.Members) != 1 || s.Members[0].Name != "old" || len(s.Leases) != 1 || len(s.Problems) > 0 {
		t.Errorf("store: %+v", s)
	}
	if low, at := s.Leases[0].Granted(); time.Since(at) > time.Hour || s.Granter(s.Leases[0]) != s.Members[0].ID {
		t.Errorf("lease %x is granted by %x at %s", s.Leases[0].ID, low, at)
	}

	stop()
	member := filepath.Join(data, "member")
	files := append(glob(t, filepath.Join(member, "wal", "*.wal")), glob(t, filepath.Join(member, "snap", "*.snap"))...)
	log := loadAll(t, files...)
	if d := cmp.Diff(all, asWatched(t, log, 0)); d != "" {
		t.Errorf("the log alone (-watch +history):\n%.2000s", d)
	}
	whole := loadAll(t, append(files, filepath.Join(member, "snap", "db"))...)
	if d := cmp.Diff(all, asWatched(t, whole, 0)); d != "" || whole.CompactRevision() != 0 {
		t.Errorf("the folder, complete above %d (-watch +history):\n%.2000s", whole.CompactRevision(), d)
	}
	for _, w := range whole.WALs() {
		if len(w.Problems) > 0 || w.Rejected != "" {
			t.Errorf("log: %v %s", w.Problems, w.Rejected)
		}
	}
	for _, x := range whole.RaftSnaps() {
		if x.Problem != "" || x.Index == 0 || len(x.Members) != 1 || x.Members[0].Name != "old" {
			t.Errorf("raft snapshot: %+v", x)
		}
	}
	if n := len(whole.RaftSnaps()); n == 0 {
		t.Error("no raft snapshot")
	}
	live := load(t, filepath.Join(member, "snap", "db"))
	if x := live.Stores()[0]; x.Last != last || len(x.Problems) > 0 || strings.Join(x.UnknownBuckets, "") != "" {
		t.Errorf("the member's file: %+v", x)
	}
}

// hash compares the HashKV of a revision with what the server says.
func (r release) hash(ctx context.Context, t *testing.T, c *clientv3.Client, h *History, rev int64) {
	t.Helper()
	want, err := c.HashKV(ctx, c.Endpoints()[0], rev)
	must(t, err)
	got, compact, err := h.HashKVBy(0, rev, r.rule)
	must(t, err)
	if compact != max(want.CompactRevision, 0) {
		t.Errorf("revision %d: compacted at %d, etcd says %d", rev, compact, want.CompactRevision)
	}
	if got != want.Hash {
		t.Errorf("%s", fmt.Sprintf("revision %d, compacted at %d: hash %d, etcd says %d", rev, compact, got, want.Hash))
	}
}
