package correlate

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"etcd-autopsy/fixtures/world"
)

// integrityCase is a folder of stores and what is said of them.
type integrityCase struct {
	name string
	make func(*testing.T, string)
	// kind is that of the one episode, "" for none.
	kind string
	// text is part of the episode's text, or of a note where there is no episode.
	text    string
	members []string
}

// healthyMembers saves a healthy rollout as the databases of three members.
func healthyMembers(t *testing.T, dir string) *scene {
	s := newScene(t)
	s.update()
	s.newSet(at(100 * ms))
	s.converge(at(sec))
	s.renewals()
	saveMembers(t, s.w, dir, 3)
	return s
}

// spoil changes the stored value at a revision of a member.
func spoil(t *testing.T, dir string, member int, mains ...int64) {
	editStore(t, memberPath(dir, member), func(tx *bolt.Tx) error {
		for _, main := range mains {
			must(t, editPut(tx, main, func(kv *mvccpb.KeyValue) { kv.Value = append(kv.Value, 0x1a, 0) }))
		}
		return nil
	})
}

// drop removes revisions of a member.
func drop(t *testing.T, dir string, member int, mains ...int64) {
	editStore(t, memberPath(dir, member), func(tx *bolt.Tx) error {
		for _, main := range mains {
			must(t, tx.Bucket([]byte("key")).Delete(revisionBytes(main)))
		}
		return nil
	})
}

// setIndex sets the raft index of a store: one below its revision is that of a
// restored one.
func setIndex(t *testing.T, path string, index int64) {
	editStore(t, path, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("consistent_index"), be64(index))
	})
}

// line saves a world of Lease renewals: common ones up to a minute, then own ones
// from a moment on.
func line(t *testing.T, path, holder string, from, to time.Duration) {
	w := world.New()
	w.Renew("kube-system", "kube-scheduler", "s", 0, 60*sec, 2*sec)
	w.Renew("kube-system", "kube-scheduler", holder, from, to, 2*sec)
	dir := t.TempDir()
	must(t, w.Save(dir))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.Rename(filepath.Join(dir, "state.db"), path))
}

