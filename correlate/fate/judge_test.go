package fate

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"etcd-autopsy/fixtures/world"
	"etcd-autopsy/snapshot"
)

// stories are a case of each fate and the near misses beside it.
var stories = []struct {
	name string
	tell func(s *story)
	want []want
}{
	{"landed by request ID", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		r := s.patch("", 1*sec, 2*sec, 500, timedOutText)
		r.ID = s.w.Put(3*sec, s.cm("y", 3*sec))
		s.times = append(s.times, s.w.Time(3*sec))
		s.goOn(10 * sec)
	}, []want{{Landed, 3, 0}}},
	{"an ID that no entry has", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.patch("", 1*sec, 2*sec, 500, timedOutText).ID = 99
		s.put(3*sec, s.cm("y", 3*sec))
		s.goOn(10 * sec)
	}, []want{{fate: NotProposed}}},
	{"an ID that no entry has, but a log is missing", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.patch("", 1*sec, 2*sec, 500, timedOutText).ID = 99
		s.goOn(10 * sec)
		s.members = []int{1, 3}
	}, []want{{fate: Unknown}}},
	{"update by its precondition", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(20*sec, s.cm("kcm", 12*sec))
		r := s.patch("kcm", 12*sec, 15*sec, 500, timedOutText)
		r.Verb, r.Expected = "update", 2
		s.goOn(30 * sec)
	}, []want{{Landed, 3, 0}}},
	{"update of another revision", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(2*sec, s.cm("y", 2*sec))
		s.put(13*sec, s.cm("kcm", 12*sec))
		r := s.patch("kcm", 12*sec, 15*sec, 500, timedOutText)
		r.Verb, r.Expected = "update", 2
		s.goOn(30 * sec)
	}, []want{{fate: NotProposed}}},
	{"update of the same revision by another manager", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(13*sec, s.cm("scheduler", 12*sec))
		r := s.patch("kcm", 12*sec, 15*sec, 500, timedOutText)
		r.Verb, r.Expected = "update", 2
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}}},
	{"patch by its managed fields", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(20*sec, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
	}, []want{{Landed, 3, 0}}},
	{"a patch beside one of another manager", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(13*sec, s.cm("controller", 13*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
	}, []want{{fate: NotProposed}}},
	{"a patch before one of the same manager", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.put(21*sec, s.cm("kubectl", 21*sec)) // its next one, which no log shows
		s.goOn(30 * sec)
	}, []want{{fate: NotProposed}}},
	{"a patch that must not steal the revision of the answered one", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		rev := s.put(12*sec+500*ms, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec+100*ms, 12*sec+300*ms, 500, timedOutText)
		s.patch("kubectl", 12*sec+400*ms, 12*sec+600*ms, 200, "").Revision = rev
		s.goOn(30 * sec)
	}, []want{{fate: NotProposed}, {Landed, 3, 0}}},
	{"an answered one whose revision is not known may have made it", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(12*sec+500*ms, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec+100*ms, 12*sec+300*ms, 500, timedOutText)
		s.patch("kubectl", 12*sec+400*ms, 12*sec+600*ms, 200, "")
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}, {fate: Landed}}},
	{"a retry that changed nothing does not take the revision of the first try", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		rev := s.put(20*sec, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.patch("kubectl", 19*sec+500*ms, 21*sec, 200, "").Revision = rev // by time alone
		s.goOn(30 * sec)
	}, []want{{Landed, 3, 0}, {fate: Landed}}},
	{"a write that stamps nothing may be anybody's", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(15*sec, s.cm("x", 1*sec)) // fields were removed
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}}},
	{"a write that stamps nothing in the second of another one", func(s *story) {
		s.put(12*sec, s.cm("kubectl", 12*sec))
		s.put(15*sec, s.cm("kubectl", 12*sec)) // fields were removed
		s.patch("kubectl", 12*sec+500*ms, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}}},
	{"success after a lost race", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(12*sec, s.cm("y", 11*sec))
		s.w.Refuse(12*sec+100*ms, s.cm("kubectl", 12*sec), 2)
		s.put(12*sec+200*ms, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec+50*ms, 19*sec, 504, "Timeout: request did not complete")
		s.goOn(30 * sec)
	}, []want{{Landed, 4, 1}}},
	{"a lost race and nothing after it", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(12*sec, s.cm("y", 11*sec))
		s.w.Refuse(12*sec+100*ms, s.cm("kubectl", 12*sec), 2)
		s.patch("kubectl", 12*sec+50*ms, 19*sec, 504, "Timeout: request did not complete")
		s.goOn(30 * sec)
	}, []want{{fate: Rejected}}},
	{"a lost race right before the log ends", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(12*sec, s.cm("y", 11*sec))
		s.w.Refuse(12*sec+100*ms, s.cm("kubectl", 12*sec), 2)
		s.patch("kubectl", 12*sec+50*ms, 19*sec, 504, "Timeout: request did not complete")
	}, []want{{fate: Unknown}}},
	{"a conflict is never another's success", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(12*sec, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec, 13*sec, 409, "the object has been modified")
		s.goOn(30 * sec)
	}, []want{{fate: Rejected}}},
	{"several in turn while there is no space", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.w.Alarm(2*sec, true)
		for i := range 3 {
			at := 12*sec + time.Duration(i)*100*ms
			s.w.Refuse(at+10*ms, s.cm("kubelet", 12*sec), 2)
			s.patch("kubelet", at, at+50*ms, 500, "etcdserver: mvcc: database space exceeded")
		}
		s.w.Alarm(20*sec, false)
		s.goOn(30 * sec)
	}, []want{{fate: Rejected}, {fate: Rejected}, {fate: Rejected}}},
	{"the write above the quota is stored though it is refused", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(12*sec+10*ms, s.cm("kubelet", 12*sec))
		s.w.Alarm(12*sec+20*ms, true)
		s.patch("kubelet", 12*sec, 12*sec+50*ms, 500, "etcdserver: mvcc: database space exceeded")
		s.w.Alarm(20*sec, false)
		s.goOn(30 * sec)
	}, []want{{Landed, 3, 0}}},
	{"two of a second, one entry", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(20*sec, s.cm("kubelet", 12*sec))
		s.patch("kubelet", 12*sec, 12*sec+300*ms, 500, timedOutText)
		s.patch("kubelet", 12*sec+400*ms, 12*sec+700*ms, 500, timedOutText)
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}, {fate: Unknown}}},
	{"two of a second, one lost race", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.w.Refuse(12*sec+100*ms, s.cm("kubelet", 12*sec), 1)
		s.patch("kubelet", 12*sec, 12*sec+300*ms, 500, timedOutText)
		s.patch("kubelet", 12*sec+400*ms, 12*sec+700*ms, 500, timedOutText)
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}, {fate: Unknown}}},
	{"two at one time, two entries", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.w.Alarm(2*sec, true)
		s.w.Refuse(12*sec+100*ms, s.cm("kubelet", 12*sec), 2)
		s.w.Refuse(12*sec+200*ms, s.cm("kubelet", 12*sec), 2)
		s.patch("kubelet", 12*sec, 12*sec+500*ms, 500, timedOutText)
		s.patch("kubelet", 12*sec+400*ms, 12*sec+700*ms, 500, timedOutText)
		s.w.Alarm(20*sec, false)
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}, {fate: Unknown}}},
	{"refused beside an answered one of the same second", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(12*sec+10*ms, s.cm("kubelet", 12*sec))
		s.w.Alarm(12*sec+100*ms, true)
		s.w.Refuse(12*sec+220*ms, s.cm("kubelet", 12*sec), 3)
		s.patch("kubelet", 12*sec, 12*sec+30*ms, 200, "")
		s.patch("kubelet", 12*sec+200*ms, 12*sec+230*ms, 500, "etcdserver: mvcc: database space exceeded")
		s.w.Alarm(20*sec, false)
		s.goOn(30 * sec)
	}, []want{{fate: Landed}, {fate: Rejected}}},
	{"lost behind others, long before what took its place", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.w.Propose(12*sec, 3, configMap(s.w, "other", "x", 12*sec), 0)
		s.w.Propose(12*sec, 3, configMap(s.w, "other", "x", 12*sec), 0)
		bare := s.cm("", 12*sec)
		bare.ManagedFields = nil
		s.w.Propose(12*sec+ms, 3, bare, 2)
		s.w.Elect(20 * time.Minute)
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(20*time.Minute + sec)
	}, []want{{fate: Unknown}}},
	{"delete that marks the object", func(s *story) {
		s.put(1*sec, s.pod(-1))
		s.put(20*sec, s.pod(12*sec))
		s.remove(40*sec, s.pod(-1)) // the kubelet's
		s.erase(12*sec, 19*sec)
		s.goOn(50 * sec)
	}, []want{{Landed, 3, 0}}},
	{"delete of an object that another one marked", func(s *story) {
		s.put(1*sec, s.pod(-1))
		s.put(25*sec, s.pod(24*sec))
		s.erase(12*sec, 19*sec)
		s.goOn(50 * sec)
	}, []want{{fate: NotProposed}}},
	{"delete without grace may be anybody's", func(s *story) {
		s.put(1*sec, s.pod(-1))
		s.remove(90*sec, s.pod(-1))
		s.erase(12*sec, 19*sec)
		s.goOn(100 * sec)
	}, []want{{fate: Unknown}}},
	{"no name", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		r := s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		r.Verb, r.Key = "create", ""
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}}},
	{"renewal by its time", func(s *story) {
		s.put(1*sec, s.lease(1*sec-ms, 1*sec))
		s.put(20*sec, s.lease(12*sec-ms, 12*sec))
		s.put(23*sec, s.lease(22*sec-ms, 22*sec))
		s.renew(12*sec, 17*sec)
		s.goOn(40 * sec)
	}, []want{{Landed, 3, 0}}},
	{"the renewals before and after", func(s *story) {
		s.put(10*sec, s.lease(10*sec-ms, 10*sec))
		s.put(18*sec, s.lease(17*sec+ms, 17*sec))
		s.renew(12*sec, 17*sec)
		s.goOn(40 * sec)
	}, []want{{fate: NotProposed}}},
	{"a renewal that was sent a second time", func(s *story) {
		s.put(1*sec, s.lease(1*sec-ms, 1*sec))
		s.put(21*sec, s.lease(12*sec-ms, 21*sec))
		s.renew(12*sec, 17*sec)
		s.goOn(40 * sec)
	}, []want{{fate: NotProposed}}},
	{"a renewal that may have been held back", func(s *story) {
		s.put(1*sec, s.lease(1*sec-ms, 1*sec))
		s.put(15*sec, s.lease(9*sec, 14*sec))
		s.renew(14*sec, 17*sec).Manager = "kubelet"
		s.goOn(40 * sec)
	}, []want{{fate: Unknown}}},
	{"a holder whose clock is off by one renewal", func(s *story) {
		for at := 1 * sec; at < 60*sec; at += 10 * sec {
			if at != 21*sec { // this one fails; the next one has its time
				s.put(at, s.lease(at-10*sec, -1))
			}
		}
		s.renew(21*sec, 24*sec)
		s.goOn(70 * sec)
	}, []want{{fate: Unknown}}},
	{"minutes later, after the quorum came back", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(15*time.Minute, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec, 46*sec, 504, "Timeout: request did not complete")
		s.goOn(16 * time.Minute)
	}, []want{{Landed, 3, 0}}},
	{"lost with its leader", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.w.Propose(12*sec, 3, s.cm("kubectl", 12*sec), 2)
		s.w.Elect(20 * sec)
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
	}, []want{{fate: Lost}}},
	{"lost, but the log of that leader is missing", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.w.Propose(12*sec, 3, s.cm("kubectl", 12*sec), 2)
		s.w.Elect(20 * sec)
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
		s.members = []int{1, 2}
	}, []want{{fate: Unknown}}},
	{"committed is not lost, whoever's log is missing", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.w.Elect(10 * sec)
		s.put(20*sec, s.cm("kubectl", 12*sec))
		s.w.Elect(25 * sec)
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
		s.members = []int{2}
	}, []want{{Landed, 3, 0}}},
	{"proposed, and nobody knows whether committed", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.w.Propose(12*sec, 1, s.cm("kubectl", 12*sec), 2)
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
	}, []want{{fate: Unknown}}},
	{"no leader", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(12*sec+500*ms, s.cm("kubectl", 12*sec)) // the next try
		s.patch("kubectl", 12*sec, 12*sec+100*ms, 500, "etcdserver: no leader")
		s.goOn(30 * sec)
	}, []want{{fate: NotProposed}}},
	{"the log ends right after the answer", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.put(21*sec, configMap(s.w, "other", "x", 21*sec))
	}, []want{{fate: Unknown}}},
	{"the log of one member ends before it", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.w.Stop(5*sec, 2)
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}}},
	{"never proposed", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
	}, []want{{fate: NotProposed}}},
	{"never proposed, but no log says so", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
		s.none = true
	}, []want{{fate: Unknown}}},
	{"stored without a log", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(13*sec, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
		s.none = true
	}, []want{{Landed, 3, 0}}},
	{"only logs, from the beginning", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(13*sec, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
		s.noStore = true
	}, []want{{Landed, 3, 0}}},
	{"only logs, and their beginning is gone", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(2*sec, s.cm("y", 2*sec))
		s.w.Purge(5 * sec)
		s.put(13*sec, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.noStore = true
	}, []want{{fate: Unknown}}},
	{"no time", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(13*sec, s.cm("kubectl", 12*sec))
		r := s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		r.Received, r.Completed = time.Time{}, time.Time{}
		s.goOn(30 * sec)
	}, []want{{fate: Unknown}}},
	{"no end", func(s *story) {
		s.put(1*sec, s.cm("x", 1*sec))
		s.put(13*sec, s.cm("kubectl", 12*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText).Completed = time.Time{}
		s.goOn(30 * sec)
	}, []want{{Landed, 3, 0}}},
}

