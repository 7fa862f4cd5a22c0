package replay

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"

	"etcd-autopsy/fixtures"
)

// splitRecord reads the name of a record as its revision and whether it is a delete.
func splitRecord(name string) (main int64, tombstone bool) {
	return int64(binary.BigEndian.Uint64([]byte(name))), len(name) == 18
}

// base is the state that a database has.
func (d *database) base(t testing.TB) Base {
	t.Helper()
	live := map[string]KeyState{}
	b := Base{Index: d.index, Compacted: d.compacted, Leases: d.leases, Alarms: d.alarms}
	for _, name := range sortedKeys(d.records) {
		main, tombstone := splitRecord(name)
		b.Revision = max(b.Revision, main)
		var kv mvccpb.KeyValue
		must(t, proto.Unmarshal([]byte(d.records[name]), &kv))
		if tombstone {
			delete(live, string(kv.Key))
			continue
		}
		live[string(kv.Key)] = KeyState{Key: string(kv.Key), Create: kv.CreateRevision, Mod: kv.ModRevision, Version: kv.Version, Lease: kv.Lease}
	}
	b.Keys = func(yield func(KeyState) bool) {
		for _, k := range live {
			if !yield(k) {
				return
			}
		}
	}
	return b
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestRecordings replays the logs of recorded clusters, from their beginning and
// from a snapshot, and compares with all there is: a watch and their databases.
func TestRecordings(t *testing.T) {
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			recording := fixtures.Unpack(t, name)
			evidence := recording.Dir
			before := readDatabase(t, filepath.Join(evidence, "before.db"))
			databases := []database{before, readDatabase(t, filepath.Join(evidence, "after.db"))}
			for _, member := range []string{"etcd-1", "etcd-2", "etcd-3"} {
				dir := filepath.Join(evidence, member)
				entries := readWAL(t, dir)
				r := replayAll(t, entries, Rules{})
				if len(r.records) < 300 {
					t.Fatalf("%s: %d records", member, len(r.records))
				}
				compareWatch(t, r, recording.Truth.Revisions)
				for _, d := range append(databases, readDatabase(t, filepath.Join(dir, "member", "snap", "db"))) {
					compareRecords(t, r.records, d.records, r.Revision())
				}
				compareFrom(t, before.base(t), entries, r)
			}
		})
	}
}

// compareWatch compares a replayed log with what a watch saw, up to its end.
func compareWatch(t *testing.T, r *replayed, seen []fixtures.Revision) {
	t.Helper()
	got, want := map[string]int{}, map[string]int{}
	for name, record := range r.records {
		var kv mvccpb.KeyValue
		must(t, proto.Unmarshal([]byte(record), &kv))
		main, tombstone := splitRecord(name)
		got[fmt.Sprint(main, " ", map[bool]string{false: "put", true: "delete"}[tombstone], " ", string(kv.Key))]++
	}
	for _, s := range seen {
		if s.Revision <= r.Revision() {
			want[fmt.Sprint(s.Revision, " ", s.Type, " ", s.Key)]++
		}
	}
	for _, change := range sortedKeys(want) {
		if got[change] != want[change] {
			t.Errorf("not replayed: %s", change)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d changes, a watch saw %d", len(got), len(want))
	}
}

// compareRecords sees that the records of a database up to a revision are among
// those replayed.
func compareRecords(t *testing.T, got, want map[string]string, upTo int64) {
	t.Helper()
	for name, record := range want {
		if main, _ := splitRecord(name); main <= upTo && got[name] != record {
			t.Errorf("record %x: %q, replay %q", name, record, got[name])
		}
	}
}

// compareFrom applies a log to a base and compares with a replay of it all.
func compareFrom(t *testing.T, b Base, entries []Entry, want *replayed) {
	t.Helper()
	m := NewAt(b, Options{})
	n := 0
	for _, e := range entries {
		o := m.Apply(e)
		for _, c := range o.Changes {
			if want.records[string(c.AppendRevision(nil))] != string(c.AppendKeyValue(nil)) {
				t.Errorf("from entry %d on: change %+v", b.Index, c)
			}
			n++
		}
	}
	if n == 0 || m.Revision() != want.Revision() || m.Doubts() != 0 || m.Len() != want.Len() {
		t.Errorf("from entry %d on: %d changes up to %d, %d keys; want revision %d, %d keys", b.Index, n, m.Revision(), m.Len(), want.Revision(), want.Len())
	}
}
