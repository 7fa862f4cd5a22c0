package correlate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"etcd-autopsy/fixtures/world"
)

// A foul is a scene made to mislead, and what a careful human would say of it.
type foul struct {
	name string
	make func(*scene)
	// post changes the saved store (compaction, an alarm); may be nil.
	post func(*testing.T, *scene, string)
	// rollout is the ID to look at; "" is the newest.
	rollout string
	// stage is the stalled stage, 0 for none, -1 for any.
	stage int
	// want lists the sets of causes (role cause, likely or proven) that are right,
	// each joined by commas; "" is undecided or no stall.
	want []string
	// outcome is how it ended; "" is not looked at.
	outcome Outcome
	// noStalls asks that no stall at all is claimed.
	noStalls bool
	// onlyStage is the only stage of which a stall may be claimed, 0 for any.
	onlyStage int
	// skewed is set where a clock is wrong.
	skewed bool
	// free does not look at the verdict (it is about another rollout).
	free bool
}

const forever = 100000 * sec

// undecided is the right answer where nothing decides.
var undecided = []string{""}

func TestAdversary(t *testing.T) {
	for _, f := range fouls {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			f.make(s)
			s.renewals()
			dir := t.TempDir()
			if err := s.w.Save(dir); err != nil {
				t.Fatal(err)
			}
			if f.post != nil {
				f.post(t, s, dir)
			}
			checkFoul(t, f, analyzeDir(t, dir))
		})
	}
}

func checkFoul(t *testing.T, f foul, a *Analysis) {
	t.Helper()
	if len(a.Rollouts) == 0 {
		if f.stage > 0 || !slices.Contains(f.want, "") {
			t.Fatal("no rollout found")
		}
		return
	}
	r := &a.Rollouts[len(a.Rollouts)-1]
	if f.rollout != "" {
		i := slices.IndexFunc(a.Rollouts, func(r Rollout) bool { return r.ID == f.rollout })
		if i < 0 {
			var ids []string
			for _, r := range a.Rollouts {
				ids = append(ids, r.ID)
			}
			t.Fatalf("no rollout %s among %v", f.rollout, ids)
		}
		r = &a.Rollouts[i]
	}
	stage := 0
	if r.StalledStage != nil {
		stage = *r.StalledStage
	}
	if f.stage >= 0 && stage != f.stage {
		t.Errorf("%s: stalled stage %d (outcome %s), want %d; stalls %s", r.ID, stage, r.Outcome, f.stage, stallsText(r))
	}
	if f.outcome != "" && r.Outcome != f.outcome {
		t.Errorf("%s: outcome %s, want %s; stalls %s", r.ID, r.Outcome, f.outcome, stallsText(r))
	}
	if f.noStalls && len(r.Stalls) > 0 {
		t.Errorf("%s: stalls %s, want none", r.ID, stallsText(r))
	}
	for _, x := range r.Stalls {
		if f.onlyStage != 0 && x.Stage != f.onlyStage {
			t.Errorf("%s: a stall of stage %d, want only stage %d; stalls %s", r.ID, x.Stage, f.onlyStage, stallsText(r))
		}
	}
	var causes, full []string
	for _, x := range r.Findings {
		if x.Role == RoleCause && x.Confidence != Possible {
			causes = append(causes, x.Cause)
			full = append(full, fmt.Sprintf("%s (%s, %s): %s", x.Cause, x.Confidence, x.Rule, x.Text))
		}
	}
	slices.Sort(causes)
	for _, n := range a.Coverage.Notes {
		if strings.HasPrefix(n, "The clock of") && !f.skewed {
			t.Errorf("a clock that was right is called wrong: %s", n)
		}
	}
	if testing.Verbose() {
		t.Logf("%s %s, stalls %s; verdict %q", r.ID, r.Outcome, stallsText(r), a.Verdict.Text)
	}
	if got := strings.Join(causes, ","); !slices.Contains(f.want, got) {
		t.Errorf("%s: causes %q, want one of %q\n  %s", r.ID, got, f.want, strings.Join(full, "\n  "))
	}
	if v := a.Verdict; !f.free && v.Cause != nil && *v.Cause != "none" && v.Rollout != nil && v.Confidence != Possible &&
		!slices.ContainsFunc(f.want, func(w string) bool { return slices.Contains(strings.Split(w, ","), *v.Cause) }) {
		t.Errorf("verdict %s (%s): %s", *v.Cause, v.Confidence, v.Text)
	}
}

func stallsText(r *Rollout) string {
	var out []string
	for _, s := range r.Stalls {
		c, to := "undecided", "open"
		if s.Cause != nil {
			c = *s.Cause + " " + string(s.Confidence)
		}
		if s.To != nil {
			to = s.To.Sub(*s.From).Round(100 * ms).String()
		}
		out = append(out, fmt.Sprintf("[%d %s %s (%s) %s]", s.Stage, clockTime(*s.From), to, c, s.Object))
	}
	return strings.Join(out, " ")
}

// --- helpers ---

// putBy stores an object with a named field manager.
func (s *scene) putBy(at time.Duration, manager string, o world.Object) {
	now := metav1.NewTime(s.w.Time(at))
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &now}})
	s.w.Put(at, o)
}

// putStamped stores an object whose managed fields were stamped earlier.
func (s *scene) putStamped(at, stamped time.Duration, o world.Object) {
	then := metav1.NewTime(s.w.Time(stamped))
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, Time: &then}})
	s.w.Put(at, o)
}

// ownLease replaces the scene's renewals of a Lease by others.
func (s *scene) ownLease(ns, name, holder string, duration int32, from, to, every time.Duration) {
	s.silence(name, -forever, forever)
	for at := from; at <= to; at += every {
		t := metav1.NewMicroTime(s.w.Time(at - 10*ms))
		h := holder
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		l.Spec.HolderIdentity, l.Spec.RenewTime, l.Spec.LeaseDurationSeconds = &h, &t, &duration
		s.w.Put(at, l)
	}
}

// event stores a kubelet's Event about a pod.
func (s *scene) event(at time.Duration, p *corev1.Pod, reason, msg string) {
	n := fmt.Sprintf("%s.%016x", p.Name, s.w.Time(at).UnixNano())
	now := metav1.NewTime(s.w.Time(at))
	e := &corev1.Event{ObjectMeta: s.meta(n, n, at), Reason: reason, Message: msg, Type: "Warning", Count: 1, FirstTimestamp: now, LastTimestamp: now,
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		Source:         corev1.EventSource{Component: "kubelet", Host: "node-a"}}
	s.w.Put(at+10*ms, e)
}

// bystander is another Deployment, healthy from the start, with one replica and no
// Service. Its rollout at a moment goes through within two seconds.
type bystander struct {
	s  *scene
	d  *appsv1.Deployment
	rs *appsv1.ReplicaSet
}

func (s *scene) bystander(name string) *bystander {
	one := int32(1)
	tpl := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "reg.example/" + name + ":1"}}}}
	b := &bystander{s: s, d: &appsv1.Deployment{ObjectMeta: s.meta(name, name+"-uid", 0), Spec: appsv1.DeploymentSpec{Replicas: &one, Template: tpl}}}
	b.d.Generation = 1
	s.put(500*ms, b.d)
	b.pods(1, 600*ms)
	return b
}

func (b *bystander) update(at time.Duration) {
	b.d.Generation++
	b.d.Spec.Template.Spec.Containers[0].Image += "x"
	b.s.put(at, b.d)
	b.pods(b.d.Generation, at+100*ms)
}

