package snapshot

import (
	"context"
	"fmt"
	"net"
	"net/url"
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
)

// cluster is one of three members in this process.
type cluster struct {
	t       *testing.T
	configs [3]*embed.Config
	members [3]*embed.Etcd // nil for one that is stopped
}

// newCluster makes a cluster and starts it.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t}
	var initial []string
	for i := range c.configs {
		config := quickConfig(t, fmt.Sprint("m", i), filepath.Join(t.TempDir(), "data"))
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		peer := url.URL{Scheme: "http", Host: l.Addr().String()}
		must(t, l.Close())
		config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
		config.TickMs, config.ElectionMs = 20, 200
		initial = append(initial, config.Name+"="+peer.String())
		c.configs[i] = config
	}
	for i := range c.configs {
		c.configs[i].InitialCluster = strings.Join(initial, ",")
	}
	t.Cleanup(func() { c.stop(0, 1, 2) })
	c.start(0, 1, 2)
	return c
}

// start starts members; they are ready some time later.
func (c *cluster) start(members ...int) {
	c.t.Helper()
	for _, i := range members {
		config := *c.configs[i]
		e, err := embed.StartEtcd(&config)
		must(c.t, err)
		c.members[i] = e
	}
}

// stop stops members at the same time. They do not hand the lead over.
func (c *cluster) stop(members ...int) {
	var all sync.WaitGroup
	for _, i := range members {
		if e := c.members[i]; e != nil {
			c.members[i] = nil
			all.Go(func() {
				e.Server.HardStop()
				e.Close()
			})
		}
	}
	all.Wait()
}

// leader is the number of the leader.
func (c *cluster) leader() int {
	c.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		for i, e := range c.members {
			if e != nil && e.Server.Leader() == e.Server.MemberID() {
				return i
			}
		}
	}
	c.t.Fatal("no leader")
	return 0
}

// client asks one member.
func (c *cluster) client(member int) *clientv3.Client {
	return v3client.New(c.members[member].Server)
}

// write puts keys, whoever leads.
func (c *cluster) write(ctx context.Context, prefix string, n int) {
	c.t.Helper()
	client := c.client(c.leader())
	for i := range n {
		for deadline := time.Now().Add(30 * time.Second); ; {
			_, err := client.Put(ctx, fmt.Sprint(prefix, i%20), fmt.Sprint(prefix, i))
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				must(c.t, err)
			}
			client = c.client(c.leader())
		}
	}
}

// isolate stops the followers of a leader while it takes writes: the last of them
// are in its log only. Then it stops the leader.
func (c *cluster) isolate(ctx context.Context, prefix string) (leader int) {
	c.t.Helper()
	leader = c.leader()
	client := c.client(leader)
	done := make(chan struct{})
	var puts sync.WaitGroup
	puts.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			puts.Go(func() { // it times out if it is not committed
				ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
				_, _ = client.Put(ctx, fmt.Sprint(prefix, i), fmt.Sprint(i))
			})
			time.Sleep(5 * time.Millisecond)
		}
	})
	c.stop((leader+1)%3, (leader+2)%3)
	time.Sleep(30 * time.Millisecond)
	close(done)
	puts.Wait()
	c.stop(leader)
	return leader
}

// files are the WALs of copies of the members' directories.
func (c *cluster) files(members ...int) (files []File) {
	c.t.Helper()
	for _, i := range members {
		files = append(files, segmentsOf(walFiles(c.t, fmt.Sprint("m", i), copyDir(c.t, c.configs[i].Dir)))...)
	}
	return files
}

// truth is what a watch on a member says of all that ever happened.
func (c *cluster) truth(ctx context.Context) []string {
	c.t.Helper()
	client := c.client(c.leader())
	p, err := client.Put(ctx, "/registry/end", "x")
	must(c.t, err)
	return watched(ctx, c.t, client, 1, p.Header.Revision)
}

// checkEntries wants the put of every key below a prefix to be applied with its
// revision if it is in the truth, and lost if it is not. It returns how many are.
func checkEntries(t *testing.T, h *History, truth []string, prefix string) (applied, lost int) {
	t.Helper()
	revisions := map[string]int64{}
	for _, line := range truth {
		var main int64
		var verb, key string
		_, err := fmt.Sscan(line, &main, &verb, &key)
		must(t, err)
		revisions[key] = main
	}
	for i := range h.Entries() {
		e := h.Entry(i)
		if !strings.HasPrefix(e.Key, prefix) {
			continue
		}
		want := revisions[e.Key]
		switch {
		case want != 0 && e.State == EntryApplied && e.Revision == want:
			applied++
		case want == 0 && e.State == EntryLost && e.Revision == 0:
			lost++
		default:
			t.Errorf("%s is at revision %d: %+v", e.Key, want, e)
		}
	}
	return applied, lost
}

