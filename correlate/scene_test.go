package correlate

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"etcd-autopsy/fixtures/world"
)

// A scene is a made-up incident: a healthy Deployment shop/cart of two replicas
// that is updated at updateAt, with everything after that up to the test.
type scene struct {
	t *testing.T
	w *world.World
	d *appsv1.Deployment
	// old and set are the ReplicaSets before and after the update.
	old, set *appsv1.ReplicaSet
	pod      *corev1.Pod
	slice    *discoveryv1.EndpointSlice
	svc      *corev1.Service
	// lease times: when each writer stops and, if it does, starts again.
	quiet map[string][2]time.Duration
	end   time.Duration
}

const (
	updateAt = 60 * time.Second
	sec      = time.Second
	ms       = time.Millisecond
)

// newScene writes the healthy beginning.
func newScene(t *testing.T) *scene {
	s := &scene{t: t, w: world.New(), quiet: map[string][2]time.Duration{}, end: 180 * sec}
	two := int32(2)
	tpl := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "cart"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "reg.example/cart:1"}}},
	}
	s.d = &appsv1.Deployment{ObjectMeta: s.meta("cart", "d-uid", 0), Spec: appsv1.DeploymentSpec{Replicas: &two, Template: tpl}}
	s.d.Generation = 1
	s.put(500*ms, s.d)
	s.old = s.replicaSet("cart-old", "rs-old", 550*ms)
	s.put(550*ms, s.old)
	var pods []*corev1.Pod
	for i := range 2 {
		p := s.newPodOf(s.old, fmt.Sprintf("cart-old-%d", i), sec)
		s.put(sec, p)
		s.bind(p, 1100*ms)
		s.ready(p, 3*sec)
		pods = append(pods, p)
	}
	s.svc = &corev1.Service{ObjectMeta: s.meta("cart", "svc-uid", 0), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "cart"}}}
	s.put(400*ms, s.svc)
	s.slice = &discoveryv1.EndpointSlice{ObjectMeta: s.meta("cart-x1", "slice-uid", 0)}
	s.slice.Labels = map[string]string{discoveryv1.LabelServiceName: "cart"}
	for _, p := range pods {
		s.serve(p, 3100*ms)
	}
	s.d.Status = appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2}
	s.put(3200*ms, s.d)
	return s
}

// put stores an object the way an API server does: the time of the write, to the
// second, stands in the managed fields.
func (s *scene) put(at time.Duration, o world.Object) {
	now := metav1.NewTime(s.w.Time(at))
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "test", Operation: metav1.ManagedFieldsOperationUpdate, Time: &now}})
	s.w.Put(at, o)
}

func (s *scene) meta(name, uid string, at time.Duration) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(s.w.Time(at))}
}

func owned(m metav1.ObjectMeta, kind, name string, uid types.UID) metav1.ObjectMeta {
	yes := true
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: uid, Controller: &yes}}
	return m
}

func (s *scene) replicaSet(name, uid string, at time.Duration) *appsv1.ReplicaSet {
	tpl := *s.d.Spec.Template.DeepCopy()
	tpl.Labels["pod-template-hash"] = name
	return &appsv1.ReplicaSet{ObjectMeta: owned(s.meta(name, uid, at), "Deployment", s.d.Name, s.d.UID), Spec: appsv1.ReplicaSetSpec{Replicas: s.d.Spec.Replicas, Template: tpl}}
}

func (s *scene) newPodOf(set *appsv1.ReplicaSet, name string, at time.Duration) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: owned(s.meta(name, name+"-uid", at), "ReplicaSet", set.Name, set.UID), Spec: *set.Spec.Template.Spec.DeepCopy()}
	p.Labels = set.Spec.Template.Labels
	return p
}

// update stores the new template; the Deployment's status still speaks of the old.
func (s *scene) update() {
	s.d.Spec.Template.Spec.Containers[0].Image = "reg.example/cart:2"
	s.d.Generation = 2
	s.put(updateAt, s.d)
	s.w.Audit(updateAt-5*ms, world.Request{ID: "u-1", Verb: "patch", Resource: "deployments", Namespace: "shop", Name: "cart", User: "bot", Agent: "ci/1.0",
		URI: "/apis/apps/v1/namespaces/shop/deployments/cart", Code: 200})
}

// newSet lets the controller act: a ReplicaSet of the new template.
func (s *scene) newSet(at time.Duration) {
	s.set = s.replicaSet("cart-new", "rs-new", at)
	s.put(at, s.set)
	s.d.Status.ObservedGeneration, s.d.Status.UpdatedReplicas = 2, 0
	s.put(at, s.d)
}

// newPod lets it create a pod.
func (s *scene) newPod(at time.Duration) *corev1.Pod {
	s.pod = s.newPodOf(s.set, fmt.Sprintf("cart-new-%d", at/sec), at)
	s.put(at, s.pod)
	return s.pod
}

