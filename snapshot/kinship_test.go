package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clusterOf is a store of a cluster that was set up like every other: what is
// written first is equal everywhere, and all members have the same IDs.
func clusterOf(name string, revisions int) *etcdStore {
	e := newEtcdStore().schema("3.6").index(uint64(revisions) + 100).member(1)
	e.put("/registry/ranges/serviceips", "an empty range")
	for i := range revisions {
		e.put(fmt.Sprint("/registry/pods/default/", i%7), fmt.Sprint(name, i))
	}
	return e
}

// events is an etcd for Events alone.
func events(revisions int) *etcdStore {
	e := newEtcdStore().schema("3.6").index(uint64(revisions) + 100).member(9)
	for i := range revisions {
		e.put(fmt.Sprint("/registry/events/default/web.", i), "an event")
		if i%50 == 49 {
			e.put("compact_rev_key", fmt.Sprint(i))
		}
	}
	return e
}

// TestKinship has stores of several histories in one input: which history is read,
// and what is said of the stores that are not part of it.
func TestKinship(t *testing.T) {
	own := clusterOf("own", 60)
	older := clusterOf("own", 30)
	odd := clusterOf("own", 40).index(500)
	for i := range 200 { // more than the others have, and not what they have
		odd.put("/registry/pods/default/0", fmt.Sprint("odd", i))
	}
	other := clusterOf("other", 300)
	short := newEtcdStore().schema("3.6").member(1)
	short.put("a", "x")
	unlisted := events(3000) // it does not say who its members are
	unlisted.others["members"] = nil
	unlisted.compact(2900)
	later := events(3000)
	later.compact(2900)
	const foreign = "another cluster"
	tests := []struct {
		name   string
		stores []*etcdStore
		// read are the stores that are merged; the others are foreign if told so.
		read, foreign string
		reason        string
		inconsistent  bool
	}{
		{"one cluster", []*etcdStore{own, older, own}, "012", "", "", false},
		{"two clusters set up alike", []*etcdStore{own, other}, "1", "0", foreign, false},
		{"three stores against a larger one", []*etcdStore{other, own, older, own}, "123", "0", foreign, false},
		{"two against two", []*etcdStore{own, other, own, other}, "13", "02", foreign, false},
		{"a larger member that differs from two", []*etcdStore{odd, own, own}, "12", "", "not of one history with b", true},
		{"two members that differ", []*etcdStore{odd, own}, "0", "", "not of one history with a", true},
		{"too little to tell", []*etcdStore{own, short}, "0", "", "not of one history with a", false},
		{"Events beside the main store", []*etcdStore{own, events(40)}, "0", "1", "k8s Events only", false},
		{"many more Events", []*etcdStore{events(500), own}, "1", "0", "k8s Events only", false},
		{"all members' Events", []*etcdStore{events(500), events(500), events(500), own}, "3", "012", "k8s Events only", false},
		{"Events without a revision in common", []*etcdStore{later, own}, "1", "0", "k8s Events only", false},
		{"Events of members that are not known", []*etcdStore{unlisted, own}, "1", "0", "k8s Events only", false},
		{"Events alone", []*etcdStore{events(40), events(30)}, "01", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for i, e := range tt.stores {
				paths = append(paths, e.file(t, filepath.Join(dir, string(rune('a'+i)))))
			}
			h := load(t, paths...)
			read, strange := "", ""
			for i, s := range h.Stores() {
				if s.Rejected == "" {
					read += fmt.Sprint(i)
				} else if !strings.Contains(s.Rejected, tt.reason) {
					t.Errorf("store %d is rejected: %s", i, s.Rejected)
				}
				if s.Foreign {
					strange += fmt.Sprint(i)
				}
				if len(s.Problems) > 0 {
					t.Errorf("store %d: %q", i, s.Problems)
				}
			}
			if read != tt.read || strange != tt.foreign {
				t.Errorf("read %s, foreign %q; want %s and %q", read, strange, tt.read, tt.foreign)
			}
			if n := len(h.Inconsistencies()); n > 0 != tt.inconsistent || len(h.Rewinds()) > 0 {
				t.Errorf("%d inconsistencies, rewinds %v", n, h.Rewinds())
			}
			fault := strings.Contains(statuses(CheckMembers(h)), "one history: fault")
			if want := tt.inconsistent || tt.name == "too little to tell"; fault != want {
				t.Errorf("check says fault %v, want %v: %v", fault, want, CheckMembers(h))
			}
		})
	}
}

// TestGroupsOfDamaged: what a merge said of a damaged store is said once, although
// the stores are merged several times.
func TestGroupsOfDamaged(t *testing.T) {
	dir := t.TempDir()
	own := clusterOf("own", 2000)
	damaged := own.file(t, filepath.Join(dir, "d"))
	b, err := os.ReadFile(damaged)
	must(t, err)
	b = bytes.ReplaceAll(b, []byte("own20"), []byte("OWN20"))
	page := bytes.LastIndex(b, []byte("own1500")) &^ 4095
	clear(b[page : page+4096])
	must(t, os.WriteFile(damaged, b, 0o600))
	paths := []string{damaged, own.file(t, filepath.Join(dir, "a"))}
	alone := load(t, paths...)
	for _, name := range []string{"x", "y", "z"} {
		paths = append(paths, clusterOf(name, 100).file(t, filepath.Join(dir, name)))
	}
	beside := load(t, paths...)
	if said := strings.Join(alone.Stores()[1].Problems, "\n"); !strings.Contains(said, "have other bytes than in other stores and are left out of this one") {
		t.Fatalf("the damaged store: %s", said)
	}
	if d := cmp.Diff(alone.Stores(), beside.Stores()[:2]); d != "" {
		t.Errorf("stores beside other clusters (-alone +beside):\n%s", d)
	}
	if d := cmp.Diff(alone.Contradictions(), beside.Contradictions()); d != "" {
		t.Errorf("contradictions beside other clusters (-alone +beside):\n%s", d)
	}
}
