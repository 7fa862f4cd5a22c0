package replay

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"

	"etcd-autopsy/fixtures"
)

// apiServer writes to an etcd as API servers do: Lease objects are renewed all the
// time, other objects come, change and go, some writers lose races and try again,
// events live under leases, and what is old is compacted.
type apiServer struct {
	t      *testing.T
	client *clientv3.Client
	rand   *rand.Rand
	mods   map[string]int64 // what the server has seen last; 0 is gone
	stale  map[string]int64 // what it had seen before
	names  int
	events []clientv3.LeaseID
	loops  int64 // of compact_rev_key
	last   int64 // revision of the last loop
	now    int64
	// conflicts is one in how many writes that others were before.
	conflicts int
}

func newAPIServer(t *testing.T, c *clientv3.Client, seed uint64) *apiServer {
	return &apiServer{t: t, client: c, rand: rand.New(rand.NewPCG(seed, 1)), mods: map[string]int64{}, stale: map[string]int64{}, conflicts: 15}
}

// value is never the same twice, as Kubernetes objects have times in them.
func (a *apiServer) value(size int) string {
	b := make([]byte, 20+a.rand.IntN(size))
	for i := range b {
		b[i] = byte('a' + a.rand.IntN(26))
	}
	return string(b)
}

// cas writes a key on the condition of a mod_revision, and says whether it did.
func (a *apiServer) cas(ctx context.Context, key string, mod int64, write clientv3.Op) bool {
	r, err := a.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", mod)).Then(write).Else(clientv3.OpGet(key)).Commit()
	must(a.t, err)
	a.now = r.Header.Revision
	if r.Succeeded {
		a.stale[key], a.mods[key] = a.mods[key], r.Header.Revision
		if write.IsDelete() {
			a.mods[key] = 0
		}
	}
	return r.Succeeded
}

// write updates, creates or deletes a key; now and then another writer was first.
func (a *apiServer) write(ctx context.Context, key string, remove bool) {
	op := clientv3.OpPut(key, a.value(200))
	if remove {
		op = clientv3.OpDelete(key)
	}
	switch a.rand.IntN(2 * a.conflicts) {
	case 0:
		a.cas(ctx, key, a.stale[key], op)
	case 1: // creates what is there
		a.cas(ctx, key, 0, clientv3.OpPut(key, a.value(200)))
	}
	if a.mods[key] == 0 && remove {
		return
	}
	a.cas(ctx, key, a.mods[key], op)
}

// run makes about n writes.
func (a *apiServer) run(ctx context.Context, n int) {
	for i := range n {
		switch at := a.rand.IntN(100); {
		case at < 50:
			a.write(ctx, fmt.Sprint("/registry/leases/kube-node-lease/node-", a.rand.IntN(40)), false)
		case at < 62:
			a.names++
			a.write(ctx, fmt.Sprint("/registry/pods/default/web-", a.names), false)
		case at < 75:
			a.write(ctx, fmt.Sprint("/registry/pods/default/web-", a.names-a.rand.IntN(60)), false)
		case at < 83:
			a.write(ctx, fmt.Sprint("/registry/pods/default/web-", a.names-a.rand.IntN(100)), true)
		case at < 85:
			a.write(ctx, fmt.Sprint("/registry/configmaps/default/c-", a.rand.IntN(400)), false)
		case at < 97:
			a.event(ctx)
		default:
			a.write(ctx, "/registry/minions/node-"+fmt.Sprint(a.rand.IntN(40)), false)
		}
		if i%400 == 399 {
			a.compact(ctx)
		}
	}
}

// event makes an event; its lease is shared with others, and ends later.
func (a *apiServer) event(ctx context.Context) {
	if len(a.events) == 0 || a.rand.IntN(20) == 0 {
		l, err := a.client.Grant(ctx, 3660)
		must(a.t, err)
		a.events = append(a.events, l.ID)
	}
	if len(a.events) > 5 {
		_, err := a.client.Revoke(ctx, a.events[0])
		must(a.t, err)
		a.events = a.events[1:]
	}
	a.names++
	key := fmt.Sprintf("/registry/events/default/web.%x", a.names)
	lease := a.events[len(a.events)-1]
	a.cas(ctx, key, 0, clientv3.OpPut(key, a.value(300), clientv3.WithLease(lease)))
	if a.rand.IntN(3) == 0 {
		a.cas(ctx, key, a.mods[key], clientv3.OpPut(key, a.value(300), clientv3.WithLease(lease)))
	}
}