func TestStories(t *testing.T) {
	for _, x := range stories {
		t.Run(x.name, func(t *testing.T) {
			s := &story{w: world.New(), members: []int{1, 2, 3}}
			x.tell(s)
			if s.none {
				s.members = nil
			}
			h := load(t, s.w, s.noStore, s.members...)
			got := Judge(h, s.times, s.requests)
			if len(got) != len(x.want) {
				t.Fatalf("%d verdicts, want %d", len(got), len(x.want))
			}
			for i, v := range got {
				w := x.want[i]
				if v.Fate != w.fate || v.Revision != w.revision || len(v.Before) != w.before {
					t.Errorf("request %d: %s at %d after %d rejected (%s), want %s at %d after %d", i, v.Fate, v.Revision, len(v.Before), v.Why, w.fate, w.revision, w.before)
				}
				if v.Fate == Unknown && v.Settle == "" {
					t.Errorf("request %d: nothing would settle it", i)
				}
			}
		})
	}
}

// TestForeignLog checks that the log of another cluster proves nothing, and does not
// stand in the way of what the own logs prove.
func TestForeignLog(t *testing.T) {
	dir := t.TempDir()
	foreign := world.New()
	foreign.Cluster = 0xbeef
	at := 12 * sec
	foreign.Put(at, configMap(foreign, "a", "kubectl", at))
	must(t, foreign.SaveWAL(filepath.Join(dir, "a-foreign")))
	for _, with := range []bool{false, true} {
		s := &story{w: world.New()}
		s.put(1*sec, s.cm("x", 1*sec))
		s.patch("kubectl", 12*sec, 19*sec, 500, timedOutText)
		s.goOn(30 * sec)
		own := filepath.Join(dir, fmt.Sprint("own-", with))
		must(t, s.w.Save(own))
		want := Unknown
		if with {
			must(t, s.w.SaveWAL(own))
			want = NotProposed
		}
		files := append(filesOf(t, filepath.Join(dir, "a-foreign")), filesOf(t, own)...)
		for i := range files {
			files[i].Input = filepath.Dir(files[i].OSPath)
		}
		h, err := snapshot.Load(t.Context(), files, snapshot.Options{})
		must(t, err)
		if v := Judge(h, s.times, s.requests)[0]; v.Fate != want {
			t.Errorf("own logs %v: %s (%s), want %s", with, v.Fate, v.Why, want)
		}
		must(t, h.Close())
	}
}