func (b *bystander) pods(gen int64, at time.Duration) {
	s := b.s
	name := fmt.Sprintf("%s-%d", b.d.Name, gen)
	tpl := *b.d.Spec.Template.DeepCopy()
	tpl.Labels["pod-template-hash"] = name
	b.rs = &appsv1.ReplicaSet{ObjectMeta: owned(s.meta(name, "rs-"+name, at), "Deployment", b.d.Name, b.d.UID), Spec: appsv1.ReplicaSetSpec{Replicas: b.d.Spec.Replicas, Template: tpl}}
	s.putBy(at, "kube-controller-manager", b.rs)
	p := s.newPodOf(b.rs, name+"-p", at)
	s.putBy(at+50*ms, "kube-controller-manager", p)
	s.bind(p, at+100*ms)
	s.ready(p, at+sec)
	b.d.Status = appsv1.DeploymentStatus{ObservedGeneration: gen, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
	s.putBy(at+1100*ms, "kube-controller-manager", b.d)
}

// bound brings the first new pod to its node and lets the kubelet see it.
func bound(s *scene) {
	s.update()
	s.setAt(at(100 * ms))
	s.newPod(at(150 * ms))
	s.bind(s.pod, at(160*ms))
	s.seen(s.pod, at(170*ms))
}

// containers sets the status of a pod's containers.
func (s *scene) containers(p *corev1.Pod, at time.Duration, st ...corev1.ContainerStatus) {
	p.Status.ContainerStatuses = st
	s.put(at, p)
}

func runningStatus(name string, ready bool, restarts int32, last *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Ready: ready, ImageID: "sha256:2", RestartCount: restarts,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, LastTerminationState: corev1.ContainerState{Terminated: last}}
}

func revKey(rev int64) []byte {
	k := binary.BigEndian.AppendUint64(nil, uint64(rev))
	return binary.BigEndian.AppendUint64(append(k, '_'), 0)
}

