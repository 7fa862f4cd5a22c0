package replay

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/lease/leasepb"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

// testMinTTL is the shortest lease of an etcd that startEtcd runs.
const testMinTTL = 1

// server is a running etcd of one member.
type server struct {
	*embed.Etcd
	client *clientv3.Client
	dir    string
	stop   func()
}

// startEtcd runs an etcd on a data directory, "" for a new one. The end of the
// test ends it, if it was not closed before.
func startEtcd(t *testing.T, dir string) *server {
	t.Helper()
	sockets := t.TempDir()
	if dir == "" {
		dir = filepath.Join(sockets, "data")
	}
	config := embed.NewConfig()
	config.Dir = dir
	config.TickMs, config.ElectionMs = 10, 100
	config.UnsafeNoFsync = true
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	client := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "c")}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "p")}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	e, err := embed.StartEtcd(config)
	must(t, err)
	stop := sync.OnceFunc(e.Close)
	t.Cleanup(stop)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		t.Fatal("etcd does not start")
	}
	return &server{Etcd: e, client: v3client.New(e.Server), dir: dir, stop: stop}
}

// readWAL returns the committed entries of a data directory, with etcd's reader.
func readWAL(t testing.TB, dir string) []Entry {
	t.Helper()
	w, err := wal.OpenForRead(zap.NewNop(), filepath.Join(dir, "member", "wal"), &walpb.Snapshot{Index: proto.Uint64(0), Term: proto.Uint64(0)})
	must(t, err)
	defer func() { _ = w.Close() }() // the reader has closed its files already
	_, state, raw, err := w.ReadAll()
	must(t, err)
	var entries []Entry
	for _, e := range raw {
		if e.GetIndex() <= state.GetCommit() {
			entries = append(entries, Entry{Index: e.GetIndex(), Term: e.GetTerm(), Type: e.GetType(), Data: e.GetData()})
		}
	}
	return entries
}

// database is what a backend file has.
type database struct {
	records map[string]string // of the key bucket
	leases  []Lease
	alarms  []Alarm
	// compacted is the finished compaction, 0 if there was none.
	compacted int64
	// index is the consistent index.
	index uint64
}

func readDatabase(t testing.TB, path string) database {
	t.Helper()
	d := database{records: map[string]string{}}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	must(t, db.View(func(tx *bbolt.Tx) error {
		for bucket, add := range map[string]func(k, v []byte) error{
			"key": func(k, v []byte) error {
				d.records[string(k)] = string(v)
				return nil
			},
			"lease": func(_, v []byte) error {
				var l leasepb.Lease
				defer func() { d.leases = append(d.leases, Lease{l.ID, l.TTL, l.RemainingTTL}) }()
				return proto.Unmarshal(v, &l)
			},
			"alarm": func(k, _ []byte) error {
				var a pb.AlarmMember
				defer func() { d.alarms = append(d.alarms, Alarm{a.MemberID, a.Alarm}) }()
				return proto.Unmarshal(k, &a)
			},
		} {
			if err := tx.Bucket([]byte(bucket)).ForEach(add); err != nil {
				return err
			}
		}
		meta := tx.Bucket([]byte("meta"))
		d.index = binary.BigEndian.Uint64(meta.Get([]byte("consistent_index")))
		if c := meta.Get([]byte("finishedCompactRev")); c != nil {
			d.compacted = int64(binary.BigEndian.Uint64(c))
		}
		return nil
	}))
	return d
}

// replayed is what a machine made of a whole log.
type replayed struct {
	*Machine
	records map[string]string
	values  map[string][]byte // by key and revision
	txns    []string          // of each txn what came of it
}

// replayAll applies entries to an empty store.
func replayAll(t testing.TB, entries []Entry, rules Rules) *replayed {
	t.Helper()
	r := &replayed{records: map[string]string{}, values: map[string][]byte{}}
	name := func(key string, mod int64) string { return fmt.Sprint(mod, " ", key) }
	r.Machine = New(Options{Rules: rules, Values: func(key string, mod int64) ([]byte, error) {
		v, ok := r.values[name(key, mod)]
		if !ok {
			t.Errorf("asked for the value of %s at %d, which is not live", key, mod)
		}
		return v, nil
	}})
	for _, e := range entries {
		o := r.Apply(e)
		if o.Err != nil || o.Doubts != 0 {
			t.Fatalf("entry %d: %v, doubts: %v", e.Index, o.Err, o.Doubts)
		}
		for _, c := range o.Changes {
			r.records[string(c.AppendRevision(nil))] = string(c.AppendKeyValue(nil))
			if !c.Tombstone {
				r.values[name(c.Key, c.Main)] = c.Value
			}
			if c.ValueOffset > 0 && !slices.Equal(c.Value, e.Data[c.ValueOffset:c.ValueOffset+len(c.Value)]) {
				t.Errorf("entry %d: the value of %s is not at %d", e.Index, c.Key, c.ValueOffset)
			}
		}
		if o.Request.Kind == KindTxn {
			r.txns = append(r.txns, txnResult(o.Succeeded, r.Revision(), o.Rejected != NotRejected && o.Rejected != CompareFailed))
		}
	}
	return r
}

