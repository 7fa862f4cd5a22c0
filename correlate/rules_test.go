package correlate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"etcd-autopsy/fixtures/world"
)

// ruleCase is a scene and what must be said of its last rollout: the stalled stage
// (0 for none) and the cause ("" for undecided or no stall). Each rule has cases in
// which it fires and near misses in which it must be silent; TestRulesHaveBoth
// counts them.
type ruleCase struct {
	name string
	// rule is what the case is about: a cause.
	rule  string
	fires bool
	make  func(*scene)
	stage int
	cause string
	conf  Confidence
}

var ruleCases = []ruleCase{
	{"healthy rollout", "", false, func(s *scene) { s.update(); s.newSet(at(100 * ms)); s.converge(at(sec)) }, 0, "", ""},

	{"image not found", "image-pull", true, func(s *scene) {
		pulling(s)
		s.waiting(s.pod, at(5*sec), "ErrImagePull", "manifest unknown")
		s.waiting(s.pod, at(20*sec), "ImagePullBackOff", "Back-off pulling image")
	}, stagePrepare, "image-pull", Proven},
	{"first pull still going on", "image-pull", false, func(s *scene) { s.end = at(40 * sec); pulling(s) }, 0, "", ""},
	{"pull failed once, then went through", "image-pull", false, func(s *scene) {
		pulling(s)
		s.waiting(s.pod, at(2*sec), "ErrImagePull", "net/http: TLS handshake timeout")
		s.converge(at(6 * sec))
	}, 0, "", ""},
	{"long pull that states no failure", "image-pull", false, pulling, stagePrepare, "", ""},

	{"container exits again and again", "crash-loop", true, func(s *scene) { pulling(s); crash(s, "Error", 1, 4) }, stageStart, "crash-loop", Proven},
	{"container killed for memory", "crash-loop", false, func(s *scene) { pulling(s); crash(s, "OOMKilled", 137, 4) }, stageStart, "oom", Proven},
	{"exit 137 without OOMKilled is no oom", "oom", false, func(s *scene) { pulling(s); crash(s, "Error", 137, 4) }, stageStart, "crash-loop", Proven},
	{"out of memory", "oom", true, func(s *scene) { pulling(s); crash(s, "OOMKilled", 137, 2) }, stageStart, "oom", Proven},
	{"running, probe not passed yet", "crash-loop", false, func(s *scene) { s.end = at(20 * sec); pulling(s); running(s) }, 0, "", ""},
	{"missing Secret for the environment", "config-missing", true, func(s *scene) {
		pulling(s)
		s.waiting(s.pod, at(3*sec), "CreateContainerConfigError", `secret "db" not found`)
	}, stageStart, "config-missing", Proven},

	{"no node fits", "unschedulable", true, func(s *scene) {
		s.update()
		s.newSet(at(100 * ms))
		s.newPod(at(200 * ms))
		s.condition(s.pod, corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.", at(300*ms))
		s.put(at(300*ms), s.pod)
	}, stageSchedule, "unschedulable", Proven},
	{"no node fitted, then one did", "unschedulable", false, func(s *scene) {
		s.update()
		s.newSet(at(100 * ms))
		s.newPod(at(200 * ms))
		s.condition(s.pod, corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.", at(300*ms))
		s.put(at(300*ms), s.pod)
		s.bind(s.pod, at(3*sec))
		s.converge(at(4 * sec))
	}, 0, "", ""},

	{"quota used up", "quota", true, func(s *scene) {
		s.update()
		s.newSet(at(100 * ms))
		failure(s, at(200*ms), `pods "cart-new-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`)
	}, stageReplicaSet, "quota", Proven},
	{"a policy, not a quota", "quota", false, func(s *scene) {
		s.update()
		s.newSet(at(100 * ms))
		failure(s, at(200*ms), `pods "cart-new-" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`)
	}, stageReplicaSet, "admission-denied", Proven},
	{"quota freed in time", "quota", false, func(s *scene) {
		s.update()
		s.newSet(at(100 * ms))
		failure(s, at(200*ms), `pods "cart-new-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`)
		s.set.Status.Conditions = nil
		s.put(at(2*sec), s.set)
		s.converge(at(3 * sec))
	}, 0, "", ""},

	{"controller manager gone", "controller-down", true, func(s *scene) { s.update(); s.silence("kube-controller-manager", at(-1*sec), 1000*sec) },
		stageReplicaSet, "controller-down", Likely},
	{"controller manager gone and its log ends", "controller-down", true, func(s *scene) {
		s.update()
		s.silence("kube-controller-manager", at(-1*sec), 1000*sec)
		s.w.Klog(0, "kube-controller-manager", "I", "flags.go:64", `FLAG: --leader-elect="true"`)
		s.w.Klog(at(-2*sec), "kube-controller-manager", "I", "shared_informer.go:1", "last words")
	}, stageReplicaSet, "controller-down", Proven},
	{"controller manager there, nothing done", "controller-down", false, func(s *scene) { s.update() }, stageReplicaSet, "", ""},
	{"every writer silent: nobody's own fault", "controller-down", false, func(s *scene) {
		s.update()
		s.silenceAll(at(100*ms), at(60*sec))
		s.newSet(at(75 * sec))
		s.converge(at(76 * sec))
	}, 0, "", ""},

	{"scheduler gone", "scheduler-down", true, func(s *scene) {
		s.update()
		s.newSet(at(100 * ms))
		s.newPod(at(200 * ms))
		s.silence("kube-scheduler", at(-1*sec), 1000*sec)
	}, stageSchedule, "scheduler-down", Likely},
	{"scheduler there, pod not bound", "scheduler-down", false, func(s *scene) {
		s.update()
		s.newSet(at(100 * ms))
		s.newPod(at(200 * ms))
	}, stageSchedule, "", ""},

	{"kubelet gone", "kubelet-down", true, func(s *scene) {
		s.update()
		s.newSet(at(100 * ms))
		s.newPod(at(200 * ms))
		s.bind(s.pod, at(300*ms))
		s.silence("node-a", at(-5*sec), 1000*sec)
	}, stagePrepare, "kubelet-down", Likely},
	{"kubelet there, pod untouched", "kubelet-down", false, func(s *scene) {
		s.update()
		s.newSet(at(100 * ms))
		s.newPod(at(200 * ms))
		s.bind(s.pod, at(300*ms))
	}, stagePrepare, "", ""},

	{"service selects nothing", "selector-mismatch", true, func(s *scene) {
		s.svc.Spec.Selector = map[string]string{"app": "kart"}
		s.put(10*sec, s.svc)
		s.slice.Endpoints = nil
		s.put(10*sec+50*ms, s.slice)
		s.update()
		s.newSet(at(100 * ms))
		served(s)
	}, stageServe, "selector-mismatch", Proven},
	{"another team's orphan service", "selector-mismatch", false, func(s *scene) {
		other := &corev1.Service{ObjectMeta: s.meta("mailer", "svc2", 0), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "mail"}}}
		s.put(10*sec, other)
		s.update()
		s.newSet(at(100 * ms))
		s.converge(at(sec))
	}, 0, "", ""},
	{"endpoints late though selected", "selector-mismatch", false, func(s *scene) { s.update(); s.newSet(at(100 * ms)); served(s) }, stageServe, "", ""},

	{"update forbidden", "forbidden", true, func(s *scene) {
		s.w.Audit(updateAt, patch(403, `deployments.apps "cart" is forbidden: User "bot" cannot patch resource "deployments" in API group "apps" in the namespace "shop"`))
	}, stageUpdate, "forbidden", Proven},
	{"status write by a controller refused", "forbidden", false, func(s *scene) {
		r := patch(403, `deployments.apps "cart" is forbidden: User "x" cannot patch resource "deployments/status"`)
		r.Subresource = "status"
		s.w.Audit(updateAt, r)
	}, 0, "", ""},
	{"dry run refused", "forbidden", false, func(s *scene) {
		r := patch(403, `deployments.apps "cart" is forbidden: User "bot" cannot patch resource "deployments"`)
		r.URI += "?dryRun=All"
		s.w.Audit(updateAt, r)
	}, 0, "", ""},

	{"update refused by a full store", "nospace", true, func(s *scene) {
		s.w.EtcdStart(0, "etcd-1", world.MemberIDs[0])
		s.w.Etcd(at(-5*sec), "etcd-1", "warn", "message exceeded backend quota; raising alarm", "quota-size-bytes", "25165824")
		s.silenceAll(at(-5*sec), 1000*sec)
		s.w.Audit(updateAt, patch(500, "etcdserver: mvcc: database space exceeded"))
	}, stageUpdate, "nospace", Proven},
	{"store was full long before", "nospace", false, func(s *scene) {
		s.w.EtcdStart(0, "etcd-1", world.MemberIDs[0])
		s.w.Etcd(5*sec, "etcd-1", "warn", "message exceeded backend quota; raising alarm", "quota-size-bytes", "25165824")
		s.w.Etcd(10*sec, "etcd-1", "warn", "alarm disarmed", "alarm", "NOSPACE")
		pulling(s)
		s.waiting(s.pod, at(5*sec), "ErrImagePull", "manifest unknown")
	}, stagePrepare, "image-pull", Proven},

	{"quorum lost in the middle", "quorum-loss", true, func(s *scene) { s.update(); noQuorum(s); s.newSet(at(41 * sec)); s.converge(at(42 * sec)) }, 0, "quorum-loss", Proven},
	{"quorum lost inside a failing pull", "quorum-loss", false, func(s *scene) {
		pulling(s)
		s.waiting(s.pod, at(200*ms), "ErrImagePull", "manifest unknown")
		noQuorum(s)
		s.waiting(s.pod, at(60*sec), "ImagePullBackOff", "manifest unknown")
	}, stagePrepare, "image-pull", Proven},
	{"one follower cut off while the others wrote", "quorum-loss", false, func(s *scene) {
		s.update()
		cutOffFollower(s)
		s.newSet(at(100 * ms))
		s.converge(at(sec))
	}, 0, "", ""},

	{"both leaders silent, and no log of etcd", "controller-down", true, func(s *scene) {
		s.update()
		s.silence("kube-controller-manager", at(100*ms), at(40*sec))
		s.silence("kube-scheduler", at(14*sec), at(32*sec))
		s.newSet(at(41 * sec))
		s.converge(at(42 * sec))
	}, 0, "controller-down", Possible},
	{"leader changed within a second", "leader-loss", false, func(s *scene) {
		s.update()
		leaderChange(s, at(-10*sec), at(-9*sec))
		s.newSet(at(100 * ms))
		s.newPod(at(200 * ms))
	}, stageSchedule, "", ""},
	{"no leader for eight seconds", "leader-loss", true, func(s *scene) {
		s.update()
		leaderChange(s, at(300*ms), at(8*sec))
		s.silenceAll(at(0), at(8200*ms))
		s.newSet(at(8300 * ms))
		s.converge(at(9 * sec))
	}, 0, "leader-loss", Proven},

	{"slow disks on all members", "slow-disk", true, func(s *scene) {
		s.update()
		slowDisks(s, "etcd-1", "etcd-2", "etcd-3")
		s.silenceAll(at(100*ms), at(40*sec))
		s.newSet(at(41 * sec))
		s.converge(at(42 * sec))
	}, 0, "slow-disk", Proven},
	{"slow disk on one follower", "slow-disk", false, func(s *scene) {
		s.update()
		slowDisks(s, "etcd-3")
		s.newSet(at(100 * ms))
		s.newPod(at(200 * ms))
	}, stageSchedule, "", ""},

	{"the only endpoint of the API server is down", "member-down", true, func(s *scene) {
		memberDown(s, "https://10.0.0.3:2379")
		s.newSet(at(46 * sec))
		s.converge(at(47 * sec))
	}, 0, "member-down", Proven},
	{"a member down that nobody called", "member-down", false, func(s *scene) {
		memberDown(s, "https://10.0.0.1:2379")
		s.newSet(at(46 * sec))
		s.converge(at(47 * sec))
	}, 0, "controller-down", Likely},
}