// compactAtMarker compacts the saved store just before the marker, as etcd does: of each key the newest version at or below it is kept.
func compactAtMarker() func(*testing.T, *scene, string) {
	return func(t *testing.T, s *scene, dir string) {
		var floor int64
		db, err := bolt.Open(filepath.Join(dir, "state.db"), 0o644, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		floor = int64(1 + s.opsBefore())
		err = db.Update(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("key"))
			newest := map[string]int64{}
			type entry struct {
				rev  int64
				key  string
				bolt []byte
				tomb bool
			}
			var all []entry
			if err := b.ForEach(func(k, v []byte) error {
				kv := &mvccpb.KeyValue{}
				if err := proto.Unmarshal(v, kv); err != nil {
					return err
				}
				rev := int64(binary.BigEndian.Uint64(k[:8]))
				e := entry{rev, string(kv.Key), bytes.Clone(k), len(k) == 18}
				if rev <= floor {
					newest[e.key] = rev
				}
				all = append(all, e)
				return nil
			}); err != nil {
				return err
			}
			for _, e := range all {
				if e.rev <= floor && (e.rev < newest[e.key] || e.tomb) {
					if err := b.Delete(e.bolt); err != nil {
						return err
					}
				}
			}
			m := tx.Bucket([]byte("meta"))
			if err := m.Put([]byte("scheduledCompactRev"), revKey(floor)); err != nil {
				return err
			}
			return m.Put([]byte("finishedCompactRev"), revKey(floor))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// opsBefore counts the revisions of the scene's world before the marker: the store's
// numbers start at 2.
func (s *scene) opsBefore() int {
	dir := s.t.TempDir()
	if err := s.w.Save(dir); err != nil {
		s.t.Fatal(err)
	}
	db, err := bolt.Open(filepath.Join(dir, "state.db"), 0o644, &bolt.Options{ReadOnly: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	n := 0
	_ = db.View(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("key")).ForEach(func(_, v []byte) error {
			kv := &mvccpb.KeyValue{}
			if err := proto.Unmarshal(v, kv); err != nil {
				return err
			}
			if strings.HasPrefix(string(kv.Key), "/registry/marker/") && n == 0 {
				n = int(kv.ModRevision) - 1
			}
			return nil
		})
	})
	if n == 0 {
		s.t.Fatal("no marker: compaction scenes put one with s.marker()")
	}
	return n - 1
}

// marker stores a key by which compactAtMarker finds its revision.
func (s *scene) marker(at time.Duration) { s.w.PutRaw(at, "/registry/marker/x", []byte("x")) }

// rawObject stores an object of a kind that the world has no place for.
func (s *scene) rawObject(at time.Duration, key string, o world.Object) {
	c := o.DeepCopyObject()
	gvks, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		s.t.Fatal(err)
	}
	c.GetObjectKind().SetGroupVersionKind(gvks[0])
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(c, &b); err != nil {
		s.t.Fatal(err)
	}
	s.w.PutRaw(at, key, b.Bytes())
}

// leaderSlow lets the leader etcd-3 log a slow fdatasync now and then; nobody waits.
func leaderSlow(s *scene, from, to, every time.Duration) {
	memberLogs(s)
	for at := from; at < to; at += every {
		s.w.Etcd(at, "etcd-3", "warn", "slow fdatasync", "took", "1.1s", "expected-duration", "1s")
	}
}

// complete2 writes the Deployment's complete status.
func (s *scene) completeStatus(at time.Duration, n int32) {
	s.d.Status = appsv1.DeploymentStatus{ObservedGeneration: s.d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
	s.put(at, s.d)
}

// upPod makes a new pod that is served within two seconds.
func (s *scene) upPod(at time.Duration) *corev1.Pod {
	p := s.newPod(at)
	s.bind(p, at+50*ms)
	s.seen(p, at+100*ms)
	s.ready(p, at+sec)
	s.serve(p, at+1100*ms)
	return p
}

var fouls = []foul{
	// ---- Leases ----
	{name: "kcm with a 60 s lease renewed every 10 s, key not synced", make: func(s *scene) {
		s.update()
		s.ownLease("kube-system", "kube-controller-manager", "kube-controller-manager_1", 60, 100*ms, s.end, 10*sec)
	}, stage: stageReplicaSet, want: undecided},
	{name: "scheduler with a 60 s lease renewed every 10 s, pod not bound", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		s.ownLease("kube-system", "kube-scheduler", "kube-scheduler_1", 60, 100*ms, s.end, 10*sec)
	}, stage: stageSchedule, want: undecided},
	{name: "node lease of 120 s renewed every 30 s, slow pull", make: func(s *scene) {
		bound(s)
		s.ownLease("kube-node-lease", "node-a", "node-a_1", 120, 100*ms, s.end, 30*sec)
	}, stage: stagePrepare, want: []string{"", "image-pull-slow"}},
	{name: "stale kcm Lease of a cluster that no longer elects; its writes go on", make: func(s *scene) {
		b := s.bystander("web")
		s.update()
		s.silence("kube-controller-manager", 2*sec, forever)
		for i := range 10 {
			b.update(at(time.Duration(10+10*i) * sec))
		}
	}, rollout: "deployment/shop/cart#2", stage: stageReplicaSet, want: []string{"", "controller-not-syncing"}},
	{name: "stale scheduler Lease, other pods are bound", make: func(s *scene) {
		b := s.bystander("web")
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		s.silence("kube-scheduler", 2*sec, forever)
		for i := range 10 {
			b.update(at(time.Duration(10+10*i) * sec))
		}
	}, rollout: "deployment/shop/cart#2", stage: stageSchedule, want: []string{"", "scheduler-stuck"}},
	{name: "pod of another scheduler while kube-scheduler is gone", make: func(s *scene) {
		s.d.Spec.Template.Spec.SchedulerName = "volcano"
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		s.silence("kube-scheduler", at(-20*sec), forever)
	}, stage: stageSchedule, want: undecided},
	{name: "released kcm Lease, standby takes over in 1.5 s, healthy rollout", make: func(s *scene) {
		s.ownLease("kube-system", "kube-controller-manager", "kcm-a_1", 15, 100*ms, at(sec), 2*sec)
		s.ownLease("kube-system", "kube-controller-manager", "", 1, at(1200*ms), at(1200*ms), sec)
		s.ownLease("kube-system", "kube-controller-manager", "kcm-b_1", 15, at(2700*ms), s.end, 2*sec)
		s.update()
		s.setAt(at(100 * ms))
		s.converge(at(200 * ms))
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "released kcm Lease, nobody takes it", make: func(s *scene) {
		s.ownLease("kube-system", "kube-controller-manager", "kcm-a_1", 15, 100*ms, at(-3*sec), 2*sec)
		s.ownLease("kube-system", "kube-controller-manager", "", 1, at(-2*sec), at(-2*sec), sec)
		s.update()
	}, stage: stageReplicaSet, want: []string{"controller-down"}},
	{name: "kcm crashes, standby takes over after 17 s, rollout waited for it", make: func(s *scene) {
		s.silence("kube-controller-manager", at(-2*sec), at(15*sec))
		s.update()
		s.setAt(at(16 * sec))
		s.converge(at(17 * sec))
	}, want: []string{"controller-down"}, outcome: Complete},
	{name: "kcm standby takes over while pods start, healthy rollout", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		s.upPod(at(200 * ms))
		s.upPod(at(1300 * ms))
		s.completeStatus(at(2600*ms), 2)
		s.silence("kube-controller-manager", at(3*sec), at(20*sec))
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "other node's kubelet is dead, this pod's pull fails", make: func(s *scene) {
		s.w.Renew("kube-node-lease", "node-b", "node-b", 300*ms, at(-30*sec), 10*sec)
		bound(s)
		s.waiting(s.pod, at(4*sec), "ErrImagePull", "manifest unknown")
	}, stage: stagePrepare, want: []string{"image-pull"}},
	{name: "other node's kubelet is dead, pull goes on", make: func(s *scene) {
		s.w.Renew("kube-node-lease", "node-b", "node-b", 300*ms, at(-30*sec), 10*sec)
		bound(s)
	}, stage: stagePrepare, want: []string{"", "image-pull-slow"}},

	{name: "three renewals of the kcm Lease missed, never lost; the ReplicaSet took 7 s", make: func(s *scene) {
		s.ownLease("kube-system", "kube-controller-manager", "kcm_1", 15, 100*ms, at(100*ms), 2*sec)
		s.ownLease("kube-system", "kube-controller-manager", "kcm_1", 15, at(6400*ms), s.end, 2*sec)
		s.update()
		s.setAt(at(7 * sec))
		s.converge(at(7100 * ms))
	}, want: undecided, outcome: Complete},
	{name: "superseded while its pod waits: nothing converges, nothing is due in stage 9", make: func(s *scene) {
		bound(s)
		s.waiting(s.pod, at(4*sec), "ErrImagePull", "manifest unknown")
		third(s, at(60*sec))
	}, rollout: "deployment/shop/cart#2", want: []string{"image-pull"}, onlyStage: stagePrepare},

	// ---- etcd ----
	{name: "scheduler crashes while the leader's disk is slow and harms nobody", make: func(s *scene) {
		leaderSlow(s, at(-30*sec), s.end, 9*sec)
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		s.silence("kube-scheduler", at(-5*sec), forever)
		s.w.Klog(0, "kube-scheduler", "I", "flags.go:64", `FLAG: --leader-elect="true"`)
		s.w.Klog(at(-4*sec), "kube-scheduler", "F", "run.go:72", "command failed")
	}, stage: stageSchedule, want: []string{"scheduler-down"}},
	{name: "kcm crashes while the leader's disk is slow and harms nobody", make: func(s *scene) {
		leaderSlow(s, at(-30*sec), s.end, 9*sec)
		s.update()
		s.silence("kube-controller-manager", at(-5*sec), forever)
	}, stage: stageReplicaSet, want: []string{"controller-down"}},
	{name: "kubelet dies while the leader's disk is slow and harms nobody", make: func(s *scene) {
		leaderSlow(s, at(-30*sec), s.end, 9*sec)
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		s.bind(s.pod, at(300*ms))
		s.silence("node-a", at(-5*sec), forever)
	}, stage: stagePrepare, want: []string{"kubelet-down"}},
	{name: "slow disk of the leader, all writers on time, pod not bound", make: func(s *scene) {
		leaderSlow(s, at(-30*sec), s.end, 9*sec)
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
	}, stage: stageSchedule, want: undecided},
	{name: "alarm disarmed unseen (etcd 3.6 does not log it), writes go on, later the pod is not bound", make: func(s *scene) {
		s.w.EtcdStart(0, "etcd-1", world.MemberIDs[0])
		s.w.Etcd(5*sec, "etcd-1", "warn", "message exceeded backend quota; raising alarm", "quota-size-bytes", "25165824")
		s.silenceAll(5*sec, 12*sec)
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
	}, stage: stageSchedule, want: undecided},
	{name: "alarm disarmed unseen, later the scheduler dies", make: func(s *scene) {
		s.w.EtcdStart(0, "etcd-1", world.MemberIDs[0])
		s.w.Etcd(5*sec, "etcd-1", "warn", "message exceeded backend quota; raising alarm", "quota-size-bytes", "25165824")
		s.silence("kube-controller-manager", 5*sec, 12*sec)
		s.silence("node-a", 5*sec, 12*sec)
		s.ownLease("kube-system", "kube-scheduler", "kube-scheduler_1", 15, 900*ms, 4*sec, 2*sec)
		s.ownLease("kube-system", "kube-scheduler", "kube-scheduler_1", 15, 12*sec, at(-5*sec), 2*sec)
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
	}, stage: stageSchedule, want: []string{"scheduler-down"}},
	{name: "alarm disarmed unseen, later a write is answered 504", make: func(s *scene) {
		s.w.EtcdStart(0, "etcd-1", world.MemberIDs[0])
		s.w.Etcd(5*sec, "etcd-1", "warn", "message exceeded backend quota; raising alarm", "quota-size-bytes", "25165824")
		s.silenceAll(5*sec, 12*sec)
		s.w.Audit(updateAt, patch(504, "Timeout: request did not complete within requested timeout - context deadline exceeded"))
	}, stage: stageUpdate, want: undecided},
	{name: "NOSPACE long after the stall", make: func(s *scene) {
		s.w.EtcdStart(0, "etcd-1", world.MemberIDs[0])
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		s.bind(s.pod, at(20*sec))
		s.seen(s.pod, at(20100*ms))
		s.converge(at(21 * sec))
		s.w.Etcd(at(100*sec), "etcd-1", "warn", "message exceeded backend quota; raising alarm", "quota-size-bytes", "25165824")
		s.silenceAll(at(100*sec), forever)
	}, want: undecided, outcome: Complete},
	{name: "NOSPACE without logs: every put stops, deletes pass", make: func(s *scene) {
		nospaceStore(s)
	}, post: addAlarm, stage: stageReplicaSet, want: []string{"", "nospace"}},
	{name: "puts stop, deletes pass, neither alarm nor logs", make: func(s *scene) {
		nospaceStore(s)
	}, stage: stageReplicaSet, want: undecided},
	{name: "isolated follower's log alone; the leader moved meanwhile, writes went on", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		s.bind(s.pod, at(55*sec))
		s.seen(s.pod, at(55100*ms))
		s.converge(at(56 * sec))
		isolated(s, at(-sec), at(60*sec))
	}, want: undecided, outcome: Complete},
	{name: "isolated follower's log alone, kcm crashes by itself in that time", make: func(s *scene) {
		s.update()
		s.silence("kube-controller-manager", at(0), at(50*sec))
		s.setAt(at(51 * sec))
		s.converge(at(52 * sec))
		isolated(s, at(-sec), at(60*sec))
	}, want: []string{"controller-down"}, outcome: Complete},
	{name: "follower cut off, leadership moved on request before it is back, all logs", make: func(s *scene) {
		memberLogs(s)
		ids := world.MemberIDs
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		s.bind(s.pod, at(38*sec))
		s.seen(s.pod, at(38100*ms))
		s.converge(at(39 * sec))
		s.w.Etcd(at(-sec), "etcd-1", "info", fmt.Sprintf("raft.node: %s lost leader %s at term 2", ids[0], ids[2]))
		for i := range 20 {
			s.w.Etcd(at(time.Duration(i)*1800*ms), "etcd-1", "info", ids[0]+" is starting a new election at term 2")
		}
		s.w.Etcd(at(40*sec), "etcd-3", "info", "leadership transfer starting", "local-member-id", ids[2], "transferee-member-id", ids[1])
		s.w.Etcd(at(40*sec+10*ms), "etcd-2", "info", ids[1]+" became leader at term 3")
		s.w.Etcd(at(40*sec+10*ms), "etcd-2", "info", fmt.Sprintf("raft.node: %s changed leader from %s to %s at term 3", ids[1], ids[2], ids[1]))
		s.w.Etcd(at(40*sec+12*ms), "etcd-3", "info", fmt.Sprintf("raft.node: %s changed leader from %s to %s at term 3", ids[2], ids[2], ids[1]))
		s.w.Etcd(at(60*sec), "etcd-1", "info", fmt.Sprintf("raft.node: %s elected leader %s at term 3", ids[0], ids[1]))
	}, want: undecided, outcome: Complete},
	{name: "quorum lost for good in mid-rollout, logs go on", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		memberLogs(s)
		ids := world.MemberIDs
		s.w.Etcd(at(1500*ms), "etcd-3", "warn", ids[2]+" stepped down to follower since quorum is not active")
		s.w.Etcd(at(1500*ms), "etcd-3", "info", fmt.Sprintf("raft.node: %s lost leader %s at term 2", ids[2], ids[2]))
		for i := range 150 {
			s.w.Etcd(at(3*sec+time.Duration(i)*1800*ms), "etcd-3", "info", ids[2]+" is starting a new election at term 2")
		}
		s.silenceAll(at(300*ms), forever)
	}, stage: stageSchedule, want: []string{"quorum-loss"}, outcome: Stalled},
	{name: "follower down, API server with all endpoints but its log begins late, kcm crashes", make: func(s *scene) {
		memberLogs(s)
		ids := world.MemberIDs
		s.update()
		for i := range 2 {
			s.w.Etcd(at(-3*sec), fmt.Sprintf("etcd-%d", i+1), "warn", "peer became inactive (message send to peer failed)", "peer-id", ids[0])
			s.w.Etcd(at(100*sec), fmt.Sprintf("etcd-%d", i+1), "info", "peer became active", "peer-id", ids[0])
		}
		// etcd-1 is the follower that is down; etcd-2 and etcd-3 say so.
		for i := range 10 {
			s.w.Klog(at(-2*sec+time.Duration(i)*8*sec), "kube-apiserver", "W", "logging.go:55", `[core] [Channel #1 SubChannel #3]grpc: addrConn.createTransport failed to connect to {Addr: "10.0.0.1:2379", ServerName: "10.0.0.1:2379"}. Err: connection error: desc = "transport: Error while dialing: dial tcp 10.0.0.1:2379: connect: connection refused"`)
		}
		s.silence("kube-controller-manager", at(0), at(45*sec))
		s.setAt(at(46 * sec))
		s.converge(at(47 * sec))
	}, want: []string{"controller-down", ""}, outcome: Complete},
	{name: "etcd stopped 12 s without logs, kcm lost its Lease by it and came late", make: func(s *scene) {
		for _, w := range []string{"kube-scheduler", "node-a", "apiserver"} {
			s.silence(w, at(-sec), at(11*sec))
		}
		s.ownLease("kube-system", "kube-controller-manager", "kcm_1", 15, 100*ms, at(-sec), 2*sec)
		s.ownLease("kube-system", "kube-controller-manager", "kcm_2", 15, at(33*sec), s.end, 2*sec)
		s.update0(at(-900 * ms))
		s.setAt(at(34 * sec))
		s.converge(at(35 * sec))
	}, want: undecided, outcome: Complete},
	{name: "defragmentation of the leader for 20 s", make: func(s *scene) {
		memberLogs(s)
		s.update()
		s.w.Etcd(at(100*ms), "etcd-3", "info", "starting defragment")
		s.w.Etcd(at(20*sec), "etcd-3", "info", "finished defragment")
		s.silenceAll(at(100*ms), at(20200*ms))
		s.setAt(at(21 * sec))
		s.converge(at(22 * sec))
	}, want: []string{"", "defrag"}, outcome: Complete},
	{name: "slow range reads only, pod not bound", make: func(s *scene) {
		memberLogs(s)
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		for i := range 40 {
			s.w.Etcd(at(time.Duration(i)*2*sec), "etcd-3", "warn", "apply request took too long", "took", "1.4s", "expected-duration", "100ms", "prefix", "read-only range ", "request", `key:"/registry/pods/" range_end:"/registry/pods0"`)
		}
	}, stage: stageSchedule, want: undecided},
	{name: "planned transfer of leadership, pull fails", make: func(s *scene) {
		memberLogs(s)
		ids := world.MemberIDs
		bound(s)
		s.w.Etcd(at(sec), "etcd-3", "info", "leadership transfer starting", "local-member-id", ids[2], "transferee-member-id", ids[0])
		s.w.Etcd(at(sec+5*ms), "etcd-1", "info", ids[0]+" became leader at term 3")
		for i := range 3 {
			s.w.Etcd(at(sec+8*ms), fmt.Sprintf("etcd-%d", i+1), "info", fmt.Sprintf("raft.node: %s changed leader from %s to %s at term 3", ids[i], ids[2], ids[0]))
		}
		s.waiting(s.pod, at(4*sec), "ErrImagePull", "manifest unknown")
	}, stage: stagePrepare, want: []string{"image-pull"}},
	{name: "member log missing: follower with slow disk alone has a log, pod not bound", make: func(s *scene) {
		s.w.EtcdStart(0, "etcd-1", world.MemberIDs[0])
		s.w.Etcd(10*ms, "etcd-1", "info", fmt.Sprintf("raft.node: %s elected leader %s at term 2", world.MemberIDs[0], world.MemberIDs[2]))
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		for i := range 20 {
			s.w.Etcd(at(time.Duration(i)*5*sec), "etcd-1", "warn", "slow fdatasync", "took", "1.7s", "expected-duration", "1s")
		}
	}, stage: stageSchedule, want: undecided},

	// ---- pods ----
	{name: "mount failed once, then a long pull", make: func(s *scene) {
		bound(s)
		s.event(at(sec), s.pod, "FailedMount", `MountVolume.SetUp failed for volume "cfg" : failed to sync configmap cache: timed out waiting for the condition`)
		s.event(at(3*sec), s.pod, "Pulling", `Pulling image "reg.example/cart:2"`)
		s.converge(at(95 * sec))
	}, want: []string{"", "image-pull-slow"}, outcome: Complete},
	{name: "mount failed once, then a pull that still goes on", make: func(s *scene) {
		s.end = at(100 * sec)
		bound(s)
		s.event(at(sec), s.pod, "FailedMount", `MountVolume.SetUp failed for volume "kube-api-access" : failed to sync configmap cache: timed out waiting for the condition`)
		s.event(at(3*sec), s.pod, "Pulling", `Pulling image "reg.example/cart:2"`)
	}, stage: stagePrepare, want: []string{"", "image-pull-slow"}},
	{name: "sandbox failed once, then a long pull", make: func(s *scene) {
		bound(s)
		s.event(at(sec), s.pod, "FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: plugin type="flannel" failed (add): subnet.env: no such file`)
		s.event(at(15*sec), s.pod, "Pulling", `Pulling image "reg.example/cart:2"`)
		s.converge(at(95 * sec))
	}, want: []string{"", "image-pull-slow"}, outcome: Complete},
	{name: "sidecar restarted once and is ready, main never passes its probe", make: func(s *scene) {
		s.d.Spec.Template.Spec.Containers = append(s.d.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy", Image: "reg.example/proxy:1"})
		bound(s)
		s.containers(s.pod, at(5*sec), runningStatus("main", false, 0, nil), runningStatus("proxy", true, 1, &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}))
	}, stage: stageStart, want: []string{"", "readiness-probe"}},
	{name: "sidecar OOM-killed once and is ready, main never passes its probe", make: func(s *scene) {
		s.d.Spec.Template.Spec.Containers = append(s.d.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy", Image: "reg.example/proxy:1"})
		bound(s)
		s.containers(s.pod, at(5*sec), runningStatus("main", false, 0, nil), runningStatus("proxy", true, 1, &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}))
	}, stage: stageStart, want: []string{"", "readiness-probe"}},
	{name: "restarted once at the start, runs since, probe fails for two minutes", make: func(s *scene) {
		s.d.Spec.Template.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 5, FailureThreshold: 3}
		bound(s)
		s.containers(s.pod, at(5*sec), runningStatus("main", false, 1, &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}))
		for i := range 10 {
			s.event(at(time.Duration(10+10*i)*sec), s.pod, "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")
		}
	}, stage: stageStart, want: []string{"", "readiness-probe"}},
	{name: "killed by its liveness probe again and again", make: func(s *scene) {
		s.d.Spec.Template.Spec.Containers[0].LivenessProbe = &corev1.Probe{PeriodSeconds: 5, FailureThreshold: 3}
		bound(s)
		for i := range int32(3) {
			t := at(time.Duration(20+30*i) * sec)
			s.event(t-sec, s.pod, "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500")
			s.event(t, s.pod, "Killing", "Container main failed liveness probe, will be restarted")
			s.containers(s.pod, t+2*sec, runningStatus("main", false, i+1, &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error"}))
		}
	}, stage: stageStart, want: []string{"", "liveness-probe"}},
	{name: "killed by its startup probe again and again", make: func(s *scene) {
		s.d.Spec.Template.Spec.Containers[0].StartupProbe = &corev1.Probe{PeriodSeconds: 5, FailureThreshold: 3}
		bound(s)
		for i := range int32(3) {
			t := at(time.Duration(20+30*i) * sec)
			s.event(t-sec, s.pod, "Unhealthy", "Startup probe failed: Get \"http://10.1.0.7:8080/\": dial tcp 10.1.0.7:8080: connect: connection refused")
			s.event(t, s.pod, "Killing", "Container main failed startup probe, will be restarted")
			s.containers(s.pod, t+2*sec, runningStatus("main", false, i+1, &corev1.ContainerStateTerminated{ExitCode: 143, Reason: "Error"}))
		}
	}, stage: stageStart, want: []string{"", "startup-probe"}},
	{name: "runAsNonRoot refuses an image that runs as root", make: func(s *scene) {
		bound(s)
		s.waiting(s.pod, at(3*sec), "CreateContainerConfigError", "container has runAsNonRoot and image will run as root (pod: \"cart-new-60_shop(x)\", container: main)")
	}, stage: stageStart, want: []string{"", "start-error"}},
	{name: "init container runs a long migration", make: func(s *scene) {
		s.d.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "migrate", Image: "reg.example/cart:2"}}
		bound(s)
		s.pod.Status.InitContainerStatuses = []corev1.ContainerStatus{runningStatus("migrate", false, 0, nil)}
		s.waiting(s.pod, at(3*sec), "PodInitializing", "")
	}, stage: -1, want: undecided},
	{name: "init container exits again and again", make: func(s *scene) {
		s.d.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "migrate", Image: "reg.example/cart:2"}}
		bound(s)
		s.pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "migrate", ImageID: "sha256:2", RestartCount: 4,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}}}
		s.waiting(s.pod, at(30*sec), "PodInitializing", "")
	}, stage: -1, want: []string{"", "crash-loop"}},
	{name: "pod evicted before it was ready, replaced, rollout complete", make: func(s *scene) {
		bound(s)
		s.containers(s.pod, at(2*sec), runningStatus("main", false, 0, nil))
		s.pod.Status.Phase, s.pod.Status.Reason, s.pod.Status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory."
		s.containers(s.pod, at(5*sec), corev1.ContainerStatus{Name: "main", ImageID: "sha256:2", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error"}}})
		s.upPod(at(6 * sec))
		s.upPod(at(8 * sec))
		s.completeStatus(at(10*sec), 2)
	}, want: []string{"", "eviction"}, outcome: Complete},
	{name: "pod refused by its kubelet (OutOfcpu), replaced, rollout complete", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		p := s.newPod(at(150 * ms))
		s.bind(p, at(160*ms))
		now := metav1.NewTime(s.w.Time(at(200 * ms)))
		p.Status.StartTime = &now
		p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu"
		s.put(at(200*ms), p)
		s.upPod(at(sec))
		s.upPod(at(3 * sec))
		s.completeStatus(at(5*sec), 2)
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "pod stuck terminating on a dead node, replaced, rollout complete", make: func(s *scene) {
		s.end = at(420 * sec)
		s.w.Renew("kube-node-lease", "node-b", "node-b", 300*ms, at(-sec), 10*sec)
		s.update()
		s.setAt(at(100 * ms))
		p := s.newPod(at(150 * ms))
		p.Spec.NodeName = "node-b"
		s.condition(p, corev1.PodScheduled, corev1.ConditionTrue, "", "", at(160*ms))
		s.put(at(160*ms), p)
		now := metav1.NewTime(s.w.Time(at(350 * sec)))
		p.DeletionTimestamp = &now
		s.put(at(350*sec), p)
		s.upPod(at(350*sec + 100*ms))
		s.upPod(at(353 * sec))
		s.completeStatus(at(356*sec), 2)
	}, want: []string{"kubelet-down"}, outcome: Complete},
	{name: "readiness gate never set", make: func(s *scene) {
		s.d.Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "target-health.elbv2.k8s.aws/x"}}
		bound(s)
		s.condition(s.pod, corev1.ContainersReady, corev1.ConditionTrue, "", "", at(3*sec))
		s.condition(s.pod, corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady", "corresponding condition of pod readiness gate does not exist.", at(3*sec))
		s.containers(s.pod, at(3*sec), runningStatus("main", true, 0, nil))
	}, stage: stageServe, want: []string{"", "readiness-gate"}},
	{name: "scaled up long after the rollout was complete, no node fits", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		s.converge(at(200 * ms))
		four := int32(4)
		s.d.Spec.Replicas = &four
		s.d.Generation = 3
		s.put(at(90*sec), s.d)
		p := s.newPod(at(90*sec + 100*ms))
		s.condition(p, corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.", at(90*sec+200*ms))
		s.put(at(90*sec+200*ms), p)
	}, want: undecided, outcome: Complete},
	{name: "pod lost long after the rollout was complete, its replacement finds no node", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		s.converge(at(200 * ms))
		s.w.Delete(at(90*sec), s.pod)
		p := s.newPod(at(90*sec + 100*ms))
		s.condition(p, corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.", at(90*sec+200*ms))
		s.put(at(90*sec+200*ms), p)
	}, want: undecided, outcome: Complete},

	// ---- rollouts ----
	{name: "Recreate waits for old pods inside their grace period", make: func(s *scene) {
		s.d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		s.update()
		grace := int64(30)
		for i := range 2 {
			p := s.newPodOf(s.old, fmt.Sprintf("cart-old-%d", i), sec)
			p.Spec.NodeName = "node-a"
			now := metav1.NewTime(s.w.Time(at(200 * ms)))
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &now, &grace
			s.put(at(200*ms), p)
			s.w.Delete(at(25*sec), p)
		}
		s.setAt(at(25200 * ms))
		s.converge(at(25300 * ms))
	}, want: []string{"", "terminating-slow"}, outcome: Complete},
	{name: "first template's pull fails, superseded by a good one", make: func(s *scene) {
		bound(s)
		s.waiting(s.pod, at(4*sec), "ErrImagePull", "manifest unknown")
		third(s, at(60*sec))
	}, want: undecided, outcome: Complete, noStalls: true, free: true},
	{name: "the superseded one is stalled by its pull", make: func(s *scene) {
		bound(s)
		s.waiting(s.pod, at(4*sec), "ErrImagePull", "manifest unknown")
		third(s, at(60*sec))
	}, rollout: "deployment/shop/cart#2", want: []string{"image-pull"}, outcome: Superseded},
	{name: "rollback to a ReplicaSet whose pods are all there", make: func(s *scene) {
		bound(s)
		s.waiting(s.pod, at(4*sec), "ErrImagePull", "manifest unknown")
		s.d.Spec.Template.Spec.Containers[0].Image = "reg.example/cart:1"
		s.d.Generation = 3
		s.put(at(60*sec), s.d)
		s.w.Delete(at(60200*ms), s.pod)
		s.completeStatus(at(60300*ms), 2)
	}, want: undecided, outcome: Complete, noStalls: true, free: true},
	{name: "scaled to 0 in the middle", make: func(s *scene) {
		bound(s)
		zero := int32(0)
		s.d.Spec.Replicas = &zero
		s.d.Generation = 3
		s.put(at(5*sec), s.d)
		s.w.Delete(at(5200*ms), s.pod)
		s.completeStatus(at(5300*ms), 0)
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "five updates in five seconds, the last goes through", make: func(s *scene) {
		s.update()
		for i := range 4 {
			s.d.Generation++
			s.d.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("reg.example/cart:%d", i+10)
			s.put(at(time.Duration(i+1)*sec), s.d)
		}
		s.newSetN(at(4100*ms), "cart-6")
		s.upPod(at(4200 * ms))
		s.upPod(at(6 * sec))
		s.completeStatus(at(8*sec), 2)
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "synced late for no seen reason, paused much later", make: func(s *scene) {
		s.update()
		s.setAt(at(20 * sec))
		s.upPod(at(20100 * ms))
		s.d.Status.UpdatedReplicas = 1
		s.put(at(22*sec), s.d)
		s.d.Spec.Paused = true
		s.d.Generation = 3
		s.put(at(23*sec), s.d)
		s.end = at(30 * sec)
	}, stage: -1, want: undecided},
	{name: "paused with a new template, resumed after 40 s", make: func(s *scene) {
		s.d.Spec.Paused = true
		s.d.Generation = 2
		s.d.Status.ObservedGeneration = 2
		s.put(at(-20*sec), s.d)
		s.update()
		s.d.Spec.Paused = false
		s.d.Generation = 3
		s.put(at(40*sec), s.d)
		s.setAt(at(40100 * ms))
		s.upPod(at(40200 * ms))
		s.upPod(at(42 * sec))
		s.completeStatus(at(44*sec), 2)
	}, want: []string{"", "paused"}, outcome: Complete},
	{name: "deleted in the middle and made again", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
		s.w.Delete(at(3*sec), s.d)
		s.w.Delete(at(3100*ms), s.set)
		s.w.Delete(at(3200*ms), s.pod)
		s.d.UID, s.d.Generation, s.d.Status = "d-uid-2", 1, appsv1.DeploymentStatus{}
		s.d.CreationTimestamp = metav1.NewTime(s.w.Time(at(10 * sec)))
		s.put(at(10*sec), s.d)
		s.newSetN(at(10100*ms), "cart-life2")
		s.upPod(at(10200 * ms))
		s.upPod(at(12 * sec))
		s.completeStatus(at(14*sec), 2)
	}, want: undecided, outcome: Complete, noStalls: true, free: true},
	{name: "snapshot in the middle, within budget", make: func(s *scene) {
		s.end = at(4 * sec)
		s.update()
		s.setAt(at(100 * ms))
		s.newPod(at(200 * ms))
	}, want: undecided, outcome: InProgress, noStalls: true},
	{name: "two Deployments at once, only one waits", make: func(s *scene) {
		b := s.bystander("web")
		s.update()
		b.update(at(10 * ms))
		s.setAt(at(100 * ms))
		failure(s, at(200*ms), `pods "cart-new-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`)
	}, rollout: "deployment/shop/web#2", want: undecided, outcome: Complete, noStalls: true, free: true},
	{name: "minReadySeconds 30, two replicas one after the other", make: func(s *scene) {
		s.d.Spec.MinReadySeconds = 30
		s.update()
		s.setAt(at(100 * ms))
		s.upPod(at(200 * ms))
		s.d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, ReadyReplicas: 3, AvailableReplicas: 2}
		s.put(at(2*sec), s.d)
		s.upPod(at(32 * sec))
		s.d.Status.UpdatedReplicas = 2
		s.put(at(33*sec), s.d)
		s.completeStatus(at(64*sec), 2)
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "old pods gone slowly while all new ones serve", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		s.converge(at(200 * ms))
		p := s.newPodOf(s.old, "cart-old-0", sec)
		now := metav1.NewTime(s.w.Time(at(5 * sec)))
		p.DeletionTimestamp = &now
		s.put(at(5*sec), p)
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "webhook's refusal that speaks of a quota", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		failure(s, at(200*ms), `admission webhook "budget.acme.io" denied the request: team shop exceeded quota: 40 EUR a day`)
	}, stage: stageReplicaSet, want: []string{"admission-webhook"}},

	// ---- services ----
	{name: "Service made a minute after the pods were ready", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		p, q := s.upPod(at(200*ms)), s.upPod(at(2*sec))
		s.completeStatus(at(4*sec), 2)
		admin := &corev1.Service{ObjectMeta: s.meta("cart-admin", "svc-admin", at(60*sec)), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "cart"}}}
		s.put(at(60*sec), admin)
		s.sliceOf(at(60*sec+100*ms), "cart-admin", p, q)
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "blue-green: the Service moved to the other colour before", make: func(s *scene) {
		green := s.bystander("green")
		_ = green
		live := &corev1.Service{ObjectMeta: s.meta("live", "svc-live", 0), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "cart"}}}
		s.put(5*sec, live)
		s.sliceOf(5100*ms, "live")
		live.Spec.Selector = map[string]string{"app": "green"}
		s.put(30*sec, live)
		g := s.newPodOf(green.rs, "green-1-p", 600*ms)
		s.sliceOf(30100*ms, "live", g)
		s.update()
		s.setAt(at(100 * ms))
		s.converge(at(200 * ms))
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "endpoints late, the Service's selector broken long after", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		var pods []*corev1.Pod
		for i := range 2 {
			p := s.newPod(at(time.Duration(i+1) * sec))
			s.bind(p, at(time.Duration(i+1)*sec+50*ms))
			s.ready(p, at(time.Duration(i+1)*sec+500*ms))
			pods = append(pods, p)
		}
		s.completeStatus(at(3*sec), 2)
		for _, p := range pods {
			s.serve(p, at(20*sec))
		}
		s.svc.Spec.Selector = map[string]string{"app": "kart"}
		s.put(at(90*sec), s.svc)
	}, stage: -1, want: []string{"", "endpoint-lag"}},
	{name: "selector wrong, corrected after 30 s", make: func(s *scene) {
		s.svc.Spec.Selector = map[string]string{"app": "kart"}
		s.put(10*sec, s.svc)
		s.update()
		s.setAt(at(100 * ms))
		var pods []*corev1.Pod
		for i := range 2 {
			p := s.newPod(at(time.Duration(i+1) * sec))
			s.bind(p, at(time.Duration(i+1)*sec+50*ms))
			s.ready(p, at(time.Duration(i+1)*sec+500*ms))
			pods = append(pods, p)
		}
		s.completeStatus(at(3*sec), 2)
		s.svc.Spec.Selector = map[string]string{"app": "cart"}
		s.put(at(30*sec), s.svc)
		for _, p := range pods {
			s.serve(p, at(30200*ms))
		}
	}, want: []string{"selector-mismatch"}, outcome: Complete},
	{name: "chart's database Service, its StatefulSet scaled to 0", make: func(s *scene) {
		s.d.Spec.Template.Labels["app.kubernetes.io/instance"] = "shop"
		db := &corev1.Service{ObjectMeta: s.meta("shop-db", "svc-db", 0), Spec: corev1.ServiceSpec{ClusterIP: "None", Selector: map[string]string{"app.kubernetes.io/instance": "shop", "component": "db"}}}
		db.Labels = map[string]string{"app.kubernetes.io/instance": "shop", "component": "db"}
		s.put(5*sec, db)
		zero := int32(0)
		sts := &appsv1.StatefulSet{ObjectMeta: s.meta("shop-db", "sts-db", 0), Spec: appsv1.StatefulSetSpec{Replicas: &zero, ServiceName: "shop-db",
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/instance": "shop", "component": "db"}}}}}
		s.rawObject(5*sec, "/registry/statefulsets/shop/shop-db", sts)
		s.update()
		s.setAt(at(100 * ms))
		s.converge(at(200 * ms))
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "Service without selector and headless Service, healthy rollout", make: func(s *scene) {
		s.put(5*sec, &corev1.Service{ObjectMeta: s.meta("ext", "svc-ext", 0)})
		h := &corev1.Service{ObjectMeta: s.meta("cart-hl", "svc-hl", 0), Spec: corev1.ServiceSpec{ClusterIP: "None", Selector: map[string]string{"app": "cart"}}}
		s.put(5*sec, h)
		s.sliceOf(5100*ms, "cart-hl", s.newPodOf(s.old, "cart-old-0", sec), s.newPodOf(s.old, "cart-old-1", sec))
		s.update()
		s.setAt(at(100 * ms))
		p, q := s.upPod(at(200*ms)), s.upPod(at(2*sec))
		s.sliceOf(at(3200*ms), "cart-hl", p, q)
		s.completeStatus(at(4*sec), 2)
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "canary Service selects by an extra label of another Deployment", make: func(s *scene) {
		b := s.bystander("canary")
		_ = b
		c := &corev1.Service{ObjectMeta: s.meta("cart-canary", "svc-c", 0), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "canary"}}}
		c.Labels = map[string]string{"app": "cart"}
		s.put(5*sec, c)
		s.update()
		s.setAt(at(100 * ms))
		s.converge(at(200 * ms))
	}, want: undecided, outcome: Complete, noStalls: true},

	// ---- compaction ----
	{name: "slices compacted: first pod served at once, second pulled for 50 s", make: func(s *scene) {
		s.update()
		s.setAt(at(100 * ms))
		s.upPod(at(200 * ms))
		p := s.newPod(at(2 * sec))
		s.bind(p, at(2050*ms))
		s.seen(p, at(2100*ms))
		s.ready(p, at(50*sec))
		s.serve(p, at(50100*ms))
		s.d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 2, ReadyReplicas: 3, AvailableReplicas: 3}
		s.put(at(50200*ms), s.d)
		s.marker(at(51 * sec))
		s.completeStatus(at(52*sec), 2)
	}, post: compactAtMarker(), stage: 0, want: undecided, noStalls: true},
	{name: "compacted: long-complete Deployment with one pod unready", make: func(s *scene) {
		s.d.Status.AvailableReplicas, s.d.Status.ReadyReplicas = 1, 1
		s.d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}}
		s.put(30*sec, s.d)
		p := s.newPodOf(s.old, "cart-old-0", sec)
		p.Spec.NodeName = "node-a"
		p.Status.StartTime = &metav1.Time{Time: s.w.Time(sec)}
		s.condition(p, corev1.ContainersReady, corev1.ConditionFalse, "", "", 30*sec)
		s.condition(p, corev1.PodReady, corev1.ConditionFalse, "", "", 30*sec)
		s.containers(p, 30*sec, corev1.ContainerStatus{Name: "main", ImageID: "sha256:1", RestartCount: 7,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}})
		s.marker(40 * sec)
		s.d.Annotations = map[string]string{"note": "x"}
		s.put(50*sec, s.d)
	}, post: compactAtMarker(), stage: 0, want: undecided},

	{name: "short history, ReplicaSet held 20 s by validating webhooks after its creation stamp", make: func(s *scene) {
		s.end = at(25 * sec)
		s.marker(at(-2 * sec))
		s.update()
		s.set = s.replicaSet("cart-new", "rs-new", at(sec))
		s.set.CreationTimestamp = metav1.NewTime(s.w.Time(at(sec)))
		s.putStamped(at(21*sec), at(sec), s.set)
		s.d.Status.ObservedGeneration, s.d.Status.UpdatedReplicas = 2, 0
		s.put(at(21*sec+50*ms), s.d)
		s.newPod(at(21*sec + 100*ms))
	}, post: compactAtMarker(), stage: -1, want: undecided},
	{name: "node clock two minutes behind, beginnings of the pods compacted", make: func(s *scene) {
		s.w.Renew("kube-node-lease", "node-b", "node-b", 300*ms, s.end, 10*sec)
		s.silence("node-a", -forever, forever)
		for w := 500 * ms; w < s.end; w += 10 * sec {
			h, l := "node-a", &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: "node-a"}}
			now := metav1.NewMicroTime(s.w.Time(w - 120*sec))
			l.Spec.HolderIdentity, l.Spec.RenewTime = &h, &now
			s.w.Put(w, l)
		}
		s.update()
		s.setAt(at(100 * ms))
		for i := range 2 {
			p := s.newPod(at(200*ms + time.Duration(i)*2*sec))
			s.bind(p, at(250*ms+time.Duration(i)*2*sec))
			when := at(1200*ms + time.Duration(i)*2*sec)
			// The kubelet's stamps are of its own clock.
			local := metav1.NewTime(s.w.Time(when - 120*sec))
			p.Status.StartTime = &local
			s.condition(p, corev1.ContainersReady, corev1.ConditionTrue, "", "", when-120*sec)
			s.condition(p, corev1.PodReady, corev1.ConditionTrue, "", "", when-120*sec)
			st := runningStatus("main", true, 0, nil)
			st.State.Running.StartedAt = local
			s.containers(p, when, st)
			s.serve(p, when+100*ms)
		}
		s.d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 2, ReadyReplicas: 3, AvailableReplicas: 3}
		s.put(at(4*sec), s.d)
		s.marker(at(4500 * ms))
		s.completeStatus(at(5*sec), 2)
	}, post: compactAtMarker(), want: undecided, noStalls: true, skewed: true},

	// ---- audit ----
	{name: "conflict that was not retried, leader's disk slow", make: func(s *scene) {
		leaderSlow(s, at(-30*sec), at(30*sec), 9*sec)
		r := patch(409, `Operation cannot be fulfilled on deployments.apps "cart": the object has been modified; please apply your changes to the latest version and try again`)
		r.Verb = "update"
		s.w.Audit(updateAt, r)
	}, stage: stageUpdate, want: []string{"", "conflicting-writers", "stale-reader"}},
	{name: "504 of a slow admission, leader's disk slow but no pause in the store", make: func(s *scene) {
		leaderSlow(s, at(-30*sec), at(40*sec), 9*sec)
		r := patch(504, "Timeout: request did not complete within requested timeout - context deadline exceeded")
		r.Took = 10 * sec
		s.w.Audit(updateAt, r)
	}, stage: stageUpdate, want: undecided},
	{name: "429 of priority and fairness, leader's disk slow", make: func(s *scene) {
		leaderSlow(s, at(-30*sec), at(40*sec), 9*sec)
		s.w.Audit(updateAt, patch(429, "Too many requests, please try again later."))
	}, stage: stageUpdate, want: []string{"", "apiserver-overload"}},
	{name: "refused by a webhook, then the same client only annotates", make: func(s *scene) {
		s.w.Audit(updateAt, patch(403, `admission webhook "sign.acme.io" denied the request: image is not signed`))
		s.d.Annotations = map[string]string{"kubernetes.io/change-cause": "try 2"}
		s.put(at(30*sec), s.d)
		ok := patch(200, "")
		ok.ID = "a-2"
		s.w.Audit(at(30*sec-5*ms), ok)
	}, rollout: "deployment/shop/cart@a-1", stage: stageUpdate, want: []string{"admission-webhook"}, outcome: Refused},
	{name: "forbidden, allowed and repeated by the same client seven minutes later", make: func(s *scene) {
		s.end = at(500 * sec)
		s.w.Audit(updateAt-10*sec, patch(403, `deployments.apps "cart" is forbidden: User "bot" cannot patch resource "deployments" in API group "apps" in the namespace "shop"`))
		s.d.Spec.Template.Spec.Containers[0].Image = "reg.example/cart:2"
		s.d.Generation = 2
		s.put(at(420*sec), s.d)
		r := patch(200, "")
		r.ID = "a-2"
		r.Agent = "ci/1.0"
		s.w.Audit(at(420*sec)-5*ms, r)
		s.setAt(at(420*sec + 100*ms))
		s.converge(at(421 * sec))
	}, rollout: "deployment/shop/cart@a-1", stage: 0, want: []string{"forbidden"}, outcome: Superseded},
	{name: "forbidden for the bot, then the admin makes the same update", make: func(s *scene) {
		s.w.Audit(updateAt-10*sec, patch(403, `deployments.apps "cart" is forbidden: User "bot" cannot patch resource "deployments" in API group "apps" in the namespace "shop"`))
		s.d.Spec.Template.Spec.Containers[0].Image = "reg.example/cart:2"
		s.d.Generation = 2
		s.put(updateAt, s.d)
		r := patch(200, "")
		r.ID, r.User, r.Agent = "a-2", "admin", "kubectl/v1.34"
		s.w.Audit(updateAt-5*ms, r)
		s.setAt(at(100 * ms))
		s.converge(at(sec))
	}, rollout: "deployment/shop/cart@a-1", stage: 0, want: []string{"forbidden"}, outcome: Superseded},
	{name: "conflicts that a retry made good", make: func(s *scene) {
		r := patch(409, `Operation cannot be fulfilled on deployments.apps "cart": the object has been modified`)
		s.w.Audit(updateAt-500*ms, r)
		s.update()
		s.setAt(at(100 * ms))
		s.converge(at(sec))
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "evictions answered 429 by a disruption budget", make: func(s *scene) {
		s.update()
		for i := range 10 {
			s.w.Audit(at(time.Duration(i)*sec), world.Request{ID: fmt.Sprintf("e-%d", i), Verb: "create", Resource: "pods", Subresource: "eviction", Namespace: "shop", Name: "cart-old-0",
				User: "drainer", Agent: "kubectl/v1.34", URI: "/api/v1/namespaces/shop/pods/cart-old-0/eviction", Code: 429, Message: "Cannot evict pod as it would violate the pod's disruption budget."})
		}
		s.setAt(at(100 * ms))
		s.converge(at(sec))
	}, want: undecided, outcome: Complete, noStalls: true},
	{name: "patch answered 500 that did not land, retried with success", make: func(s *scene) {
		s.w.Audit(updateAt-10*sec, patch(500, "etcdserver: leader changed"))
		s.update()
		s.setAt(at(100 * ms))
		s.converge(at(sec))
	}, want: undecided, outcome: Complete, free: true},
	{name: "webhook of other objects fails, healthy rollout", make: func(s *scene) {
		s.update()
		s.w.Audit(at(sec), world.Request{ID: "c-1", Verb: "create", Resource: "configmaps", Namespace: "shop", Name: "x", User: "bot", Agent: "ci/1.0",
			URI: "/api/v1/namespaces/shop/configmaps", Code: 500, Message: `Internal error occurred: failed calling webhook "w.acme.io": connection refused`})
		s.setAt(at(100 * ms))
		s.converge(at(sec))
	}, want: undecided, outcome: Complete, noStalls: true},
}

