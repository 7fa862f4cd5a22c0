package correlate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"etcd-autopsy/fixtures/world"
)

// started lets three members begin their logs, the first as leader.
func started(s *scene) {
	for i, m := range []string{"etcd-1", "etcd-2", "etcd-3"} {
		s.w.EtcdStart(0, m, world.MemberIDs[i])
		s.w.Etcd(sec, m, "info", world.MemberIDs[i]+" elected leader "+world.MemberIDs[0]+" at term 2", "logger", "raft")
	}
	s.w.Etcd(900*ms, "etcd-1", "info", world.MemberIDs[0]+" became leader at term 2", "logger", "raft")
}

// atWork lets a member log a known line every two seconds.
func atWork(s *scene, member string, from, to time.Duration) {
	for d := from; d < to; d += 2 * sec {
		s.w.Etcd(d, member, "info", "finished scheduled compaction", "compact-revision", fmt.Sprint(int(d/sec)), "took", "2ms")
	}
}

func lateHeartbeats(s *scene, member string, from time.Duration) {
	for i := range 5 {
		s.w.Etcd(from+time.Duration(i)*sec, member, "warn", "leader failed to send out heartbeat on time; took too long, leader is overloaded likely from slow disk",
			"to", world.MemberIDs[1], "heartbeat-interval", "100ms", "expected-duration", "200ms", "exceeded-duration", "800ms")
	}
}

func slowApplies(s *scene, member string, from time.Duration) {
	for i := range 5 {
		s.w.Etcd(from+time.Duration(i)*sec, member, "warn", "apply request took too long", "took", "1.2s", "expected-duration", "100ms", "prefix", "", "request", "header:<ID:1 > put:<key:\"a\" >", "response", "size:5")
	}
}

func lost(s *scene, by, peer string, from, to time.Duration) {
	id := world.MemberIDs[slices.Index([]string{"etcd-1", "etcd-2", "etcd-3"}, peer)]
	s.w.Etcd(from, by, "warn", "peer became inactive (message send to peer failed)", "peer-id", id, "error", "i/o timeout")
	s.w.Etcd(to, by, "info", "peer became active", "peer-id", id)
}

func refuse429(s *scene, n int, sub, message string) {
	for i := range n {
		s.w.Audit(at(time.Duration(i)*sec), world.Request{ID: fmt.Sprintf("r-%d", i), Verb: "create", Resource: "pods", Subresource: sub, Namespace: "shop", Name: fmt.Sprintf("x-%d", i),
			User: "bot", Agent: "x/1", URI: "/api/v1/namespaces/shop/pods/x/" + sub, Code: 429, Message: message})
	}
}

