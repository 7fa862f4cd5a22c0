package snapshot

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// randomTwin makes a log of some segments, with entries that lost their place, and
// its store halfway and at the end.
func randomTwin(t testing.TB, seed uint64) (log []File, stores []File) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	p := newTwinOf(t, 1, 2, 3) // one member alone never loses an entry
	var half *etcdStore
	for i := range 150 {
		key := fmt.Sprint("/registry/k/", r.IntN(8))
		live := p.e.live[key]
		switch kind := r.IntN(10); {
		case kind < 4:
			p.put(key, strings.Repeat(fmt.Sprint(i), r.IntN(40)))
		case kind < 6 && live != nil:
			p.l.update(key, fmt.Sprint("update", i), live.ModRevision)
			p.e.put(key, fmt.Sprint("update", i))
		case kind < 7 && live != nil:
			p.l.update(key, "refused", live.ModRevision+1)
		case kind < 8 && live != nil:
			p.l.request(&etcdserverpb.InternalRaftRequest{DeleteRange: &etcdserverpb.DeleteRangeRequest{Key: []byte(key)}})
			p.e.del(key)
		case kind < 9 && live != nil:
			p.kept(key)
		}
		if r.IntN(4) == 0 {
			p.l.state(1, p.l.last)
		}
		if r.IntN(30) == 0 { // three entries that another leader overwrites
			last := p.l.last
			p.l.put(key, "lost").put(key, "lost too").put("/lost", "also")
			p.l.leader(p.l.term+1, last).state(1, last+1)
		}
		if i == 75 {
			half = p.store()
			half.compact(half.revision - 10)
		}
	}
	p.l.state(1, p.l.last)
	end := p.store()
	end.compact(end.revision - 5)
	return p.l.files("m"), written(t, half, end)
}

// mangle changes files as the fuzzer wants: seven bytes each say what, where and how.
func mangle(segments [][]byte, how []byte) [][]byte {
	segments = slices.Clone(segments)
	for ; len(how) >= 7; how = how[7:] {
		n := int(how[1]) % len(segments)
		b := slices.Clone(segments[n])
		if len(b) == 0 {
			continue
		}
		at, to := (int(how[2])<<8|int(how[3]))%len(b), (int(how[4])<<8|int(how[5]))%len(b)
		switch how[0] % 6 {
		case 0:
			b[at] ^= how[6]
		case 1:
			b = b[:at]
		case 2:
			clear(b[at:min(at+int(how[6]), len(b))])
		case 3:
			copy(b[to:], slices.Clone(b[at:min(at+int(how[6])*4, len(b))]))
		case 4: // of another segment
			copy(b[to:], segments[int(how[6])%len(segments)])
		case 5:
			b = slices.Insert(b, at&^7, make([]byte, int(how[6])&^7)...)
		}
		segments[n] = b
	}
	return segments
}

// FuzzReplayHistory damages the segments of a log: what is made of them, with
// stores or without, is what is made of the sound ones, or less.
func FuzzReplayHistory(f *testing.F) {
	log, stores := randomTwin(f, 1)
	if len(log) < 3 {
		f.Fatalf("%d segments", len(log))
	}
	var segments [][]byte
	for _, s := range log {
		b, err := os.ReadFile(s.OSPath)
		must(f, err)
		segments = append(segments, b)
	}
	sound := loadFiles(f, log...)
	truth := map[string]bool{}
	for _, w := range strings.Fields(changes(sound)) {
		truth[w] = true
	}
	outcome := map[[2]uint64]Entry{}
	for i := range sound.Entries() {
		e := sound.Entry(i)
		outcome[[2]uint64{e.Index, e.Term}] = e
	}
	f.Add([]byte{0, 1, 3, 0, 0, 0, 4}, byte(0), byte(0))
	f.Add([]byte{1, 0, 6, 0, 0, 0, 4, 2, 2, 4, 4, 0, 0, 200}, byte(1), byte(0))
	f.Add([]byte{3, 0, 1, 64, 6, 0, 90, 4, 1, 0, 0, 2, 0, 0}, byte(2), byte(0))
	f.Add([]byte{5, 0, 2, 0, 0, 0, 64}, byte(3), byte(2))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, how []byte, with, without byte) {
		var files []File
		for i, b := range mangle(segments, how) {
			if without&(1<<i) != 0 {
				continue
			}
			s := log[i]
			s.OSPath = filepath.Join(dir, filepath.Base(s.Path))
			must(t, os.WriteFile(s.OSPath, b, 0o600))
			files = append(files, s)
		}
		for i, s := range stores {
			if with&(1<<i) != 0 {
				files = append(files, s)
			}
		}
		h := loadFiles(t, files...)
		carved := map[string]bool{}
		for i := range h.Len() {
			if r := h.At(i); r.Carved {
				carved[revisionName(r.Main, r.Sub)] = true
			}
		}
		for _, w := range strings.Fields(changes(h)) {
			if name, _, _ := strings.Cut(w, ":"); !truth[w] && !carved[name] {
				t.Errorf("invented: %s", w)
			}
		}
		for i := range h.Entries() {
			e := h.Entry(i)
			want := outcome[[2]uint64{e.Index, e.Term}]
			switch {
			case want.Index == 0:
				t.Errorf("invented: %+v", e)
			case e.State == EntryLost && want.State != EntryLost, e.State < EntryUncommitted && want.State == EntryLost:
				t.Errorf("%+v, really %s", e, want.State)
			case e.State == EntryApplied || e.State == EntryRejected:
				if e.State != want.State || e.Revision != want.Revision || e.At != want.At || e.Found != want.Found {
					t.Errorf("%+v, really %+v", e, want)
				}
			}
		}
		if n := len(h.WALs()); n > 1 {
			t.Errorf("%d logs", n)
		}
	})
}

// TestReplayOfRandomTwins compares what a log makes with the store of the same
// requests.
func TestReplayOfRandomTwins(t *testing.T) {
	for seed := range uint64(4) {
		log, stores := randomTwin(t, seed)
		for _, files := range [][]File{log, join(log, stores), join(log, stores[:1]), join(log, stores[1:])} {
			h := loadFiles(t, files...)
			checkSound(t, h)
			got := asRecords(t, h)
			for _, s := range stores {
				for k, v := range records(t, s.OSPath) {
					if got[k] != v {
						t.Errorf("seed %d: record %x: the store has %x, the history %x", seed, k, v, got[k])
					}
				}
			}
			if h.CompactRevision() != 0 || count(h, func(r Revision) bool { return r.WAL }) != h.Len() {
				t.Errorf("seed %d: complete above %d", seed, h.CompactRevision())
			}
			for i := range h.Entries() {
				if e := h.Entry(i); e.State == EntryUnplaced || e.State == EntryUncommitted || (e.State == EntryLost) != (strings.HasPrefix(valueOfEntry(t, h, e), "lost") || e.Key == "/lost") {
					t.Errorf("seed %d: %+v", seed, e)
				}
			}
		}
	}
}

// valueOfEntry is what an entry of a put writes, "" for another one.
func valueOfEntry(t testing.TB, h *History, e Entry) string {
	t.Helper()
	if e.Verb != "put" {
		return ""
	}
	l := h.logs[e.WAL]
	for n := range l.log.Entries {
		if ref := l.log.Entries[n]; ref.Index == e.Index && ref.Term == e.Term {
			data, err := l.log.Data(n)
			must(t, err)
			var r etcdserverpb.InternalRaftRequest
			must(t, proto.Unmarshal(data, &r))
			return string(r.Put.Value)
		}
	}
	return ""
}