// compact is a loop of the API server's compactor (kubernetes v1.34 apiserver
// storage/etcd3/compact.go), and of another one that is late.
func (a *apiServer) compact(ctx context.Context) {
	for range 2 {
		_, err := a.client.Txn(ctx).If(clientv3.Compare(clientv3.Version("compact_rev_key"), "=", a.loops)).
			Then(clientv3.OpPut("compact_rev_key", fmt.Sprint(a.last))).Else(clientv3.OpGet("compact_rev_key")).Commit()
		must(a.t, err)
	}
	a.loops++
	if a.last > 0 {
		_, err := a.client.Compact(ctx, a.last, clientv3.WithCompactPhysical())
		must(a.t, err)
	}
	a.last = a.now
}

// known is what a database tells.
func (d *database) known(t testing.TB) Known {
	t.Helper()
	k := Known{}
	last := int64(1)
	for _, name := range sortedKeys(d.records) {
		var kv mvccpb.KeyValue
		must(t, proto.Unmarshal([]byte(d.records[name]), &kv))
		r := Record{Key: string(kv.Key)}
		r.Main, r.Tombstone = splitRecord(name)
		if !r.Tombstone {
			r.Sum = sha256.Sum256(kv.Value)
		}
		last = max(last, r.Main)
		k.Records = append(k.Records, r)
	}
	k.Points = []Point{{d.index, last}}
	return k
}

// truth is the revision that each entry made, from a replay of the whole log.
func truth(t testing.TB, entries []Entry) map[uint64]int64 {
	t.Helper()
	m := New(Options{Rules: Rules{MinLeaseTTL: testMinTTL}})
	revisions := map[uint64]int64{}
	for _, e := range entries {
		revisions[e.Index] = m.Apply(e).Revision
	}
	return revisions
}

// score compares a placement with the truth: no entry may be wrong. It returns the
// share of entries that are placed.
func score(t testing.TB, p Placement, want map[uint64]int64) float64 {
	t.Helper()
	placed := 0
	for _, e := range p.Entries {
		switch {
		case e.Status == Unknown:
			continue
		case e.Revision != want[e.Index]:
			t.Errorf("entry %d is placed at %d (%v), and made %d", e.Index, e.Revision, e.Status, want[e.Index])
		}
		placed++
	}
	return float64(placed) / float64(max(len(p.Entries), 1))
}

// TestPlace takes the end of a log and the database of its end.
func TestPlace(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an etcd")
	}
	ctx := context.Background()
	var logs [][]Entry
	var databases []database
	for seed := range uint64(2) {
		s := startEtcd(t, "")
		newAPIServer(t, s.client, seed).run(ctx, 4000)
		s.stop()
		logs = append(logs, readWAL(t, s.dir))
		databases = append(databases, readDatabase(t, filepath.Join(s.dir, "member", "snap", "db")))
	}
	for i, entries := range logs {
		want := truth(t, entries)
		for _, from := range []int{10, 500, 1000, 2000, 3000} {
			for _, without := range []string{"", "points", "records of the window"} {
				k := databases[i].known(t)
				switch without {
				case "points":
					k.Points = nil
				case "records of the window":
					k.Records = slices.DeleteFunc(k.Records, func(r Record) bool { return r.Main > databases[i].compacted })
				}
				p := Place(slices.Values(entries[from:]), k)
				share := score(t, p, want)
				t.Logf("log %d from %d of %d without %q: %.2f%% placed, agree %d, contradict %d, anchors %d, dropped %d, broken %d", i, from, len(entries), without, 100*share, p.Agree, p.Contradict, p.Anchors, p.Dropped, p.Broken)
				if least := map[string]float64{"": 0.95, "points": 0.95}[without]; share < least || !p.Fits {
					t.Errorf("from %d without %q: %.2f%% placed", from, without, 100*share)
				}
			}
			foreign := Place(slices.Values(entries[from:]), databases[1-i].known(t))
			if foreign.Fits || score(t, foreign, nil) > 0 {
				t.Errorf("from %d: fits the database of another cluster: agree %d, contradict %d", from, foreign.Agree, foreign.Contradict)
			}
		}
	}
}