// TestLostAndLanded has entries that only a leader has when it stops: of one leader
// they are lost, since others go on without it; of another they are committed
// later, since it comes back first.
func TestLostAndLanded(t *testing.T) {
	if testing.Short() {
		t.Skip("runs etcds")
	}
	smallSegments(t, 64<<10)
	for _, tt := range []struct {
		name   string
		writes int // while the old leader is away: from 200 on it gets a snapshot
	}{{"log", 20}, {"snapshot", 500}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			c := newCluster(t)
			c.write(ctx, "/registry/a", 30)
			back := c.isolate(ctx, "/registry/landed")
			c.start(back, (back+1)%3)
			c.write(ctx, "/registry/b", 30)
			c.start((back + 2) % 3)
			c.write(ctx, "/registry/c", 30)

			old := c.isolate(ctx, "/registry/lost")
			alone := c.files(old)
			c.start((old+1)%3, (old+2)%3)
			c.write(ctx, "/registry/d", tt.writes)
			truth := c.truth(ctx)
			c.stop(0, 1, 2)
			apart := c.files(0, 1, 2)
			var dbs []File
			for i := range 3 {
				dbs = append(dbs, dbFile(fmt.Sprint("m", i), copyDir(t, c.configs[i].Dir)))
			}
			c.start(0, 1, 2)
			c.write(ctx, "/registry/e", 20)
			again := c.truth(ctx)
			time.Sleep(100 * time.Millisecond)
			c.stop(0, 1, 2)
			joined := c.files(0, 1, 2)

			t.Run("old leader alone", func(t *testing.T) { checkAlone(t, loadFiles(t, alone...), truth) })
			for _, v := range []struct {
				name  string
				files []File
				truth []string
			}{
				{"before it is back", apart, truth},
				{"with stores", append(slices.Clone(apart), dbs...), truth},
				{"the others", slices.DeleteFunc(slices.Clone(apart), func(f File) bool { return f.Input == fmt.Sprint("m", old) }), truth},
				{"after it is back", joined, again},
				{"before and after", append(asEarlier(apart), joined...), again},
			} {
				t.Run(v.name, func(t *testing.T) {
					h := loadFiles(t, v.files...)
					if d := cmp.Diff(v.truth, asWatched(t, h, 0)); d != "" {
						t.Errorf("(-watch +history):\n%s", d)
					}
					landed, _ := checkEntries(t, h, v.truth, "/registry/landed")
					_, lost := checkEntries(t, h, v.truth, "/registry/lost")
					if landed == 0 || lost == 0 && v.name != "the others" {
						t.Errorf("%d landed, %d lost", landed, lost)
					}
					for _, l := range h.WALs() {
						if l.Rejected != "" {
							t.Errorf("%s: %s", l.Input, l.Rejected)
						}
					}
					t.Logf("%d landed, %d lost, problems %q", landed, lost, problems(h))
				})
			}
		})
	}
}

// asEarlier are the same files as another input.
func asEarlier(files []File) []File {
	files = slices.Clone(files)
	for i := range files {
		files[i].Input = "earlier-" + files[i].Input
	}
	return files
}

// problems are those of all logs.
func problems(h *History) (list []string) {
	for _, l := range h.WALs() {
		for _, p := range l.Problems {
			list = append(list, l.Input+": "+p)
		}
	}
	return list
}

// checkAlone looks at the log of a leader that was stopped: what is committed in it
// is true, and of the rest nothing is known.
func checkAlone(t *testing.T, h *History, truth []string) {
	t.Helper()
	happened := map[string]bool{}
	for _, line := range truth {
		happened[line] = true
	}
	for _, line := range asWatched(t, h, 0) {
		if !happened[line] {
			t.Errorf("invented: %s", line)
		}
	}
	commit, unknown := h.WALs()[0].Commit, 0
	for i := range h.Entries() {
		if e := h.Entry(i); e.Index > commit {
			unknown++
			if e.State != EntryUncommitted || e.Revision != 0 || e.Kind == "unknown" {
				t.Errorf("%+v", e)
			}
		}
	}
	if unknown == 0 {
		t.Error("the log ends with a committed entry")
	}
}
