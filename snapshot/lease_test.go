package snapshot

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// generated makes a lease ID as etcd's generator does: the n-th of a process.
func generated(member uint64, start time.Time, n int64) int64 {
	suffix := start.UnixMilli()&(1<<40-1)<<8 + n
	return (int64(member&0xffff)<<48 | suffix&(1<<48-1)) & (1<<63 - 1)
}

func TestGranted(t *testing.T) {
	start := time.Date(2026, 12, 1, 4, 5, 6, 789e6, time.UTC)
	const member = 0x5c76a90ae78bcee7 // its low 16 bits lose the top one
	tests := []struct {
		name   string
		id     int64
		member uint16
		want   time.Time
	}{
		{"the first", generated(member, start, 1), 0x4ee7, start},
		{"the last of the same millisecond", generated(member, start, 255), 0x4ee7, start},
		{"the counter runs into the milliseconds", generated(member, start, 256*1500+3), 0x4ee7, start.Add(1500 * time.Millisecond)},
		{"a member without low bits", generated(0xabcd0000, start, 1), 0, start},
		{"just before the turn", generated(member, time.UnixMilli(2<<40-1), 1), 0x4ee7, time.UnixMilli(2<<40 - 1).UTC()},
		{"none", 0, 0, time.Time{}},
		{"chosen by a client", 1234, 0, time.Time{}},
		{"an etcd before the first", generated(member, firstEtcd3.Add(-time.Millisecond), 1), 0, time.Time{}},
		{"negative", -generated(member, start, 1), 0, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			member, at := Lease{ID: tt.id}.Granted()
			if member != tt.member || !at.Equal(tt.want) {
				t.Errorf("member %x at %v, want %x at %v", member, at, tt.member, tt.want)
			}
		})
	}
}

func TestGranter(t *testing.T) {
	id := generated(0x8001, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), 1)
	members := func(ids ...string) []Member {
		var list []Member
		for _, id := range ids {
			list = append(list, Member{ID: id})
		}
		return list
	}
	tests := []struct {
		name  string
		store Store
		lease int64
		want  string
	}{
		{"one", Store{Members: members("1111111111110001", "2222222222228002")}, id, "1111111111110001"},
		{"the top bit is not in the ID", Store{Members: members("1111111111118001")}, id, "1111111111118001"},
		{"a removed one", Store{Members: members("2222222222228002"), RemovedMembers: []string{"1111111111110001"}}, id, "1111111111110001"},
		{"listed twice", Store{Members: members("1111111111110001"), RemovedMembers: []string{"1111111111110001"}}, id, "1111111111110001"},
		{"two", Store{Members: members("1111111111110001", "2222222222228001")}, id, ""},
		{"none", Store{Members: members("2222222222228002")}, id, ""},
		{"chosen by a client", Store{Members: members("2222222222220000")}, 7, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.store.Granter(Lease{ID: tt.lease}); got != tt.want {
				t.Errorf("granter %q, want %q", got, tt.want)
			}
		})
	}
}

// leased has keys that come to and go from two leases.
func leased() *etcdStore {
	e := newEtcdStore().schema("3.6")
	set := func(key string, lease int64) { e.txn(func() { e.set(key, []byte("v"), lease) }) }
	set("kept", 7)        // 2
	set("moved", 7)       // 3
	set("gone", 7)        // 4
	set("detached", 7)    // 5
	set("back", 7)        // 6
	set("moved", 8)       // 7
	e.del("gone")         // 8
	e.put("detached", "") // 9
	e.del("back")         // 10
	set("back", 8)        // 11
	return e
}

func TestLeaseKeys(t *testing.T) {
	dir := t.TempDir()
	e := leased()
	early := e.clone()
	early.records = keepUpTo(early.records, 6)
	a := early.file(t, filepath.Join(dir, "a"))
	e.compact(9) // the tombstone of "gone" is no more
	b := e.file(t, filepath.Join(dir, "b"))
	h := load(t, a, b)
	for id, want := range map[int64][]string{0: nil, 7: {"kept"}, 8: {"back", "moved"}, 9: nil} {
		if d := cmp.Diff(want, h.LeaseKeys(id)); d != "" {
			t.Errorf("keys of lease %d (-want +got):\n%s", id, d)
		}
	}
	for store, want := range []map[int64]int{{7: 5}, {7: 1, 8: 2}} {
		if d := cmp.Diff(want, h.LeaseKeyCounts(store)); d != "" {
			t.Errorf("counts of store %d (-want +got):\n%s", store, d)
		}
	}
}

// TestLeaseKeysCompactedAtLast is compacted at its last revision: nothing is above.
func TestLeaseKeysCompactedAtLast(t *testing.T) {
	e := leased()
	e.compact(11)
	h := load(t, e.file(t, filepath.Join(t.TempDir(), "db")))
	if d := cmp.Diff([]string{"back", "moved"}, h.LeaseKeys(8)); d != "" {
		t.Errorf("keys (-want +got):\n%s", d)
	}
}

// TestLeaseKeysOfStranger asks for a store of another history.
func TestLeaseKeysOfStranger(t *testing.T) {
	dir := t.TempDir()
	other := newEtcdStore().schema("3.6")
	other.put("other", "1")
	h := load(t, leased().file(t, filepath.Join(dir, "a")), other.file(t, filepath.Join(dir, "b")))
	if got := h.LeaseKeyCounts(1); got != nil {
		t.Errorf("counts of a store that was not merged: %v", got)
	}
}