func (s *scene) condition(p *corev1.Pod, t corev1.PodConditionType, st corev1.ConditionStatus, reason, msg string, at time.Duration) {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == t {
			p.Status.Conditions = append(p.Status.Conditions[:i], p.Status.Conditions[i+1:]...)
			break
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t, Status: st, Reason: reason, Message: msg, LastTransitionTime: metav1.NewTime(s.w.Time(at))})
}

// bind lets the scheduler bind a pod to node-a, and the kubelet see it.
func (s *scene) bind(p *corev1.Pod, at time.Duration) {
	p.Spec.NodeName = "node-a"
	s.condition(p, corev1.PodScheduled, corev1.ConditionTrue, "", "", at)
	s.put(at, p)
}

// seen is the kubelet's first status write.
func (s *scene) seen(p *corev1.Pod, at time.Duration) {
	t := metav1.NewTime(s.w.Time(at))
	p.Status.StartTime = &t
	s.waiting(p, at, "ContainerCreating", "")
}

func (s *scene) waiting(p *corev1.Pod, at time.Duration, reason, msg string) {
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: msg}}}}
	s.put(at, p)
}

// ready lets a pod run and pass its probes.
func (s *scene) ready(p *corev1.Pod, at time.Duration) {
	t := metav1.NewTime(s.w.Time(at))
	p.Status.StartTime = &t
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Ready: true, ImageID: "sha256:1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: t}}}}
	s.condition(p, corev1.ContainersReady, corev1.ConditionTrue, "", "", at)
	s.condition(p, corev1.PodReady, corev1.ConditionTrue, "", "", at)
	s.put(at, p)
}

// serve puts a pod into the EndpointSlice.
func (s *scene) serve(p *corev1.Pod, at time.Duration) {
	yes := true
	s.slice.Endpoints = append(s.slice.Endpoints, discoveryv1.Endpoint{TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: p.Name, UID: p.UID}, Conditions: discoveryv1.EndpointConditions{Ready: &yes}})
	s.put(at, s.slice)
}

// converge carries the rollout to its end from a moment on.
func (s *scene) converge(at time.Duration) {
	for i := range 2 {
		p := s.pod
		if i > 0 || p == nil {
			p = s.newPod(at)
			s.bind(p, at+50*ms)
		}
		s.seen(p, at+100*ms)
		s.ready(p, at+sec)
		s.serve(p, at+1100*ms)
		at += 2 * sec
	}
	s.d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2}
	s.put(at, s.d)
}

// silence stops the renewals of a writer between two moments; to beyond the end
// means for good.
func (s *scene) silence(writer string, from, to time.Duration) {
	s.quiet[writer] = [2]time.Duration{from, to}
}

// silenceAll stops every writer.
func (s *scene) silenceAll(from, to time.Duration) {
	for _, w := range []string{"kube-controller-manager", "kube-scheduler", "node-a", "apiserver"} {
		s.silence(w, from, to)
	}
}

// renewals writes the Leases of all writers around their silences. A leader that
// was silent for longer than its Lease comes back under another identity.
func (s *scene) renewals() {
	for _, l := range []struct {
		writer, ns, name string
		every, phase     time.Duration
	}{
		{"kube-controller-manager", "kube-system", "kube-controller-manager", 2 * sec, 100 * ms},
		{"kube-scheduler", "kube-system", "kube-scheduler", 2 * sec, 900 * ms},
		{"node-a", "kube-node-lease", "node-a", 10 * sec, 1500 * ms},
	} {
		q, ok := s.quiet[l.writer]
		if !ok {
			s.w.Renew(l.ns, l.name, l.writer+"_1", l.phase, s.end, l.every)
			continue
		}
		s.w.Renew(l.ns, l.name, l.writer+"_1", l.phase, q[0], l.every)
		holder := l.writer + "_1"
		if q[1]-q[0] >= 15*sec && l.ns == "kube-system" {
			holder = l.writer + "_2"
		}
		s.w.Renew(l.ns, l.name, holder, q[1], s.end, l.every)
	}
}

// analyze writes the scene down, reads it back as the program does, and judges it.
func (s *scene) analyze() *Analysis {
	s.t.Helper()
	s.renewals()
	dir := s.t.TempDir()
	if err := s.w.Save(dir); err != nil {
		s.t.Fatal(err)
	}
	return analyzeDir(s.t, dir)
}

func analyzeDir(t *testing.T, inputs ...string) *Analysis {
	t.Helper()
	a, err := loadDir(t, inputs...).Analyze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// last is the newest rollout of an analysis.
func last(t *testing.T, a *Analysis) *Rollout {
	t.Helper()
	if len(a.Rollouts) == 0 {
		t.Fatal("no rollout found")
	}
	return &a.Rollouts[len(a.Rollouts)-1]
}
