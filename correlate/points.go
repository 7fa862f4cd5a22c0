package correlate

import (
	"fmt"
	"sort"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// maxPoints is how many writes of one rollout are listed; a picture shows no more.
const maxPoints = 2000

// points lists the stored writes of a rollout's objects in order of revision, each
// with what it changed.
func (c *Case) points(a *attempt, w *objects) []Point {
	var out []Point
	add := func(rev int64, kind, name, text string) {
		t, lo, hi := c.clock.At(rev)
		out = append(out, Point{Rollout: a.id(), Revision: rev, Time: timePtr(t), Earliest: timePtr(lo), Latest: timePtr(hi), Kind: kind, Name: name, Text: text})
	}
	for i := a.from; i < a.to; i++ {
		v := a.life.versions[i]
		text := "created"
		switch {
		case i == a.from && a.untold:
			text = "first version left of it: " + countsText(v.obj)
		case i == a.from:
			text = a.change()
		default:
			text = deploymentChange(a.life.versions[i-1].obj, v.obj)
		}
		add(v.rev, "Deployment", a.name(), text)
	}
	if a.life.deleted >= 0 && a.next == nil {
		add(a.life.deletedRev, "Deployment", a.name(), "deleted")
	}
	for _, set := range w.sets[a.life.meta().GetUID()] {
		setPoints(set, a, c, add)
	}
	for _, p := range a.pods {
		podPoints(p, a, c, add)
	}
	for _, e := range a.expects {
		slicePoints(e, a, c, w, add)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Revision < out[j].Revision })
	if len(out) > maxPoints {
		out = out[:maxPoints]
	}
	return out
}

type addPoint func(rev int64, kind, name, text string)

// within says whether a revision belongs to a rollout's time.
func (a *attempt) within(rev int64) bool {
	if rev < a.trigger().rev && !a.untold {
		return false
	}
	return a.next == nil || rev < a.next.rev
}

func countsText(d *appsv1.Deployment) string {
	s := d.Status
	return fmt.Sprintf("updated %d, ready %d, available %d of %d", s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.Replicas)
}

// deploymentChange says what a write of a Deployment changed.
func deploymentChange(old, now *appsv1.Deployment) string {
	a, b := old.Status, now.Status
	switch {
	case old.Generation != now.Generation:
		return fmt.Sprintf("spec changed, generation %d", now.Generation)
	case a.ObservedGeneration != b.ObservedGeneration:
		return fmt.Sprintf("observed generation %d; %s", b.ObservedGeneration, countsText(now))
	case a.Replicas != b.Replicas || a.UpdatedReplicas != b.UpdatedReplicas || a.ReadyReplicas != b.ReadyReplicas || a.AvailableReplicas != b.AvailableReplicas:
		return countsText(now)
	}
	for _, k := range b.Conditions {
		if k.Type == appsv1.DeploymentProgressing && k.Reason == "ProgressDeadlineExceeded" {
			return "Progressing=False, ProgressDeadlineExceeded"
		}
	}
	return "status conditions or metadata"
}

func setPoints(set *life[*appsv1.ReplicaSet], a *attempt, c *Case, add addPoint) {
	var before *appsv1.ReplicaSet
	for _, v := range set.versions {
		if !a.within(v.rev) {
			before = v.obj
			continue
		}
		text := ""
		switch {
		case before == nil && !set.cut:
			text = "created, " + count(int(value(v.obj.Spec.Replicas)), "replica")
		case before != nil && value(before.Spec.Replicas) != value(v.obj.Spec.Replicas):
			text = fmt.Sprintf("scaled %d → %d", value(before.Spec.Replicas), value(v.obj.Spec.Replicas))
		case before != nil:
			text = fmt.Sprintf("%s, %d ready", count(int(v.obj.Status.Replicas), "pod"), v.obj.Status.ReadyReplicas)
			for _, k := range v.obj.Status.Conditions {
				if k.Type == appsv1.ReplicaSetReplicaFailure && k.Status == corev1.ConditionTrue {
					text = "ReplicaFailure: " + cutText(k.Message)
				}
			}
		}
		before = v.obj
		if text != "" {
			add(v.rev, "ReplicaSet", v.obj.Name, text)
		}
	}
}

func value(p *int32) int32 {
	if p == nil {
		return 1
	}
	return *p
}

func podPoints(p *passage, a *attempt, c *Case, add addPoint) {
	var before *corev1.Pod
	for _, v := range p.pod.versions {
		if a.within(v.rev) {
			add(v.rev, "Pod", v.obj.Name, podChange(before, v.obj))
		}
		before = v.obj
	}
	if p.pod.deleted >= 0 && a.within(p.pod.deletedRev) {
		add(p.pod.deletedRev, "Pod", p.pod.meta().GetName(), "deleted")
	}
}

// podChange says what a write of a pod changed.
func podChange(old, now *corev1.Pod) string {
	switch {
	case old == nil && now.Spec.NodeName == "" && now.Status.StartTime == nil && condition(now, corev1.PodScheduled) == nil:
		return "created"
	case old != nil && old.Spec.NodeName == "" && now.Spec.NodeName != "":
		return "bound to " + now.Spec.NodeName
	case old != nil && old.DeletionTimestamp == nil && now.DeletionTimestamp != nil:
		return "deletion asked for"
	case isTrue(corev1.PodReady)(now) && (old == nil || !isTrue(corev1.PodReady)(old)):
		return "Ready=True"
	}
	return cutText(podState(now))
}

func slicePoints(e *expected, a *attempt, c *Case, w *objects, add addPoint) {
	for _, sl := range slicesOf(e.svc, w) {
		for _, v := range sl.versions {
			if !a.within(v.rev) {
				continue
			}
			ready := 0
			for _, ep := range v.obj.Endpoints {
				if ep.Conditions.Ready == nil || *ep.Conditions.Ready {
					ready++
				}
			}
			add(v.rev, "EndpointSlice", v.obj.Name, fmt.Sprintf("Service %s: %s, %d ready", e.svc.meta().GetName(), count(len(v.obj.Endpoints), "endpoint"), ready))
		}
	}
}