// TestPlaceNothing places logs of which nothing is known.
func TestPlaceNothing(t *testing.T) {
	entries := apiServerLog(t, 500)
	for name, k := range map[string]Known{
		"nothing":            {},
		"a foreign point":    {Points: []Point{{300, 5_000_000}}},
		"a point outside":    {Points: []Point{{1_000_000, 300}}},
		"impossible numbers": {Points: []Point{{300, -1}, {301, 1 << 62}, {302, 1<<63 - 1}}, Records: []Record{{Key: "a", Main: -5}, {Key: "a", Main: 1<<63 - 1}}},
	} {
		p := Place(slices.Values(entries[100:]), k)
		if p.Fits || len(p.Entries) != len(entries)-100 || score(t, p, nil) > 0 {
			t.Errorf("%s: %d entries, fits: %v", name, len(p.Entries), p.Fits)
		}
	}
	if p := Place(slices.Values([]Entry(nil)), Known{}); p.Fits || len(p.Entries) > 0 {
		t.Errorf("no entries: %+v", p)
	}
}

// TestPlaceGap places a log of which a part is missing: what is on both sides may
// be known, but nothing is wrong.
func TestPlaceGap(t *testing.T) {
	entries := apiServerLog(t, 3000)
	want := truth(t, entries)
	m := New(Options{})
	var k Known
	for _, e := range entries {
		for _, c := range m.Apply(e).Changes {
			r := Record{Key: c.Key, Main: c.Main, Tombstone: c.Tombstone}
			if !c.Tombstone {
				r.Sum = sha256.Sum256(c.Value)
			}
			k.Records = append(k.Records, r)
		}
	}
	for _, gap := range []int{1, 10, 500} {
		p := Place(slices.Values(slices.Concat(entries[100:1500], entries[1500+gap:])), k)
		if share := score(t, p, want); share < 0.5 || !p.Fits {
			t.Errorf("with %d entries missing: %.2f%% placed", gap, 100*share)
		}
	}
}

// FuzzPlace places any bytes as a log: no panic, and revisions only go up.
func FuzzPlace(f *testing.F) {
	var seed []byte
	for _, e := range seeds(f) {
		seed = append(append(seed, byte(len(e.Data))), e.Data...)
	}
	f.Add(seed, int64(3), uint64(4))
	f.Fuzz(func(t *testing.T, data []byte, revision int64, index uint64) {
		var entries []Entry
		for len(data) > 0 {
			n := min(int(data[0]), len(data)-1)
			entries = append(entries, Entry{Index: uint64(len(entries)) + index, Data: data[1 : 1+n]})
			data = data[1+n:]
		}
		p := Place(slices.Values(entries), Known{
			Points:  []Point{{index + 2, revision}, {index + 5, revision + 2}},
			Records: []Record{{Key: "a", Main: revision, Sum: sha256.Sum256([]byte("1"))}, {Key: "b", Main: revision + 1, Tombstone: true}},
		})
		if len(p.Entries) != len(entries) {
			t.Fatalf("%d entries of %d", len(p.Entries), len(entries))
		}
		last := int64(0)
		for _, e := range p.Entries {
			if made := e.Status == Exact; made != (e.Revision != 0) || made && e.Revision <= last || !p.Fits && e.Status != Unknown {
				t.Errorf("%+v after %d, fits: %v", e, last, p.Fits)
			}
			last = max(last, e.Revision)
		}
	})
}

// TestPlaceRecordings takes the ends of recorded logs.
func TestPlaceRecordings(t *testing.T) {
	for _, name := range fixtures.Names() {
		dir := fixtures.Unpack(t, name).Dir
		entries := readWAL(t, filepath.Join(dir, "etcd-1"))
		d := readDatabase(t, filepath.Join(dir, "after.db"))
		want := truth(t, entries)
		for _, from := range []int{100, 200, 300, 400} {
			p := Place(slices.Values(entries[from:]), d.known(t))
			share := score(t, p, want)
			if from < 400 && share < 0.95 {
				t.Errorf("%s from %d: %.2f%% placed", name, from, 100*share)
			}
			t.Logf("%s from %d of %d: %.2f%% placed, agree %d, contradict %d, anchors %d, dropped %d, broken %d", name, from, len(entries), 100*share, p.Agree, p.Contradict, p.Anchors, p.Dropped, p.Broken)
		}
	}
}