func at(d time.Duration) time.Duration { return updateAt + d }

// pulling brings the first new pod to its pull.
func pulling(s *scene) {
	s.update()
	s.newSet(at(100 * ms))
	s.newPod(at(150 * ms))
	s.bind(s.pod, at(160*ms))
	s.seen(s.pod, at(170*ms))
}

func running(s *scene) {
	s.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ImageID: "sha256:2", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	s.put(at(3*sec), s.pod)
}

// crash lets the container end and wait for its next start.
func crash(s *scene, reason string, code, restarts int32) {
	s.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", ImageID: "sha256:2", RestartCount: restarts,
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s restarting failed container"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code}},
	}}
	s.put(at(4*sec), s.pod)
}

// failure lets the ReplicaSet controller say that it cannot create a pod.
func failure(s *scene, when time.Duration, msg string) {
	s.set.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: msg, LastTransitionTime: metav1.NewTime(s.w.Time(when))}}
	s.put(when, s.set)
}

// served makes both pods ready without any endpoint, and the counts complete.
func served(s *scene) {
	for i := range 2 {
		p := s.newPod(at(time.Duration(i+1) * sec))
		s.bind(p, at(time.Duration(i+1)*sec+50*ms))
		s.ready(p, at(time.Duration(i+1)*sec+500*ms))
	}
	s.d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2}
	s.put(at(3*sec), s.d)
}