// txnResult writes what came of a txn.
func txnResult(succeeded bool, revision int64, rejected bool) string {
	if rejected {
		return "rejected"
	}
	return fmt.Sprintf("%v at %d", succeeded, revision)
}

// TestAgainstEtcd replays the log of a real etcd and compares all that it stored.
func TestAgainstEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an etcd")
	}
	for _, tt := range []struct {
		name    string
		seed    uint64
		compact bool
	}{
		{"whole history", 1, false},
		{"compacted", 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := context.Background()
			s := startEtcd(t, "")
			w := newWorkload(t, s, tt.seed, tt.compact)
			w.run(ctx, 1200)
			s.stop()
			s = startEtcd(t, s.dir)
			w.restarted(s)
			w.run(ctx, 300)
			w.expire(ctx)
			gets := readKeys(ctx, t, s.client, w.compacted)
			s.stop()
			entries := readWAL(t, s.dir)
			r := replayAll(t, entries, Rules{MinLeaseTTL: testMinTTL})
			compareReads(t, r, gets)
			compareStore(t, r, readDatabase(t, filepath.Join(s.dir, "member", "snap", "db")))
			if d := cmp.Diff(w.txns, r.txns); d != "" {
				t.Errorf("txns (-etcd +replay):\n%s", d)
			}
			t.Logf("%d entries, %d revisions, %d records, %d txns, outcomes %v", len(entries), r.Revision(), len(r.records), len(r.txns), outcomes(t, entries))
		})
	}
}

// compareStore compares a replayed log with the database that etcd made of it.
func compareStore(t testing.TB, r *replayed, d database) {
	t.Helper()
	for k, v := range d.records {
		if got, ok := r.records[k]; !ok || got != v {
			t.Errorf("record %x: etcd has %x, replay %x", k, v, got)
		}
	}
	for k, v := range r.records {
		main := int64(binary.BigEndian.Uint64([]byte(k)))
		if _, ok := d.records[k]; !ok && main > d.compacted {
			t.Errorf("record %x: %x is not in etcd", k, v)
		}
	}
	if r.Compacted() != d.compacted || r.Index() != d.index {
		t.Errorf("compacted %d at entry %d, etcd %d at %d", r.Compacted(), r.Index(), d.compacted, d.index)
	}
	if diff := cmp.Diff(d.leases, r.Leases()); diff != "" {
		t.Errorf("leases (-etcd +replay):\n%s", diff)
	}
	if diff := cmp.Diff(d.alarms, r.Alarms()); diff != "" {
		t.Errorf("alarms (-etcd +replay):\n%s", diff)
	}
}

// readKeys asks a running etcd for all its keys, now and at some revisions.
func readKeys(ctx context.Context, t *testing.T, c *clientv3.Client, floor int64) []*clientv3.GetResponse {
	t.Helper()
	now, err := c.Get(ctx, "", clientv3.WithFromKey())
	must(t, err)
	gets := []*clientv3.GetResponse{now}
	for rev := now.Header.Revision; rev > max(floor, 1); rev -= 37 {
		g, err := c.Get(ctx, "", clientv3.WithFromKey(), clientv3.WithRev(rev))
		must(t, err)
		gets = append(gets, g)
	}
	return gets
}

// compareReads compares what readKeys got: the live keys, and old values.
func compareReads(t *testing.T, r *replayed, gets []*clientv3.GetResponse) {
	t.Helper()
	if rev := gets[0].Header.Revision; rev != r.Revision() {
		t.Errorf("revision %d, etcd %d", r.Revision(), rev)
	}
	var live, want []string
	for k := range r.Keys() {
		live = append(live, fmt.Sprint(k.Key, " ", k.Create, k.Mod, k.Version, k.Lease))
	}
	for _, kv := range gets[0].Kvs {
		want = append(want, fmt.Sprint(string(kv.Key), " ", kv.CreateRevision, kv.ModRevision, kv.Version, kv.Lease))
	}
	if d := cmp.Diff(want, live); d != "" {
		t.Errorf("live keys (-etcd +replay):\n%s", d)
	}
	for _, g := range gets {
		for _, kv := range g.Kvs {
			if v, ok := r.values[fmt.Sprint(kv.ModRevision, " ", string(kv.Key))]; !ok || string(v) != string(kv.Value) {
				t.Errorf("%s at %d: etcd has %q, replay %q", kv.Key, kv.ModRevision, kv.Value, v)
			}
		}
	}
}

// outcomes counts what came of the entries, to see that all of it came up.
func outcomes(t testing.TB, entries []Entry) map[string]int {
	t.Helper()
	counts := map[string]int{}
	m := New(Options{Rules: Rules{MinLeaseTTL: testMinTTL}})
	for _, e := range entries {
		o := m.Apply(e)
		counts[strings.TrimSuffix(o.Request.Kind.String()+" "+o.Rejected.String(), " ")]++
	}
	return counts
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
