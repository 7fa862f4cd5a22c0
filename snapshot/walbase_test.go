package snapshot

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/raft/v3/raftpb"
)

// twin is a log and the store that it makes.
type twin struct {
	l *madeWAL
	e *etcdStore
}

// newTwin begins a cluster of one member, in term 2.
func newTwin(t testing.TB) *twin { return newTwinOf(t, 1) }

// newTwinOf begins a cluster of some members; the log is that of member 1.
func newTwinOf(t testing.TB, members ...uint64) *twin {
	p := &twin{newWAL(t, 1).members(members...), newEtcdStore().schema("3.6")}
	p.l.state(0, p.l.last).leader(2, p.l.last)
	for _, id := range members {
		p.e.member(id)
	}
	return p
}

// endOfTwin is a twin whose log lacks the entries up to 3.
func endOfTwin(t testing.TB) *twin {
	p := &twin{newWAL(t, 1), newTwin(t).e}
	p.l.term, p.l.last = 2, 3
	p.e.put("/a", "1")
	return p
}

func (p *twin) put(key, value string) {
	p.l.put(key, value)
	p.e.put(key, value)
}

// kept puts a key and keeps its value.
func (p *twin) kept(key string) {
	p.l.request(&etcdserverpb.InternalRaftRequest{Put: &etcdserverpb.PutRequest{Key: []byte(key), IgnoreValue: true}})
	p.e.put(key, string(p.e.live[key].Value))
}

// store is a copy of the store as it is now.
func (p *twin) store() *etcdStore { return p.e.clone().index(p.l.last).inTerm(p.l.term) }

// inTerm sets the term of a store's last entry.
func (e *etcdStore) inTerm(term uint64) *etcdStore {
	e.others["meta"]["term"] = binary.BigEndian.AppendUint64(nil, term)
	return e
}

// written writes stores as files whose names are their places in the list.
func written(t testing.TB, stores ...*etcdStore) (files []File) {
	t.Helper()
	for i, e := range stores {
		name := fmt.Sprint("db", i)
		files = append(files, File{Input: name, Path: name, OSPath: e.file(t, filepath.Join(t.TempDir(), name))})
	}
	return files
}

// logged counts the revisions that a log makes, and names the first and last.
func logged(h *History) string {
	n, first, last := 0, int64(0), int64(0)
	for i := range h.Len() {
		if r := h.At(i); r.WAL {
			if n++; first == 0 {
				first = r.Main
			}
			last = r.Main
		}
	}
	return fmt.Sprintf("%d: %d-%d", n, first, last)
}

