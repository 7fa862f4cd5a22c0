package correlate

import (
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"

	appsv1 "k8s.io/api/apps/v1"
)

// A mark is the moment something became true, by the stored write that shows it.
type mark struct {
	ok bool
	at time.Time
	// lo and hi bound the moment; hi is zero where nothing does.
	lo, hi time.Time
	// rev is the revision that shows it, 0 when only a stamp in a later one does.
	rev int64
	idx int
}

// markOf is the mark of a stored write.
func (c *Case) markOf(rev int64, idx int) mark {
	t, lo, hi := c.clock.At(rev)
	return mark{ok: true, at: t, lo: lo, hi: hi, rev: rev, idx: idx}
}

// stampMark is the mark of something of which only a stamp is left.
func stampMark(t time.Time, idx int) mark {
	return mark{ok: true, at: t, lo: t, hi: t.Add(time.Second), idx: idx}
}

// surely is how long it certainly was from one mark to another moment: the bounds
// of both may leave less than their estimates say.
func surely(from mark, to time.Time) time.Duration {
	if from.hi.IsZero() {
		return to.Sub(from.at)
	}
	return to.Sub(from.hi)
}

// A passage is a pod on its way through stages 4 to 8.
type passage struct {
	pod                                     *life[*corev1.Pod]
	created, bound, images, started, served mark
	// awaits is when a pod may be expected in its Services: its containers are ready
	// and they exist.
	awaits mark
	// gone is when the pod was deleted, asked to be, or had failed for good.
	gone mark
}

// entered and through are a pod's marks around a stage.
func (p *passage) entered(stage int) mark {
	return [...]mark{5: p.created, 6: p.bound, 7: p.images, 8: p.awaits}[stage]
}

func (p *passage) through(stage int) mark {
	return [...]mark{4: p.created, 5: p.bound, 6: p.images, 7: p.started, 8: p.served}[stage]
}

// passages follows the pods that a rollout's ReplicaSet brought up for it: until it
// was complete. A set that is older than
// the rollout (a rollback) brings only the pods that were created for it.
func (c *Case) passages(a *attempt, w *objects) []*passage {
	if a.set == nil {
		return nil
	}
	done := c.completeMark(a)
	var out []*passage
	for _, pod := range w.pods[a.set.meta().GetUID()] {
		p := c.follow(a, pod)
		if !a.untold && p.created.rev != 0 && p.created.rev < a.trigger().rev {
			continue
		}
		if a.next != nil && p.created.rev > a.next.rev {
			continue
		}
		if done.ok && p.created.rev > done.rev {
			continue // a replacement or a later scale-up: the rollout was over
		}
		out = append(out, p)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].created.rev < out[j].created.rev })
	return out
}

// follow finds when a pod passed each stage.
func (c *Case) follow(a *attempt, pod *life[*corev1.Pod]) *passage {
	p := &passage{pod: pod}
	first := pod.first()
	create := c.hist.At(first.idx).Create
	p.created = c.markOf(create, first.idx)
	if !c.clock.Has(create) {
		p.created = stampMark(first.obj.CreationTimestamp.UTC(), first.idx)
		p.created.rev = create
	}
	p.bound = c.firstVersion(pod, isBound, stampOf(corev1.PodScheduled))
	p.images = c.firstVersion(pod, imagesPresent, imagesStamp)
	p.started = c.firstVersion(pod, isTrue(corev1.ContainersReady), stampOf(corev1.ContainersReady))
	ready := c.firstVersion(pod, isTrue(corev1.PodReady), stampOf(corev1.PodReady))
	p.served = c.servedMark(a, pod, ready)
	p.awaits = p.started
	for _, e := range a.expects {
		// A Service that came later is owed nothing before it was there.
		known := !e.svc.cut || e.since.rev != e.svc.first().rev
		if known && p.awaits.ok && e.since.rev > p.awaits.rev {
			if m := c.markOf(e.since.rev, e.since.idx); m.at.After(p.awaits.at) {
				p.awaits = m
			}
		}
	}
	p.gone = c.firstVersion(pod, isRetired, nil)
	if pod.deleted >= 0 && !p.gone.ok {
		p.gone = c.markOf(pod.deletedRev, pod.deleted)
	}
	// A later stage shows the earlier one, where the history of that was lost.
	p.images = orEarlier(p.images, p.started, pod.cut)
	p.bound = orEarlier(p.bound, p.images, pod.cut)
	return p
}

// orEarlier fills a mark that compaction took with the next one.
func orEarlier(m, next mark, cut bool) mark {
	if !m.ok && next.ok && cut {
		return next
	}
	return m
}

