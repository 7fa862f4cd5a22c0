package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/raft/v3/raftpb"
)

// begun is a log of one member with three revisions.
func begun(t testing.TB, member uint64) *madeWAL {
	return newWAL(t, member).members(1).state(0, 1).leader(2, 1).put("/a", "1").put("/b", "1").put("/a", "2")
}

// damageText changes a byte of the last place at which a file has some text.
func damageText(t testing.TB, f File, text string) File {
	t.Helper()
	b, err := os.ReadFile(f.OSPath)
	must(t, err)
	at := bytes.LastIndex(b, []byte(text))
	if at < 0 {
		t.Fatalf("no %q in %s", text, f.Path)
	}
	b[at] ^= 0x20
	f.OSPath = filepath.Join(t.TempDir(), filepath.Base(f.Path))
	must(t, os.WriteFile(f.OSPath, b, 0o600))
	return f
}

// asType gives the last entry another type, or the last hard state but one. No
// checksum covers it.
func asType(t testing.TB, f File, from, to byte) File {
	t.Helper()
	b, err := os.ReadFile(f.OSPath)
	must(t, err)
	at := bytes.LastIndex(b, []byte{8, from, 0x10})
	if from == 3 {
		at = bytes.LastIndex(b[:at], []byte{8, from, 0x10})
	}
	b[at+1] = to
	f.OSPath = filepath.Join(t.TempDir(), filepath.Base(f.Path))
	must(t, os.WriteFile(f.OSPath, b, 0o600))
	return f
}

