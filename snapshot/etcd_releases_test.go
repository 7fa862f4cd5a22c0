package snapshot

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
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

// binary finds or builds the release. It skips the test where that is not to be had
// here: of etcd 3.4 there is no module, but Debian has it (etcd-server), and the
// modules of the others may be out of reach.
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
	if out, err := r.tool("list", "-deps").CombinedOutput(); err != nil {
		t.Skipf("the modules of etcd %s are not to be had here: %s", r.version, out)
	}
	if out, err := r.tool("build", "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("build etcd %s: %s", r.version, out)
	}
	return path
}

// tool runs the go command on the module that has the release.
func (r release) tool(command string, flags ...string) *exec.Cmd {
	args := append([]string{command, "-modfile=" + r.module}, flags...)
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = "oldetcd"
	return cmd
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
	all := watched(ctx, t, c, 1, lastOf(ctx, t, c))
	before := load(t, save(ctx, t, c, filepath.Join(dir, "before.db")))
	if d := cmp.Diff(all, asWatched(t, before, 0)); d != "" {
		t.Errorf("before compaction (-watch +history):\n%.2000s", d)
	}
	checkTombstones(ctx, t, c, before)
	rangesAgree(ctx, t, c, before, 1)
	hashesAgree(ctx, t, c, before, 1, r.rule)
	r.position(ctx, t, c, before.Stores()[0])

	_, err := c.Compact(ctx, middle, clientv3.WithCompactPhysical())
	must(t, err)
	after := load(t, save(ctx, t, c, filepath.Join(dir, "after.db")))
	if d := cmp.Diff(above(all, middle), asWatched(t, after, middle)); d != "" {
		t.Errorf("after compaction (-watch +history):\n%.2000s", d)
	}
	subset(t, all, asWatched(t, after, 0))
	rangesAgree(ctx, t, c, after, middle)
	hashesAgree(ctx, t, c, after, middle+1, r.rule)
	s := after.Stores()[0]
	if !*s.HashOK || s.Schema != r.schema || s.CompactRevision != middle || len(s.Members) != 1 || s.Members[0].Name != "old" || len(s.Leases) != 1 || len(s.Problems) > 0 {
		t.Errorf("store: %+v", s)
	}

	last := lastOf(ctx, t, c)
	odd := compactions(ctx, t, c)
	all = append(all, watched(ctx, t, c, last+1, lastOf(ctx, t, c))...)
	// Older releases remove the tombstone that the rule is about.
	if n := compactedHashesAgree(ctx, t, c, odd, r.rule); n == 0 != (r.rule == TombstoneHashed) {
		t.Errorf("%d hashes depend on the rule", n)
	}
	last = lastOf(ctx, t, c)
	maintenance := etcdserverpb.NewMaintenanceClient(c.ActiveConnection())
	answers := fillBuckets(ctx, t, c, func(ctx context.Context, r *etcdserverpb.AlarmRequest) (*etcdserverpb.AlarmResponse, error) {
		return maintenance.Alarm(ctx, r)
	})
	stop()
	r.folder(t, data, all, last, answers)
}

// lastOf asks for the current revision.
func lastOf(ctx context.Context, t *testing.T, c *clientv3.Client) int64 {
	t.Helper()
	g, err := c.Get(ctx, "/registry/a")
	must(t, err)
	return g.Header.Revision
}

// position compares the store's place in the raft log with what the member says,
// while nothing is written.
func (r release) position(ctx context.Context, t *testing.T, c *clientv3.Client, s Store) {
	t.Helper()
	status, err := c.Status(ctx, c.Endpoints()[0])
	must(t, err)
	if !strings.HasPrefix(status.Version, r.version) || s.ConsistentIndex != status.RaftAppliedIndex || r.schema != "3.4" && s.Term != status.RaftTerm {
		t.Errorf("entry %d of term %d; etcd %s says %d and %d", s.ConsistentIndex, s.Term, status.Version, status.RaftAppliedIndex, status.RaftTerm)
	}
	members, err := c.MemberList(ctx)
	must(t, err)
	m := members.Members[0]
	want := []Member{{ID: memberID(m.ID), Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: m.IsLearner}}
	if d := cmp.Diff(want, s.Members); d != "" || m.ID != status.Header.MemberId {
		t.Errorf("members (-etcd +store):\n%s", d)
	}
}

// folder reads what a member leaves behind: its log from the first entry on, and its
// file. Until last it saw the changes that are all.
func (r release) folder(t *testing.T, data string, all []string, last int64, answers bucketAnswers) {
	t.Helper()
	member := filepath.Join(data, "member")
	live := load(t, filepath.Join(member, "snap", "db"))
	answers.check(t, live)
	if x := live.Stores()[0]; x.Last <= last || len(x.UnknownBuckets) > 0 {
		t.Errorf("the member's file: %+v", x)
	}
	files := append(glob(t, filepath.Join(member, "wal", "*.wal")), glob(t, filepath.Join(member, "snap", "*.snap"))...)
	log := loadAll(t, files...)
	got := asWatched(t, log, 0)
	later := above(got, last) // when nobody watched any more
	if d := cmp.Diff(all, got[:len(got)-len(later)]); d != "" || len(later) == 0 || log.Last() != live.Last() {
		t.Errorf("the log alone, to %d (-watch +history):\n%.2000s", log.Last(), d)
	}
	whole := loadAll(t, append(files, filepath.Join(member, "snap", "db"))...)
	if d := cmp.Diff(got, asWatched(t, whole, 0)); d != "" || whole.CompactRevision() != 0 {
		t.Errorf("the folder, complete above %d (-log +folder):\n%.2000s", whole.CompactRevision(), d)
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
}