func patch(code int, msg string) world.Request {
	return world.Request{ID: "a-1", Verb: "patch", Resource: "deployments", Namespace: "shop", Name: "cart", User: "bot", Agent: "ci/1.0",
		URI: "/apis/apps/v1/namespaces/shop/deployments/cart", Code: code, Message: msg}
}

// memberLogs begins the logs of all members, with etcd-3 leading from the start.
func memberLogs(s *scene) {
	for i, id := range world.MemberIDs {
		m := fmt.Sprintf("etcd-%d", i+1)
		s.w.EtcdStart(0, m, id)
		s.w.Etcd(10*ms, m, "info", fmt.Sprintf("raft.node: %s elected leader %s at term 2", id, world.MemberIDs[2]))
	}
}

// noQuorum halts two members for 40 s: the leader steps down and nobody is elected.
func noQuorum(s *scene) {
	memberLogs(s)
	ids := world.MemberIDs
	s.w.Etcd(at(1500*ms), "etcd-3", "warn", ids[2]+" stepped down to follower since quorum is not active")
	s.w.Etcd(at(1500*ms), "etcd-3", "info", fmt.Sprintf("raft.node: %s lost leader %s at term 2", ids[2], ids[2]))
	for i := range 20 {
		s.w.Etcd(at(3*sec+time.Duration(i)*1800*ms), "etcd-3", "info", ids[2]+" is starting a new election at term 2")
	}
	s.w.Etcd(at(40*sec), "etcd-1", "info", ids[0]+" became leader at term 3")
	s.w.Etcd(at(40*sec), "etcd-1", "info", fmt.Sprintf("raft.node: %s elected leader %s at term 3", ids[0], ids[0]))
	s.silenceAll(at(500*ms), at(40200*ms))
}