var integrityCases = []integrityCase{
	{name: "healthy members", make: func(t *testing.T, dir string) { healthyMembers(t, dir) }},
	{name: "one member holds other bytes", make: func(t *testing.T, dir string) {
		healthyMembers(t, dir)
		spoil(t, dir, 3, 30, 40)
	}, kind: "member-inconsistency", text: "Members of etcd do not hold the same: in etcd-3, other than in etcd-1 and etcd-2, 2 revisions of ", members: []string{"etcd-3"}},
	{name: "the first member holds other bytes", make: func(t *testing.T, dir string) {
		healthyMembers(t, dir)
		spoil(t, dir, 1, 30)
	}, kind: "member-inconsistency", text: "in etcd-1, other than in etcd-2 and etcd-3, 1 revision of 1 key, the first at revision 30 of key /registry/", members: []string{"etcd-1"}},
	{name: "two members hold different bytes", make: func(t *testing.T, dir string) {
		healthyMembers(t, dir)
		spoil(t, dir, 2, 30, 31)
		must(t, os.Remove(memberPath(dir, 3)))
	}, kind: "member-inconsistency", text: "The stores do not tell which of the two is right", members: []string{"etcd-1", "etcd-2"}},
	{name: "one member lacks revisions", make: func(t *testing.T, dir string) {
		healthyMembers(t, dir)
		drop(t, dir, 2, 30, 31)
	}, kind: "member-inconsistency", text: "missing in etcd-2, and held by etcd-1 and etcd-3, 2 revisions of ", members: []string{"etcd-2"}},
	{name: "one member is behind", make: func(t *testing.T, dir string) {
		healthyMembers(t, dir)
		editStore(t, memberPath(dir, 2), func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("key"))
			c := b.Cursor()
			for range 20 {
				k, _ := c.Last()
				must(t, b.Delete(k))
			}
			return nil
		})
	}},
	{name: "a damaged copy", make: func(t *testing.T, dir string) {
		healthyMembers(t, dir)
		b, err := os.ReadFile(memberPath(dir, 2))
		must(t, err)
		for at := 5 * os.Getpagesize(); at < len(b)/2; at += os.Getpagesize() {
			copy(b[at:], bytes.Repeat([]byte{0xee}, 64))
		}
		must(t, os.WriteFile(memberPath(dir, 2), b, 0o600))
	}},
	{name: "a store of another cluster", make: func(t *testing.T, dir string) {
		healthyMembers(t, dir)
		w := world.New()
		w.Start = w.Start.Add(-1000 * time.Hour)
		w.Renew("kube-system", "kube-scheduler", "s", 0, 200*sec, 2*sec)
		must(t, w.Save(filepath.Join(dir, "old")))
	}},
	{name: "a restore between two stores", make: func(t *testing.T, dir string) {
		line(t, filepath.Join(dir, "lost.db"), "s", 62*sec, 100*sec)
		line(t, memberPath(dir, 1), "new", 160*sec, 200*sec)
		setIndex(t, memberPath(dir, 1), 20)
	}, kind: "restore-rewind", text: "etcd was restored to a state of revision 32: revisions 33 to 52 of ", members: []string{"etcd-1"}},
	{name: "the restored one is the longer", make: func(t *testing.T, dir string) {
		line(t, filepath.Join(dir, "lost.db"), "s", 62*sec, 100*sec)
		line(t, memberPath(dir, 1), "new", 160*sec, 300*sec)
		line(t, memberPath(dir, 2), "new", 160*sec, 300*sec)
		setIndex(t, memberPath(dir, 1), 80)
		setIndex(t, memberPath(dir, 2), 80)
	}, kind: "restore-rewind", text: "revisions 33 to 52 of ", members: []string{"etcd-1"}},
	{name: "a second cluster from a snapshot of the first", make: func(t *testing.T, dir string) {
		line(t, memberPath(dir, 1), "s", 62*sec, 300*sec)
		line(t, filepath.Join(dir, "clone.db"), "new", 160*sec, 200*sec)
		setIndex(t, filepath.Join(dir, "clone.db"), 20)
	}, text: "they may be two clusters"},
	{name: "a restore of which only one side is there", make: func(t *testing.T, dir string) {
		line(t, memberPath(dir, 1), "new", 160*sec, 200*sec)
		setIndex(t, memberPath(dir, 1), 20)
	}, text: "at a time that it does not tell"},
	{name: "a restore before all that is looked at", make: func(t *testing.T, dir string) {
		line(t, filepath.Join(dir, "lost.db"), "s", 62*sec, 100*sec)
		line(t, memberPath(dir, 1), "new", 160*sec, 900*sec)
		setIndex(t, memberPath(dir, 1), 80)
		editStore(t, memberPath(dir, 1), func(tx *bolt.Tx) error {
			at := append(append(be64(300), '_'), be64(0)...)
			must(t, tx.Bucket([]byte("meta")).Put([]byte("scheduledCompactRev"), at))
			return tx.Bucket([]byte("meta")).Put([]byte("finishedCompactRev"), at)
		})
	}, text: "the first was restored from a snapshot"},
}

func TestIntegrity(t *testing.T) {
	for _, tt := range integrityCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tt.make(t, dir)
			a := analyzeDir(t, dir)
			var eps []Episode
			for _, e := range a.Episodes {
				if integrityKind(e.Kind) {
					eps = append(eps, e)
				}
			}
			if tt.kind == "" {
				if len(eps) > 0 {
					t.Fatalf("an episode of what is none: %+v", eps)
				}
				if notes := strings.Join(a.Coverage.Notes, "\n"); !strings.Contains(notes, tt.text) {
					t.Errorf("no note %q in\n%s", tt.text, notes)
				}
				return
			}
			if len(eps) != 1 || eps[0].Kind != tt.kind || eps[0].Harmless || eps[0].Because == "" || len(eps[0].AffectedRollouts) > 0 {
				t.Fatalf("episodes %+v, want one of %s", eps, tt.kind)
			}
			e := eps[0]
			if !strings.Contains(e.Text, tt.text) || !slices.Equal(e.Members, tt.members) {
				t.Errorf("text %q, members %v", e.Text, e.Members)
			}
			checkBothSides(t, a, e)
			if a.Verdict.Cause == nil || *a.Verdict.Cause != tt.kind || a.Verdict.Episode == nil {
				t.Errorf("verdict %+v", a.Verdict)
			}
			for _, r := range a.Rollouts {
				for _, f := range r.Findings {
					if integrityKind(f.Cause) {
						t.Errorf("%s is said to have a part in %s: %s", f.Cause, r.ID, f.Text)
					}
				}
			}
		})
	}
}