// TestMadeWAL has logs that no etcd of a test would write.
func TestMadeWAL(t *testing.T) {
	tests := []struct {
		name     string
		files    func(t *testing.T) []File
		changes  string
		entries  string // from index 3 on
		problems []string
	}{
		{"sound", func(t *testing.T) []File { return begun(t, 1).state(1, 5).files("m") },
			"2:/a=1 3:/b=1 4:/a=2", "3@2:applied:2 4@2:applied:3 5@2:applied:4", nil},
		{"one member's tail", func(t *testing.T) []File { return begun(t, 1).state(1, 3).files("m") },
			"2:/a=1 3:/b=1 4:/a=2", "3@2:applied:2 4@2:applied:3 5@2:applied:4", nil},
		{"one of three's tail", func(t *testing.T) []File {
			return newWAL(t, 1).members(1, 2, 3).leader(2, 3).put("/a", "1").put("/b", "1").state(1, 5).files("m")
		}, "2:/a=1", "3@1:applied:0 4@2:applied:0 5@2:applied:2 6@2:commit-unknown:0", nil},
		{"two of three's tail", func(t *testing.T) []File {
			one := newWAL(t, 1).members(1, 2, 3).leader(2, 3).put("/a", "1").put("/b", "1").put("/c", "1").state(1, 5).files("m1")
			return join(one, newWAL(t, 2).members(1, 2, 3).leader(2, 3).put("/a", "1").put("/b", "1").state(1, 4).files("m2"))
		}, "2:/a=1 3:/b=1", "3@1:applied:0 4@2:applied:0 5@2:applied:2 6@2:applied:3 7@2:commit-unknown:0", nil},
		{"two of three's tail, and one that was added since", func(t *testing.T) []File {
			one := newWAL(t, 1).members(1, 2, 3).leader(2, 3).put("/a", "1").state(1, 4).members(4).put("/b", "1").files("m1")
			return join(one, newWAL(t, 2).members(1, 2, 3).leader(2, 3).put("/a", "1").state(1, 4).members(4).put("/b", "1").files("m2"))
		}, "", "3@1:applied:0 4@2:applied:0 5@2:commit-unknown:0 6@2:commit-unknown:0 7@2:commit-unknown:0", nil},
		{"overwritten", func(t *testing.T) []File { return begun(t, 1).leader(3, 3).put("/c", "1").state(1, 5).files("m") },
			"2:/a=1 3:/c=1", "3@2:applied:2 4@3:applied:0 4@2:lost:0 5@3:applied:3 5@2:lost:0", nil},
		{"overwritten in a damage", func(t *testing.T) []File {
			// Entry 4 of term 2 is followed by a damaged one of term 3 in its place.
			l := begun(t, 1).state(1, 3)
			l.term, l.last = 3, 3
			return []File{damageText(t, l.put("/damaged", "1").put("/d", "1").state(1, 5).files("m")[0], "/damaged")}
		}, "2:/a=1", "3@2:applied:2 4@2:commit-unknown:0 5@3:unplaced:0 5@2:lost:0",
			[]string{"damaged: its checksum", "entries 4 to 4 are missing", "no revisions are replayed of the entries 5 to 5: what was stored before"}},
		{"a damage in one term", func(t *testing.T) []File {
			return []File{damageText(t, begun(t, 1).put("/damaged", "1").put("/d", "1").state(1, 7).files("m")[0], "/damaged")}
		}, "2:/a=1 3:/b=1 4:/a=2", "3@2:applied:2 4@2:applied:3 5@2:applied:4 7@2:unplaced:0",
			[]string{"damaged: its checksum", "entries 6 to 6 are missing", "no revisions are replayed of the entries 7 to 7"}},
		{"a damage and a later commit, but no later entry", func(t *testing.T) []File {
			l := begun(t, 1).state(1, 3)
			l.term, l.last = 3, 3
			return []File{damageText(t, l.put("/damaged", "1").state(1, 5).files("m")[0], "/damaged")}
		}, "2:/a=1", "3@2:applied:2 4@2:commit-unknown:0 5@2:commit-unknown:0", []string{"damaged: its checksum"}},
		{"a received snapshot", func(t *testing.T) []File {
			l := begun(t, 1).state(1, 3)
			l.term, l.last = 3, 9
			return l.snapshot(9, 3).state(0, 9).put("/late", "1").state(0, 10).files("m")
		}, "2:/a=1", "3@2:applied:2 4@2:commit-unknown:0 5@2:commit-unknown:0 10@3:unplaced:0",
			[]string{"entries 4 to 9 are missing", "no revisions are replayed of the entries 10 to 10"}},
		{"a received snapshot within the log", func(t *testing.T) []File {
			l := begun(t, 1).state(1, 3)
			l.term, l.last = 3, 4
			return l.snapshot(4, 3).state(0, 4).put("/late", "1").state(0, 5).files("m")
		}, "2:/a=1", "3@2:applied:2 4@2:commit-unknown:0 5@3:unplaced:0 5@2:lost:0",
			[]string{"entries 4 to 4 are missing", "no revisions are replayed of the entries 5 to 5"}},
		{"its own snapshot, ahead of the commit that it wrote", func(t *testing.T) []File {
			return begun(t, 1).state(1, 3).snapshot(4, 2).put("/c", "1").state(1, 6).files("m")
		}, "2:/a=1 3:/b=1 4:/a=2 5:/c=1", "3@2:applied:2 4@2:applied:3 5@2:applied:4 6@2:applied:5", nil},
		{"a request that is not known", func(t *testing.T) []File {
			return begun(t, 1).save(raftpb.EntryNormal, []byte{0xfa, 0xff, 0x03, 0x01, 'x'}).put("/c", "1").state(1, 7).files("m")
		}, "2:/a=1 3:/b=1 4:/a=2", "3@2:applied:2 4@2:applied:3 5@2:applied:4 6@2:unplaced:0 7@2:unplaced:0",
			[]string{"no revisions are replayed of the entries 6 to 7: nothing is sure from there on: an entry could not be decoded"}},
		{"a hard state that is called an entry", func(t *testing.T) []File {
			return []File{asType(t, begun(t, 1).state(1, 5).put("/c", "1").state(1, 6).files("m")[0], 3, 2)}
		}, "2:/a=1 3:/b=1 4:/a=2 5:/c=1", "3@2:applied:2 4@2:applied:3 5@2:applied:4 6@2:applied:5", []string{"an entry that cannot be decoded"}},
		{"an entry that is called a hard state", func(t *testing.T) []File {
			return []File{asType(t, begun(t, 1).state(1, 5).put("/c", "1").files("m")[0], 2, 3)}
		}, "2:/a=1 3:/b=1 4:/a=2", "3@2:applied:2 4@2:applied:3 5@2:applied:4", []string{"a hard state that cannot be decoded"}},
		{"authentication", func(t *testing.T) []File {
			return begun(t, 1).request(&etcdserverpb.InternalRaftRequest{AuthEnable: &etcdserverpb.AuthEnableRequest{}}).put("/c", "1").state(1, 7).files("m")
		}, "2:/a=1 3:/b=1 4:/a=2", "3@2:applied:2 4@2:applied:3 5@2:applied:4 6@2:applied:0 7@2:unplaced:0",
			[]string{"no revisions are replayed of the entries 7 to 7: nothing is sure from there on: authentication is on"}},
		{"restored", func(t *testing.T) []File {
			return newWAL(t, 1).members(1).state(1, 1).snapshot(1, 1).leader(2, 1).put("/a", "1").state(1, 3).files("m")
		}, "", "3@2:unplaced:0", []string{"no revisions are replayed of the entries 1 to 3: what was stored before them is not known"}},
		{"restored, and the mark of the snapshot is damaged", func(t *testing.T) []File {
			return newWAL(t, 1).members(1).state(1, 1).leader(2, 1).put("/a", "1").state(1, 3).files("m")
		}, "", "3@2:unplaced:0", []string{"no revisions are replayed of the entries 1 to 3: what was stored before them is not known"}},
		{"a damage before the first request", func(t *testing.T) []File {
			return []File{damageText(t, newWAL(t, 1).members(1, 2).state(0, 2).leader(2, 2).put("/a", "1").state(1, 4).files("m")[0], `"m2"`)}
		}, "", "3@2:unplaced:0 4@2:unplaced:0", []string{"damaged", "entries 3 to 4: what was"}},
		{"writes that name other revisions", func(t *testing.T) []File {
			l := newWAL(t, 1).members(1).leader(2, 1).put("/a", "1")
			for i := range 10 {
				l.update("/a", "x", int64(500+i))
			}
			return l.state(1, 13).files("m")
		}, "", "3@2:unplaced:0 4@2:unplaced:0 5@2:unplaced:0 6@2:unplaced:0 7@2:unplaced:0 8@2:unplaced:0 9@2:unplaced:0 10@2:unplaced:0 11@2:unplaced:0 12@2:unplaced:0 13@2:unplaced:0",
			[]string{"no revisions are replayed of the entries 1 to 13: of 10 writes that name a revision of their key 10 would"}},
		{"another cluster of the same IDs", func(t *testing.T) []File {
			one := begun(t, 1).put("/c", "1").state(1, 6).files("m1")
			return join(one, newWAL(t, 1).members(1).state(0, 1).leader(2, 1).put("/a", "1").put("/other", "1").state(1, 4).files("m2"))
		}, "2:/a=1 3:/b=1 4:/a=2 5:/c=1", "3@2:applied:2 4@2:applied:3 5@2:applied:4 6@2:applied:5",
			[]string{"m2 rejected: not of one history with m1/member/wal: entry 4 is another request there"}},
		{"a cluster that was forced to begin anew", func(t *testing.T) []File {
			one := begun(t, 1).put("/c", "1").state(1, 6).files("m1")
			return join(one, begun(t, 1).leader(3, 4).state(1, 5).files("m2"))
		}, "2:/a=1 3:/b=1 4:/a=2 5:/c=1", "3@2:applied:2 4@2:applied:3 5@2:applied:4 6@2:applied:5",
			[]string{"m2 rejected: not of one history with m1/member/wal: entry 5 is of term 3 here and of term 2 there"}},
		{"another cluster", func(t *testing.T) []File {
			other := newWALOf(t, 7, 0xd).members(7).leader(2, 1).put("/z", "1").state(7, 3).files("m7")
			return join(begun(t, 1).state(1, 5).files("m1"), other)
		}, "2:/a=1 3:/b=1 4:/a=2", "3@2:applied:2 4@2:applied:3 5@2:applied:4",
			[]string{"m7 rejected: it is of cluster 000000000000000d, the others are of cluster 000000000000000c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := loadFiles(t, tt.files(t)...)
			if got := changes(h); got != tt.changes {
				t.Errorf("changes %s\n   want %s", got, tt.changes)
			}
			if got := entryStatesOf(h, 3); got != tt.entries {
				t.Errorf("entries %s\n   want %s", got, tt.entries)
			}
			checkProblems(t, h, tt.problems...)
		})
	}
}