// faultCases are the diseases that share complaints: each is named where its own
// marks are, and not where only what they share is.
var faultCases = []struct {
	name  string
	make  func(*scene)
	want  []string // kinds that must be there
	never []string
}{
	{"nothing", func(*scene) {}, nil, []string{"overload", "slow-disk", "slow-network", "network-partition", "defrag", "corruption", "certificate", "apiserver-overload", "too-many-requests"}},

	{"late heartbeats and slow requests, disk fine", func(s *scene) { lateHeartbeats(s, "etcd-1", at(sec)); slowApplies(s, "etcd-1", at(2*sec)) }, []string{"overload"}, []string{"slow-disk"}},
	{"late heartbeats alone", func(s *scene) { lateHeartbeats(s, "etcd-1", at(sec)) }, nil, []string{"overload", "slow-disk"}},
	{"slow requests alone", func(s *scene) { slowApplies(s, "etcd-1", at(sec)) }, nil, []string{"overload", "slow-disk"}},
	{"late heartbeats, slow requests and a slow disk", func(s *scene) {
		lateHeartbeats(s, "etcd-1", at(sec))
		slowApplies(s, "etcd-1", at(2*sec))
		slowDisks(s, "etcd-1")
	}, []string{"slow-disk"}, []string{"overload"}},
	{"late heartbeats here, slow requests there", func(s *scene) { lateHeartbeats(s, "etcd-1", at(sec)); slowApplies(s, "etcd-2", at(2*sec)) }, nil, []string{"overload"}},
	{"late heartbeats, slow requests a minute later", func(s *scene) { lateHeartbeats(s, "etcd-1", at(sec)); slowApplies(s, "etcd-1", at(70*sec)) }, nil, []string{"overload"}},

	{"both lose each other and live", func(s *scene) {
		lost(s, "etcd-1", "etcd-3", at(sec), at(21*sec))
		lost(s, "etcd-3", "etcd-1", at(2*sec), at(22*sec))
		atWork(s, "etcd-1", at(0), at(30*sec))
		atWork(s, "etcd-3", at(0), at(30*sec))
	}, []string{"network-partition"}, []string{"slow-network", "member-down"}},
	{"one side loses the other once", func(s *scene) {
		lost(s, "etcd-1", "etcd-3", at(sec), at(21*sec))
		atWork(s, "etcd-1", at(0), at(30*sec))
		atWork(s, "etcd-3", at(0), at(30*sec))
	}, nil, []string{"network-partition", "slow-network", "member-down"}},
	{"one side loses the other again and again", func(s *scene) {
		for i := range 3 {
			lost(s, "etcd-1", "etcd-3", at(time.Duration(20*i+1)*sec), at(time.Duration(20*i+11)*sec))
		}
		atWork(s, "etcd-1", at(0), at(60*sec))
		atWork(s, "etcd-3", at(0), at(60*sec))
	}, []string{"slow-network"}, []string{"network-partition", "member-down"}},
	{"one side loses the other and drops messages for it", func(s *scene) {
		lost(s, "etcd-1", "etcd-3", at(sec), at(21*sec))
		s.w.Etcd(at(3*sec), "etcd-1", "warn", "dropped internal Raft message since sending buffer is full (overloaded network)", "message-type", "MsgApp", "remote-peer-id", world.MemberIDs[2])
		atWork(s, "etcd-1", at(0), at(30*sec))
		atWork(s, "etcd-3", at(0), at(30*sec))
	}, []string{"slow-network"}, []string{"network-partition"}},
	{"the peer is silent meanwhile", func(s *scene) {
		for i := range 3 {
			lost(s, "etcd-1", "etcd-3", at(time.Duration(20*i+1)*sec), at(time.Duration(20*i+11)*sec))
		}
		atWork(s, "etcd-1", at(0), at(60*sec))
	}, []string{"member-down"}, []string{"network-partition", "slow-network"}},
	{"the peer's disk is slow", func(s *scene) {
		lost(s, "etcd-1", "etcd-3", at(sec), at(21*sec))
		lost(s, "etcd-3", "etcd-1", at(2*sec), at(22*sec))
		atWork(s, "etcd-1", at(0), at(30*sec))
		atWork(s, "etcd-3", at(0), at(30*sec))
		slowDisks(s, "etcd-3")
	}, []string{"slow-disk"}, []string{"network-partition", "slow-network"}},

	{"defragmentation", func(s *scene) {
		s.w.Etcd(at(sec), "etcd-2", "info", "starting defragment")
		s.w.Etcd(at(9*sec), "etcd-2", "info", "finished defragment", "took", "8s")
	}, []string{"defrag"}, nil},

	{"hashes differ", func(s *scene) {
		s.w.Etcd(at(sec), "etcd-2", "warn", "found hash mismatch", "revision-1", "10", "hash-1", "1", "revision-2", "10", "hash-2", "2")
	}, []string{"corruption"}, nil},
	{"the check passed", func(s *scene) {
		s.w.Etcd(at(sec), "etcd-2", "info", "starting initial corruption check", "timeout", "7s")
		s.w.Etcd(at(2*sec), "etcd-2", "info", "initial corruption checking passed; no corruption")
		s.w.Etcd(at(3*sec), "etcd-2", "info", "repaired WAL", "error", "unexpected EOF")
	}, nil, []string{"corruption"}},

	{"certificates expired", func(s *scene) {
		for i := range 5 {
			s.w.Etcd(at(time.Duration(i)*sec), "etcd-2", "warn", "rejected connection on peer endpoint", "remote-addr", "10.0.0.3:40000", "error", "tls: failed to verify certificate: x509: certificate has expired or is not yet valid")
		}
	}, []string{"certificate"}, nil},
	{"probes without a certificate", func(s *scene) {
		for i := range 50 {
			s.w.Etcd(at(time.Duration(i)*sec), "etcd-2", "warn", "rejected connection on client endpoint", "remote-addr", "127.0.0.1:40000", "error", "EOF")
		}
		s.w.Etcd(at(sec), "etcd-2", "warn", "rejected connection on client endpoint", "remote-addr", "10.0.0.3:40000", "error", "remote error: tls: bad certificate")
	}, nil, []string{"certificate"}},

	{"too many requests in etcd", func(s *scene) {
		s.w.Klog(at(sec), "kube-apiserver", "E", "status.go:71", `"apiserver received an error that is not an metav1.Status" err="rpc error: code = ResourceExhausted desc = etcdserver: too many requests"`)
	}, []string{"too-many-requests"}, nil},
	{"requests over the limit", func(s *scene) { refuse429(s, 20, "", "Too many requests, please try again later.") }, []string{"apiserver-overload"}, []string{"too-many-requests"}},
	{"few requests over the limit", func(s *scene) { refuse429(s, 5, "", "Too many requests, please try again later.") }, nil, []string{"apiserver-overload"}},
	{"evictions that a budget forbids", func(s *scene) {
		refuse429(s, 20, "eviction", "Cannot evict pod as it would violate the pod's disruption budget.")
	}, nil, []string{"apiserver-overload"}},
}

func TestFaults(t *testing.T) {
	for _, tt := range faultCases {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			started(s)
			tt.make(s)
			a := s.analyze()
			var kinds []string
			for _, e := range a.Episodes {
				kinds = append(kinds, e.Kind)
				if len(e.Evidence) == 0 || e.Text == "" || e.Because == "" {
					t.Errorf("%+v", e)
				}
			}
			for _, k := range tt.want {
				if !slices.Contains(kinds, k) {
					t.Errorf("no %s among %v", k, kinds)
				}
			}
			for _, k := range tt.never {
				if slices.Contains(kinds, k) {
					t.Errorf("%s among %v", k, kinds)
				}
			}
		})
	}
}

// A defragmentation of the leader stops writes; where they stopped for as long as a
// rollout waited it is the cause, and one of a follower is not.
func TestDefragCause(t *testing.T) {
	for _, x := range []struct {
		member string
		cause  bool
	}{{"etcd-1", true}, {"etcd-3", false}} {
		s := newScene(t)
		started(s)
		s.update()
		s.w.Etcd(at(200*ms), x.member, "info", "starting defragment")
		s.w.Etcd(at(30*sec), x.member, "info", "finished defragment", "took", "30s")
		s.silenceAll(at(200*ms), at(30*sec))
		s.newSet(at(31 * sec))
		s.converge(at(32 * sec))
		a := s.analyze()
		var causes []string
		for _, f := range last(t, a).Findings {
			if f.Role == RoleCause {
				causes = append(causes, f.Cause)
			}
		}
		if got := strings.Join(causes, " ") == "defrag"; got != x.cause {
			t.Errorf("%s: causes %v", x.member, causes)
		}
	}
}
