package correlate

import (
	"fmt"
	"strings"
	"testing"

	"etcd-autopsy/fixtures/world"
)

// elections are three members whose leader is lost; two stand and one is elected.
func elections(s *scene) {
	ids := world.MemberIDs
	for i, m := range []string{"etcd-1", "etcd-2", "etcd-3"} {
		s.w.EtcdStart(0, m, ids[i])
		s.w.Etcd(sec, m, "info", fmt.Sprintf("raft.node: %s elected leader %s at term 2", ids[i], ids[0]))
	}
	for i, m := range []string{"etcd-2", "etcd-3"} {
		s.w.Etcd(10*sec, m, "info", fmt.Sprintf("raft.node: %s lost leader %s at term 2", ids[i+1], ids[0]))
		s.w.Etcd(11*sec, m, "info", ids[i+1]+" became pre-candidate at term 2")
		s.w.Etcd(12500*ms, m, "info", fmt.Sprintf("raft.node: %s elected leader %s at term 3", ids[i+1], ids[1]))
	}
	s.w.Etcd(12*sec, "etcd-2", "info", ids[1]+" became candidate at term 3")
	s.w.Etcd(12400*ms, "etcd-2", "info", ids[1]+" became leader at term 3")
}

func TestTerms(t *testing.T) {
	s := newScene(t)
	elections(s)
	a := s.analyze()
	if len(a.Terms) != 2 {
		t.Fatalf("%+v", a.Terms)
	}
	one, two := a.Terms[0], a.Terms[1]
	if one.Leader != world.MemberIDs[0] && one.Leader != "etcd-1" || one.Election != nil || len(one.SeenBy) != 3 || one.Disputed != nil {
		t.Errorf("%+v", one)
	}
	if two.Election == nil || *two.Election != 2.4 || strings.Join(two.Stood, " ") != "etcd-2 etcd-3" || strings.Join(two.SeenBy, " ") != "etcd-2 etcd-3" {
		t.Errorf("%+v %v", two, two.Election)
	}
	if !two.Start.Equal(s.w.Time(12400*ms)) || one.End == nil || one.End.Sub(s.w.Time(10*sec)) != 0 {
		t.Errorf("%v to %v", one.End, two.Start)
	}
}

// Two leaders of one term cannot be.
func TestTermsDisputed(t *testing.T) {
	s := newScene(t)
	elections(s)
	s.w.Etcd(13*sec, "etcd-1", "info", fmt.Sprintf("raft.node: %s elected leader %s at term 3", world.MemberIDs[0], world.MemberIDs[2]))
	if two := s.analyze().Terms[1]; strings.Join(two.Disputed, " ") != "etcd-3" {
		t.Errorf("%+v", two)
	}
}

// Without a log the votes in the WALs tell; they do only with those of a majority.
func TestTermsVoted(t *testing.T) {
	for n, want := range map[int]int{3: 1, 1: 0} {
		s := newScene(t)
		dir := t.TempDir()
		if err := s.w.Save(dir); err != nil {
			t.Fatal(err)
		}
		members := []int{1, 2, 3}[:n]
		if err := s.w.SaveWAL(dir, members...); err != nil {
			t.Fatal(err)
		}
		a := analyzeDir(t, dir)
		voted := 0
		for _, x := range a.Terms {
			if x.Source == "wal" {
				voted++
				if len(x.SeenBy) < 2 || x.Leader == "" {
					t.Errorf("%+v", x)
				}
			}
		}
		if voted != want {
			t.Errorf("%d members: %+v", n, a.Terms)
		}
	}
}