// update0 is update at another moment, without its audit line.
func (s *scene) update0(when time.Duration) {
	s.d.Spec.Template.Spec.Containers[0].Image = "reg.example/cart:2"
	s.d.Generation = 2
	s.put(when, s.d)
}

// setAt is newSet with the creation stamp that an API server gives.
func (s *scene) setAt(when time.Duration) { s.newSetN(when, "cart-new") }

// newSetN is setAt under another name, for later templates.
func (s *scene) newSetN(when time.Duration, name string) {
	s.set = s.replicaSet(name, "rs-"+name, when)
	s.set.CreationTimestamp = metav1.NewTime(s.w.Time(when))
	s.put(when, s.set)
	s.d.Status.ObservedGeneration, s.d.Status.UpdatedReplicas = s.d.Generation, 0
	s.put(when, s.d)
}

// third makes a third template that goes through.
func third(s *scene, when time.Duration) {
	s.d.Spec.Template.Spec.Containers[0].Image = "reg.example/cart:3"
	s.d.Generation = 3
	s.put(when, s.d)
	failed := s.pod
	s.newSetN(when+100*ms, "cart-3")
	s.upPod(when + 200*ms)
	s.upPod(when + 2*sec)
	s.w.Delete(when+3500*ms, failed)
	s.completeStatus(when+4*sec, 2)
}