// cutOffFollower: one member loses the leader and finds it again, the rest go on.
func cutOffFollower(s *scene) {
	memberLogs(s)
	ids := world.MemberIDs
	s.w.Etcd(at(0), "etcd-1", "info", fmt.Sprintf("raft.node: %s lost leader %s at term 2", ids[0], ids[2]))
	for i := range 10 {
		s.w.Etcd(at(sec+time.Duration(i)*1500*ms), "etcd-1", "info", ids[0]+" is starting a new election at term 2")
	}
	s.w.Etcd(at(30*sec), "etcd-1", "info", fmt.Sprintf("raft.node: %s elected leader %s at term 2", ids[0], ids[2]))
}

// leaderChange: the leader is lost and another elected.
func leaderChange(s *scene, lost, elected time.Duration) {
	memberLogs(s)
	ids := world.MemberIDs
	for i := range 2 {
		m := fmt.Sprintf("etcd-%d", i+1)
		s.w.Etcd(lost, m, "info", fmt.Sprintf("raft.node: %s lost leader %s at term 3", ids[i], ids[2]))
		s.w.Etcd(elected, m, "info", fmt.Sprintf("raft.node: %s elected leader %s at term 3", ids[i], ids[0]))
	}
}

func slowDisks(s *scene, names ...string) {
	memberLogs(s)
	for i := range 20 {
		for _, m := range names {
			s.w.Etcd(at(2*sec+time.Duration(i)*1900*ms), m, "warn", "slow fdatasync", "took", "1.7s", "expected-duration", "1s")
		}
	}
}