// firstVersion finds the first stored version of which is holds. If that is the
// first version left of a pod whose beginning was compacted away, the condition's
// own stamp tells the time.
func (c *Case) firstVersion(pod *life[*corev1.Pod], is func(*corev1.Pod) bool, stamp func(*corev1.Pod) time.Time) mark {
	for k, v := range pod.versions {
		if !is(v.obj) {
			continue
		}
		m := c.markOf(v.rev, v.idx)
		if k > 0 || !pod.cut {
			return m
		}
		// It may have been so long before.
		m.lo = v.obj.CreationTimestamp.UTC()
		if stamp != nil && !c.skewedHost(v.obj.Spec.NodeName) {
			if t := stamp(v.obj); !t.IsZero() {
				return stampMark(t, v.idx)
			}
		}
		return m
	}
	return mark{}
}

// skewedHost says whether a host's clock is known to be off.
func (c *Case) skewedHost(host string) bool {
	for _, s := range c.clock.Skewed() {
		if s.Writer == host {
			return true
		}
	}
	return false
}

// isRetired says whether a pod is on its way out: nothing is due of it any more.
func isRetired(p *corev1.Pod) bool {
	return p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodFailed
}

func isBound(p *corev1.Pod) bool { return p.Spec.NodeName != "" }

// isTrue tests a condition of a pod.
func isTrue(t corev1.PodConditionType) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		k := condition(p, t)
		return k != nil && k.Status == corev1.ConditionTrue
	}
}

// stampOf reads a true condition's lastTransitionTime.
func stampOf(t corev1.PodConditionType) func(*corev1.Pod) time.Time {
	return func(p *corev1.Pod) time.Time {
		if k := condition(p, t); k != nil && k.Status == corev1.ConditionTrue {
			return k.LastTransitionTime.UTC()
		}
		return time.Time{}
	}
}

func condition(p *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == t {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// beforeImage are the waiting reasons of a container whose image is not there
// yet (pkg/kubelet/images/types.go and kubelet_pods.go).
var beforeImage = map[string]bool{
	"": true, "ContainerCreating": true, "PodInitializing": true, "ErrImagePull": true, "ImagePullBackOff": true,
	"InvalidImageName": true, "ErrImageNeverPull": true, "RegistryUnavailable": true, "ImageInspectError": true,
	"SignatureValidationFailed": true,
}

// imagesPresent says whether every container of a pod got as far as its image.
func imagesPresent(p *corev1.Pod) bool {
	if len(p.Status.ContainerStatuses) < len(p.Spec.Containers) || len(p.Spec.Containers) == 0 {
		return false
	}
	for _, s := range p.Status.ContainerStatuses {
		present := s.ImageID != "" || s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil ||
			s.State.Waiting != nil && !beforeImage[s.State.Waiting.Reason]
		if !present {
			return false
		}
	}
	return true
}

// imagesStamp is when a pod of which the first versions are lost had its images: at
// its first container's start if that has not been replaced by a later one, else
// when its sandbox was reported ready, which kubelets up to 1.35 do after the pull.
func imagesStamp(p *corev1.Pod) time.Time {
	var first time.Time
	for _, s := range p.Status.ContainerStatuses {
		if r := s.State.Running; r != nil && s.RestartCount == 0 && (first.IsZero() || r.StartedAt.Time.Before(first)) {
			first = r.StartedAt.UTC()
		}
	}
	if !first.IsZero() {
		return first
	}
	return stampOf(corev1.PodReadyToStartContainers)(p)
}

// completeMark is when the Deployment was complete for the first time.
func (c *Case) completeMark(a *attempt) mark {
	gen := a.trigger().obj.Generation
	for _, v := range a.life.versions[a.from:a.to] {
		if complete(v.obj, gen) {
			return c.markOf(v.rev, v.idx)
		}
	}
	return mark{}
}

// countsMark is the last write of the Deployment or its ReplicaSets that moved a
// count: the last progress of stage 9.
func (c *Case) countsMark(a *attempt) mark {
	last := c.markOf(a.trigger().rev, a.trigger().idx)
	var before *appsv1.DeploymentStatus
	for _, v := range a.life.versions[a.from:a.to] {
		s := v.obj.Status
		if before != nil && (s.Replicas != before.Replicas || s.UpdatedReplicas != before.UpdatedReplicas ||
			s.AvailableReplicas != before.AvailableReplicas || s.ReadyReplicas != before.ReadyReplicas) {
			last = c.markOf(v.rev, v.idx)
		}
		before = &v.obj.Status
	}
	return last
}