// sliceOf stores a Service's EndpointSlice with ready pods.
func (s *scene) sliceOf(when time.Duration, svc string, pods ...*corev1.Pod) {
	sl := &discoveryv1.EndpointSlice{ObjectMeta: s.meta(svc+"-s", svc+"-s-uid", when)}
	sl.Labels = map[string]string{discoveryv1.LabelServiceName: svc}
	yes := true
	for _, p := range pods {
		sl.Endpoints = append(sl.Endpoints, discoveryv1.Endpoint{TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: p.Name, UID: p.UID}, Conditions: discoveryv1.EndpointConditions{Ready: &yes}})
	}
	s.put(when, sl)
}

// isolated writes the log of a follower that was cut off while the others elected
// another leader and wrote on; theirs are not given.
func isolated(s *scene, from, to time.Duration) {
	ids := world.MemberIDs
	s.w.EtcdStart(0, "etcd-1", ids[0])
	s.w.Etcd(10*ms, "etcd-1", "info", fmt.Sprintf("raft.node: %s elected leader %s at term 2", ids[0], ids[2]))
	s.w.Etcd(from, "etcd-1", "info", fmt.Sprintf("raft.node: %s lost leader %s at term 2", ids[0], ids[2]))
	for t := from + 500*ms; t < to; t += 1800 * ms {
		s.w.Etcd(t, "etcd-1", "info", ids[0]+" is starting a new election at term 2")
	}
	s.w.Etcd(to, "etcd-1", "info", fmt.Sprintf("raft.node: %s elected leader %s at term 3", ids[0], ids[1]))
}