// checkBothSides wants evidence of one revision from two stores.
func checkBothSides(t *testing.T, a *Analysis, e Episode) {
	t.Helper()
	sources := map[int64]map[string]bool{}
	for _, id := range e.Evidence {
		i := slices.IndexFunc(a.Evidence, func(x Evidence) bool { return x.ID == id })
		x := a.Evidence[i]
		if x.Revision == 0 || x.Key == "" || x.Text == "" {
			t.Errorf("evidence %+v", x)
		}
		if sources[x.Revision] == nil {
			sources[x.Revision] = map[string]bool{}
		}
		sources[x.Revision][x.Source] = true
	}
	for _, s := range sources {
		if len(s) == 2 {
			return
		}
	}
	t.Errorf("no revision is cited from two stores: %v", sources)
}

// TestInconsistentRollout: that members differ in the rollout's own objects is a
// possible part of a stall, and that they differ elsewhere is none.
func TestInconsistentRollout(t *testing.T) {
	stalled := func(t *testing.T, differs string, scheduler bool) *Analysis {
		dir := t.TempDir()
		s := newScene(t)
		s.update()
		s.newSet(at(100 * ms))
		s.newPod(at(200 * ms))
		if !scheduler {
			s.silence("kube-scheduler", at(-1*sec), 1000*sec)
		}
		s.renewals()
		saveMembers(t, s.w, dir, 3)
		c := loadDir(t, dir)
		main := c.hist.At(c.hist.Key(differs)[0]).Main
		spoil(t, dir, 3, main)
		return analyzeDir(t, dir)
	}
	const pod, lease = "/registry/pods/shop/cart-new-60", "/registry/leases/kube-system/kube-controller-manager"
	candidate := Candidate{"member-inconsistency", Possible}
	tests := []struct {
		name, key string
		// scheduler says whether it is there: then nothing explains the stall.
		scheduler  bool
		candidates []Candidate
		role       Role
	}{
		{"the pod of an unexplained stall", pod, true, []Candidate{candidate}, ""},
		{"another object", lease, true, []Candidate{}, ""},
		{"the pod of an explained stall", pod, false, []Candidate{}, RoleContributing},
		{"another object than that of an explained stall", lease, false, []Candidate{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := stalled(t, tt.key, tt.scheduler)
			r, v := last(t, a), a.Verdict
			if r.StalledStage == nil || *r.StalledStage != stageSchedule || v.WouldSettle == "" == tt.scheduler {
				t.Fatalf("stalls %s, verdict %+v", stallsText(r), v)
			}
			if d := cmp.Diff(tt.candidates, v.Candidates); d != "" {
				t.Errorf("candidates (-want +got):\n%s", d)
			}
			role := Role("")
			for _, f := range r.Findings {
				if f.Cause == "member-inconsistency" {
					role = f.Role
				}
				if f.Confidence == Proven || f.Confidence == Likely {
					t.Errorf("%s is %s though members contradict each other", f.Cause, f.Confidence)
				}
			}
			if role != tt.role {
				t.Errorf("role %q, want %q: %+v", role, tt.role, r.Findings)
			}
			if v.Cause != nil && *v.Cause == "member-inconsistency" {
				t.Errorf("verdict %s", v.Text)
			}
		})
	}
}