// memberDown stops etcd-3 for 30 s; an API server that is given endpoints cannot
// reach it, and the controller manager loses its Lease.
func memberDown(s *scene, servers string) {
	memberLogs(s)
	ids := world.MemberIDs
	s.update()
	for i := range 2 {
		s.w.Etcd(at(500*ms), fmt.Sprintf("etcd-%d", i+1), "warn", "peer became inactive (message send to peer failed)", "peer-id", ids[2])
		s.w.Etcd(at(30*sec), fmt.Sprintf("etcd-%d", i+1), "info", "peer became active", "peer-id", ids[2])
	}
	addr := servers[len("https://"):]
	s.w.Klog(0, "kube-apiserver", "I", "flags.go:64", fmt.Sprintf("FLAG: --etcd-servers=\"[%s]\"", servers))
	s.w.Klog(at(600*ms), "kube-apiserver", "W", "logging.go:55", fmt.Sprintf(`[core] [Channel #1 SubChannel #3]grpc: addrConn.createTransport failed to connect to {Addr: "%s", ServerName: "%s"}. Err: connection error: desc = "transport: Error while dialing: dial tcp %s: connect: connection refused"`, addr, addr, addr))
	s.silence("kube-controller-manager", at(0), at(45*sec))
}

func TestRules(t *testing.T) {
	for _, c := range ruleCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c.make(s)
			a := s.analyze()
			r := last(t, a)
			checkRule(t, c, a, r)
			checkCitations(t, a)
		})
	}
}

// checkRule compares what was said of the last rollout.
func checkRule(t *testing.T, c ruleCase, a *Analysis, r *Rollout) {
	t.Helper()
	stage := 0
	if r.StalledStage != nil {
		stage = *r.StalledStage
	}
	if stage != c.stage {
		t.Errorf("stalled stage %d (outcome %s), want %d; stalls %+v", stage, r.Outcome, c.stage, r.Stalls)
	}
	var causes []string
	for _, f := range r.Findings {
		if f.Role == RoleCause {
			causes = append(causes, f.Cause)
			if f.Cause == c.cause && f.Confidence != c.conf {
				t.Errorf("%s is %s, want %s", f.Cause, f.Confidence, c.conf)
			}
		}
	}
	switch {
	case c.cause == "" && len(causes) > 0:
		t.Errorf("causes %v named, want none", causes)
	case c.cause != "" && !slices.Equal(causes, []string{c.cause}):
		t.Errorf("causes %v, want only %s (verdict %q)", causes, c.cause, a.Verdict.Text)
	}
}

// checkCitations: every ID that is cited exists, and every cause cites something.
func checkCitations(t *testing.T, a *Analysis) {
	t.Helper()
	have := map[string]bool{}
	for _, e := range a.Evidence {
		have[e.ID] = true
		if e.Text == "" {
			t.Errorf("evidence %s says nothing", e.ID)
		}
	}
	check := func(what string, ids []string) {
		for _, id := range ids {
			if !have[id] {
				t.Errorf("%s cites %s, which does not exist", what, id)
			}
		}
	}
	for _, r := range a.Rollouts {
		for _, f := range r.Findings {
			check(f.Rule, f.Evidence)
			if len(f.Evidence) == 0 {
				t.Errorf("finding %s of %s cites nothing", f.Cause, r.ID)
			}
		}
		for _, s := range r.Stages {
			check(s.Name, s.Evidence)
		}
	}
	for _, e := range a.Episodes {
		check(e.ID, e.Evidence)
	}
}

// TestRulesHaveBoth: every cause that a rule can name here fires in one case and
// stays silent in another.
func TestRulesHaveBoth(t *testing.T) {
	fires, misses := map[string]bool{}, map[string]bool{}
	for _, c := range ruleCases {
		if c.fires {
			fires[c.rule] = true
		} else {
			misses[c.rule] = true
		}
	}
	for _, cause := range []string{"image-pull", "crash-loop", "unschedulable", "quota", "controller-down", "scheduler-down", "kubelet-down",
		"selector-mismatch", "forbidden", "leader-loss", "quorum-loss", "member-down", "slow-disk", "nospace", "oom"} {
		if !fires[cause] || !misses[cause] {
			t.Errorf("%s: fires in a case %v, near miss %v", cause, fires[cause], misses[cause])
		}
	}
}