// nospaceStore stops every put at the update; deletions (expiring Events, and one
// that an admin asks for now and then) pass.
func nospaceStore(s *scene) {
	p := &corev1.Pod{ObjectMeta: s.meta("cart-old-0", "x", 0)}
	var names []string
	for i := range 40 {
		s.event(time.Duration(10+i)*sec, p, "Pulled", "x")
		names = append(names, fmt.Sprintf("%s.%016x", p.Name, s.w.Time(time.Duration(10+i)*sec).UnixNano()))
	}
	s.update()
	s.silenceAll(at(50*ms), forever)
	for i, n := range names {
		when := at(time.Duration(3+3*i) * sec)
		s.w.Delete(when, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: n}})
		s.w.Audit(when-5*ms, world.Request{ID: "del-" + n, Verb: "delete", Resource: "events", Namespace: "shop", Name: n, User: "admin", Agent: "kubectl/v1.34", URI: "/api/v1/namespaces/shop/events/" + n, Code: 200})
	}
}

// addAlarm puts a NOSPACE alarm of etcd-1 into the saved store.
func addAlarm(t *testing.T, _ *scene, dir string) {
	db, err := bolt.Open(filepath.Join(dir, "state.db"), 0o644, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	// etcdserverpb.AlarmMember{memberID: 0x1111111111111111, alarm: NOSPACE}
	k := binary.AppendUvarint([]byte{0x08}, 0x1111111111111111)
	k = append(k, 0x10, 0x01)
	if err := db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("alarm")).Put(k, nil) }); err != nil {
		t.Fatal(err)
	}
}