// TestBases has logs beside stores of the same cluster, and of others.
func TestBases(t *testing.T) {
	tests := []struct {
		name     string
		files    func(t *testing.T) []File
		logged   string
		last     int64
		floor    int64
		problems []string
	}{
		{"a store in the middle", func(t *testing.T) []File {
			p := endOfTwin(t)
			p.put("/a", "2") // 3, entry 4
			s := p.store()
			p.put("/b", "1")
			p.put("/a", "3")
			return join(p.l.state(1, 6).files("m"), written(t, s))
		}, "2: 4-5", 5, 0, nil},
		{"a store right before", func(t *testing.T) []File {
			p := endOfTwin(t)
			s := p.store()
			p.put("/b", "1")
			return join(p.l.state(1, 4).files("m"), written(t, s))
		}, "1: 3-3", 3, 0, nil},
		{"a store before a hole", func(t *testing.T) []File {
			p := endOfTwin(t)
			s := p.store()
			s.index(2)
			p.put("/b", "1")
			return join(p.l.state(1, 4).files("m"), written(t, s))
		}, "0: 0-0", 2, 0, []string{"entries 4 to 4: what was stored before them is not known"}},
		{"a store in another term", func(t *testing.T) []File {
			p := endOfTwin(t)
			p.put("/a", "2")
			s := p.store().inTerm(3)
			p.put("/b", "1")
			return join(p.l.state(1, 5).files("m"), written(t, s))
		}, "0: 0-0", 3, 0, []string{"entries 4 to 5: what was stored before them is not known"}},
		{"a store of a later term right before", func(t *testing.T) []File {
			p := endOfTwin(t)
			s := p.store().inTerm(3)
			p.put("/b", "1")
			return join(p.l.state(1, 4).files("m"), written(t, s))
		}, "0: 0-0", 2, 0, []string{"entries 4 to 4: what was stored before them is not known"}},
		{"a store without an index", func(t *testing.T) []File {
			p := newTwin(t)
			p.e.revision = 40
			s := p.store().index(0)
			s.put("/old", "1")
			p.l.put("/b", "1")
			return join(p.l.snapshot(1, 1).state(1, 3).files("m"), written(t, s))
		}, "0: 0-0", 41, 0, []string{"entries 1 to 3: what was stored before them is not known"}},
		{"a compacted store whose last revision was deleted", func(t *testing.T) []File {
			p := endOfTwin(t)
			p.l.request(&etcdserverpb.InternalRaftRequest{DeleteRange: &etcdserverpb.DeleteRangeRequest{Key: []byte("/a")}})
			p.e.put("/b", "1")
			p.l.put("/b", "1")
			p.e.revision = 4
			s := p.store()
			s.compact(4)
			p.put("/c", "1")
			return join(p.l.state(1, 6).files("m"), written(t, s))
		}, "1: 5-5", 5, 4, nil},
		{"another cluster's log", func(t *testing.T) []File {
			p := newTwin(t)
			p.put("/a", "1")
			return join(newWALOf(t, 7, 0xd).members(7).leader(2, 1).put("/z", "1").state(7, 3).files("m7"), written(t, p.store()))
		}, "0: 0-0", 2, 0, []string{"it is of member 0000000000000007 of cluster 000000000000000d, which no store knows"}},
		{"a member that came later", func(t *testing.T) []File {
			p := newTwin(t)
			s := p.store()
			p.put("/a", "1")
			one := p.l.state(1, 3).files("m1")
			return join(one, newWAL(t, 9).members(1).leader(2, 1).put("/a", "1").state(1, 3).files("m9"), written(t, s))
		}, "1: 2-2", 2, 0, nil},
		{"restored, with its store", func(t *testing.T) []File {
			p := newTwin(t)
			p.l.snapshot(1, 1)
			p.e.revision = 500
			p.put("/a", "1")
			s := p.store()
			p.put("/a", "2")
			return join(p.l.state(1, 4).files("m"), written(t, s))
		}, "1: 502-502", 502, 0, nil},
		{"restored, with the store from before", func(t *testing.T) []File {
			p := newTwin(t)
			p.l.snapshot(1, 1)
			p.e.put("/a", "0")
			s := p.e.clone().index(4).inTerm(2) // of the old cluster, whose IDs are the same
			for i := range 6 {
				p.put("/a", fmt.Sprint(i))
			}
			return join(p.l.state(1, 8).files("m"), written(t, s))
		}, "0: 0-0", 2, 0, []string{"entries 1 to 8: what was stored before them is not known"}},
		{"new, with the store of one that was restored", func(t *testing.T) []File {
			p := newTwin(t)
			p.put("/a", "1")
			s := p.store()
			s.revision = 600
			s.put("/x", "1")
			p.put("/a", "2")
			return join(p.l.state(1, 4).files("m"), written(t, s))
		}, "0: 0-0", 601, 0, []string{"entries 1 to 4: they do not fit the stores: revision 3 of key \"/a\" is not in a store that should have it"}},
		{"an unknown request, and a store behind it", func(t *testing.T) []File {
			p := newTwin(t)
			p.put("/a", "1")
			p.l.save(raftpb.EntryNormal, []byte{0xfa, 0xff, 0x03, 0x01, 'x'})
			p.e.put("/secret", "1") // it was a put
			p.put("/a", "2")
			s := p.store()
			p.put("/a", "3")
			return join(p.l.state(1, 6).files("m"), written(t, s))
		}, "2: 2-5", 5, 0, []string{"entries 4 to 5: nothing is sure from there on: an entry could not be decoded"}},
		{"an unknown request that changes nothing, and a store behind it", func(t *testing.T) []File {
			p := newTwin(t)
			p.put("/a", "1")
			p.l.save(raftpb.EntryNormal, []byte{0xfa, 0xff, 0x03, 0x01, 'x'})
			p.put("/a", "2")
			s := p.store()
			p.put("/a", "3")
			return join(p.l.state(1, 6).files("m"), written(t, s))
		}, "3: 2-4", 4, 0, nil},
		{"a store with authentication on", func(t *testing.T) []File {
			p := endOfTwin(t)
			s := p.store()
			s.others["auth"]["authEnabled"] = []byte{1}
			p.put("/a", "2")
			return join(p.l.state(1, 4).files("m"), written(t, s))
		}, "0: 0-0", 2, 0, []string{"nothing is sure from there on: authentication is on"}},
		{"one store is wrong, the next is right", func(t *testing.T) []File {
			p := endOfTwin(t)
			wrong := p.e.clone().index(4).inTerm(2)
			for i := range 30 {
				p.put("/a", fmt.Sprint(i))
			}
			right := p.store()
			p.put("/b", "1")
			return join(p.l.state(1, 34).files("m"), written(t, wrong, right))
		}, "31: 3-33", 33, 0, []string{"entries 4 to 33: they do not fit the stores: revision 3 ", "entries 4 to 33 is not known: 30 were placed"}},
		{"a store from before a restore, and a log without its beginning", func(t *testing.T) []File {
			p := endOfTwin(t)
			s := p.e.clone().index(5).inTerm(2)
			p.put("/a", "0")
			p.put("/a", "1")
			for i := range 12 { // the restored store was at revision 100
				p.l.update("/a", fmt.Sprint(i), int64(100+i))
			}
			return join(p.l.state(1, 17).files("m"), written(t, s))
		}, "0: 0-0", 2, 0, []string{"entries 4 to 17: of 12 writes that name a revision of their key 12 would"}},
		{"a value that is kept, from the store", func(t *testing.T) []File {
			p := endOfTwin(t)
			s := p.store()
			p.kept("/a")
			p.kept("/a")
			p.put("/a", "new")
			p.kept("/a")
			return join(p.l.state(1, 7).files("m"), written(t, s))
		}, "4: 3-6", 6, 0, nil},
		{"one record differs", func(t *testing.T) []File {
			p := newTwin(t)
			for i := range 30 {
				p.put("/a", fmt.Sprint(i))
			}
			s := p.store()
			k := string(revisionKey{main: 25}.append(nil))
			s.records[k] = slices.Concat(s.records[k], []byte{0x30, 9}) // a lease
			p.put("/a", "last")
			return join(p.l.state(1, 33).files("m"), written(t, s))
		}, "24: 2-32", 32, 0, []string{"entries 26 to 32: they do not fit the stores: revision 25 is of other bytes in a store (29 records are equal, 1 are not)"}},
		{"a store lacks a revision", func(t *testing.T) []File {
			p := newTwin(t)
			for i := range 30 {
				p.put("/a", fmt.Sprint(i))
			}
			s := p.store()
			delete(s.records, string(revisionKey{main: 25}.append(nil)))
			return join(p.l.state(1, 32).files("m"), written(t, s))
		}, "23: 2-24", 31, 0, []string{"entries 26 to 32: they do not fit the stores: revision 25 of key \"/a\" is not in a store that should have it"}},
		{"a store has a revision too many", func(t *testing.T) []File {
			p := newTwin(t)
			for i := range 30 {
				p.put("/a", fmt.Sprint(i))
			}
			p.e.put("/strange", "1")
			return join(p.l.state(1, 32).files("m"), written(t, p.store()))
		}, "30: 2-31", 32, 0, nil},
		{"another history", func(t *testing.T) []File {
			p, other := newTwin(t), newTwin(t)
			for i := range 30 {
				p.put("/a", fmt.Sprint(i))
				other.put("/b", fmt.Sprint(i))
			}
			return join(p.l.state(1, 32).files("m"), written(t, other.store()))
		}, "0: 0-0", 31, 0, []string{"entries 1 to 32: they do not fit the stores: revision 2 is of other bytes in a store (0 records are equal, 30 are not)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := loadFiles(t, tt.files(t)...)
			if got := logged(h); got != tt.logged || h.Last() != tt.last || h.CompactRevision() != tt.floor {
				t.Errorf("the log makes %s, last %d, complete above %d; want %s, %d and %d: %s", got, h.Last(), h.CompactRevision(), tt.logged, tt.last, tt.floor, changes(h))
			}
			checkProblems(t, h, tt.problems...)
			for i := range h.Entries() {
				e := h.Entry(i)
				if n, ok := h.EntryOfRevision(e.Revision); e.State == EntryUnplaced && (e.Revision != 0 || e.At != 0 || e.Found != -1 || e.Reason != "") || e.Revision > 0 && (!ok || n != i) {
					t.Errorf("%+v", e)
				}
			}
			for i := range h.Len() {
				if _, err := h.Value(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestKeptValues reads the values of puts that kept those of others.
func TestKeptValues(t *testing.T) {
	p := endOfTwin(t)
	s := p.store()
	p.kept("/a")
	p.kept("/a")
	p.put("/a", "new")
	p.kept("/a")
	h := loadFiles(t, join(p.l.state(1, 7).files("m"), written(t, s))...)
	if got, want := changes(h), "2:/a=1 3:/a=1 4:/a=1 5:/a=new 6:/a=new"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestCarvedAgainstLog has records outside the tree of a store, some of which were
// changed: the log knows better.
func TestCarvedAgainstLog(t *testing.T) {
	p := newTwin(t)
	for i := range 400 {
		p.put(fmt.Sprint("/registry/pods/default/p", i%7), fmt.Sprintf("value-%03d-%s", i, strings.Repeat("x", i%90)))
	}
	path := p.store().file(t, filepath.Join(t.TempDir(), "db"))
	p.e.compact(390)
	advance(t, path, p.store())
	db := File{Input: "db", Path: "db", OSPath: path}
	carved := loadFiles(t, db)
	at := -1
	for i := range carved.Len() {
		if carved.At(i).Carved {
			at = i
			break
		}
	}
	if at < 0 {
		t.Fatal("nothing lies outside the tree")
	}
	value, err := carved.Value(at)
	must(t, err)
	damaged := damageText(t, db, string(value))
	log := p.l.state(1, 402).files("m")
	for _, f := range []File{db, damaged} {
		h := loadFiles(t, join(log, []File{f})...)
		checkProblems(t, h)
		if h.Len() != 400 || h.CompactRevision() != 0 || logged(h) != "400: 2-401" {
			t.Errorf("%d revisions above %d, of the log %s", h.Len(), h.CompactRevision(), logged(h))
		}
		for i := range h.Len() {
			r := h.At(i)
			if v, err := h.Value(i); err != nil || r.Carved || !strings.HasPrefix(string(v), fmt.Sprintf("value-%03d-", i)) || (len(r.Stores) == 0) != (r.Main < 384) { // the newest of each key is left by the compaction
				t.Errorf("%+v is %.20s, %v", r, v, err)
			}
		}
		problems := h.Stores()[0].Problems
		if f == db && len(problems) > 0 || f == damaged && (len(problems) != 1 || !strings.Contains(problems[0], "1 records outside its tree are not what the raft log says")) {
			t.Errorf("problems %q", problems)
		}
	}
}
