package correlate

import (
	"fmt"
	"sort"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// A stall is a wait in one stage that outlasted the stage's budget.
type stall struct {
	stage    int
	from, to time.Time
	// open is true when the wait had not ended when the evidence did.
	open bool
	// waits are the pods that waited, the longest first; empty in stages 3, 4 and 9.
	waits  []*wait
	object string

	verdict ruling
}

// wait is one pod's time in one stage.
type wait struct {
	p        *passage
	stage    int
	from, to time.Time
	open     bool
	// sure is how long it certainly lasted.
	sure time.Duration
}

func (w *wait) length() time.Duration  { return w.to.Sub(w.from) }
func (s *stall) length() time.Duration { return s.to.Sub(s.from) }

// Budgets of incidents.md R-ON2.
const (
	updateBudget     = 10 * time.Second // a write that was stored this long after its request, or answered with an error
	replicaSetBudget = 5 * time.Second
	scheduleBudget   = 5 * time.Second
	// failureBudget is that of a stage whose component states a failure: waiting
	// longer is no longer a matter of patience.
	failureBudget  = 10 * time.Second
	firstStatus    = 10 * time.Second // for the kubelet's first write of a bound pod
	pullBudget     = 60 * time.Second
	startBudget    = 30 * time.Second
	serveBudget    = 5 * time.Second
	convergeBudget = 10 * time.Second
)

// findStalls finds every stall of a rollout, in order of stage and time. A wait
// counts only if it outlasted its budget by the bounds of the revision clock, not
// just by its estimates: where the clock is coarse, nothing is claimed.
func (a *attempt) findStalls() {
	a.updateStall()
	a.replicaSetStall()
	for n := stageSchedule; n <= stageServe; n++ {
		a.podStalls(n)
	}
	a.convergeStall()
	sort.SliceStable(a.stalls, func(i, j int) bool {
		x, y := a.stalls[i], a.stalls[j]
		if x.stage != y.stage {
			return x.stage < y.stage
		}
		return x.from.Before(y.from)
	})
}

// updateStall: the update landed, but late, or after its client was told it failed.
func (a *attempt) updateStall() {
	if a.untold || a.request == nil {
		return
	}
	from, to := a.request.Received, a.c.clock.Time(a.trigger().rev)
	trigger := a.c.markOf(a.trigger().rev, a.trigger().idx)
	if sure := trigger.lo.Sub(from); sure < updateBudget && !(a.refused && sure > 2*time.Second) {
		return
	}
	a.stalls = append(a.stalls, &stall{stage: stageUpdate, from: from, to: to, object: "Deployment " + a.namespace() + "/" + a.name()})
}

// replicaSetStall: from the stored template to the first pod of it.
func (a *attempt) replicaSetStall() {
	if a.desired() == 0 || a.untold {
		return
	}
	trigger := a.c.markOf(a.trigger().rev, a.trigger().idx)
	trigger = a.afterOld(trigger)
	until := a.end
	s := &stall{stage: stageReplicaSet, from: trigger.at, to: a.end, open: true, object: "Deployment " + a.namespace() + "/" + a.name()}
	if len(a.pods) > 0 {
		first := a.pods[0].created
		for _, p := range a.pods {
			if p.created.at.Before(first.at) {
				first = p.created
			}
		}
		s.to, s.open, until = first.at, false, first.lo
	} else if a.stages[stageConverge].State == StageReached {
		return
	}
	if surely(trigger, until) > replicaSetBudget {
		a.closeAtEnd(s)
		a.stalls = append(a.stalls, s)
	}
}

// afterOld moves the moment from which a new pod is due: the Recreate strategy
// waits for the last old pod to be gone (incidents.md N-15).
func (a *attempt) afterOld(m mark) mark {
	if a.current().obj.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		return m
	}
	for _, set := range a.c.objs.sets[a.life.meta().GetUID()] {
		if set == a.set {
			continue
		}
		for _, p := range a.c.objs.pods[set.meta().GetUID()] {
			gone := mark{ok: true, at: a.end, lo: a.end, hi: a.end}
			if p.deleted >= 0 {
				gone = a.c.markOf(p.deletedRev, p.deleted)
			}
			if p.first().rev < a.trigger().rev && gone.at.After(m.at) && !gone.at.After(a.end) {
				m = gone
			}
		}
	}
	return m
}

// closeAtEnd closes a stall that the rollout's own end cut off: what was
// superseded or deleted is no longer waiting.
func (a *attempt) closeAtEnd(s *stall) {
	if s.open && (a.next != nil || a.life.deleted >= 0) {
		s.open = false
	}
}

// podStalls groups the pods that waited too long in a stage: waits that overlap
// are one stall.
func (a *attempt) podStalls(n int) {
	var waits []*wait
	for _, p := range a.pods {
		if w := a.waitOf(p, n); w != nil && w.sure > a.budget(w) {
			waits = append(waits, w)
		}
	}
	sort.SliceStable(waits, func(i, j int) bool { return waits[i].from.Before(waits[j].from) })
	var cur *stall
	for _, w := range waits {
		if cur == nil || w.from.After(cur.to) {
			cur = &stall{stage: n, from: w.from, to: w.to, open: w.open}
			a.stalls = append(a.stalls, cur)
		}
		cur.waits = append(cur.waits, w)
		cur.to = latest(cur.to, w.to)
		cur.open = cur.open || w.open
	}
	for _, s := range a.stalls {
		if s.stage != n {
			continue
		}
		sort.SliceStable(s.waits, func(i, j int) bool { return s.waits[i].length() > s.waits[j].length() })
		s.object = podsText(s.waits)
		a.closeAtEnd(s)
	}
}

// podsText names the pod that waited longest and how many did.
func podsText(waits []*wait) string {
	m := waits[0].p.pod.meta()
	out := fmt.Sprintf("Pod %s/%s", m.GetNamespace(), m.GetName())
	if len(waits) > 1 {
		out += fmt.Sprintf(" and %d more", len(waits)-1)
	}
	return out
}

// waitOf is a pod's time in a stage, nil if it never entered it.
func (a *attempt) waitOf(p *passage, n int) *wait {
	in, out := p.entered(n), p.through(n)
	if !in.ok || in.at.After(a.end) {
		return nil
	}
	w := &wait{p: p, stage: n, from: in.at, to: a.end}
	until := a.end
	switch {
	case out.ok && !out.at.After(a.end):
		w.to, until = out.at, out.lo
	case p.gone.ok && !p.gone.at.After(a.end):
		w.to, until = p.gone.at, p.gone.lo
		if p.gone.at.Before(in.at) {
			return nil // it was on its way out before
		}
	default:
		w.open = true
	}
	w.sure = surely(in, until)
	return w
}

// budget is how long a wait may be before it is a stall.
func (a *attempt) budget(w *wait) time.Duration {
	switch w.stage {
	case stageSchedule:
		return scheduleBudget
	case stagePrepare:
		return prepareBudget(w)
	case stageStart:
		return startingBudget(w)
	}
	return serveBudget
}

// prepareBudget is that of stage 6: short for a pod that no kubelet has touched or
// whose failure is stated, the pull's otherwise.
func prepareBudget(w *wait) time.Duration {
	last := w.p.pod.last().obj
	for _, v := range w.p.pod.versions {
		if v.rev > w.p.images.rev && w.p.images.ok {
			break
		}
		last = v.obj
	}
	if last.Status.StartTime == nil {
		return firstStatus
	}
	for _, s := range append(append([]corev1.ContainerStatus{}, last.Status.InitContainerStatuses...), last.Status.ContainerStatuses...) {
		if s.State.Waiting != nil && pullFailure[s.State.Waiting.Reason] {
			return failureBudget
		}
	}
	return pullBudget
}

// pullFailure are the waiting reasons that state a failed pull.
var pullFailure = map[string]bool{
	"ErrImagePull": true, "ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"RegistryUnavailable": true, "ImageInspectError": true, "SignatureValidationFailed": true,
}

// startingBudget is that of stage 7: what the probes of the pod allow, at least
// startBudget; short once a container has failed.
func startingBudget(w *wait) time.Duration {
	p := w.p.pod.last().obj
	for _, s := range p.Status.ContainerStatuses {
		failing := s.State.Waiting != nil && s.State.Waiting.Reason != "ContainerCreating" && s.State.Waiting.Reason != "PodInitializing"
		if (failing || s.RestartCount > 0) && w.open {
			return failureBudget
		}
	}
	budget := startBudget
	for _, k := range p.Spec.Containers {
		probe := k.StartupProbe
		if probe == nil {
			probe = k.ReadinessProbe
		}
		if probe == nil {
			continue
		}
		d := time.Duration(probe.InitialDelaySeconds+max(probe.FailureThreshold, 1)*max(probe.PeriodSeconds, 1)) * time.Second
		budget = max(budget, d)
	}
	return budget
}

// convergeStall: every pod that exists has passed, yet the counts stand still
// short of complete.
func (a *attempt) convergeStall() {
	if a.desired() == 0 || len(a.pods) == 0 {
		return
	}
	from := a.c.countsMark(a)
	for _, p := range a.pods {
		if p.gone.ok && !p.gone.at.After(a.end) {
			continue
		}
		if !p.served.ok || p.served.at.After(a.end) {
			return // an earlier stage waits, and is judged there
		}
		if p.served.at.After(from.at) {
			from = p.served
		}
	}
	until := a.end
	s := &stall{stage: stageConverge, from: from.at, to: a.end, open: true, object: "Deployment " + a.namespace() + "/" + a.name()}
	if m := a.c.completeMark(a); m.ok {
		if !m.at.After(from.at) {
			return
		}
		s.to, s.open, until = m.at, false, m.lo
	}
	budget := convergeBudget + time.Duration(a.current().obj.Spec.MinReadySeconds)*time.Second
	if surely(from, until) > budget {
		a.closeAtEnd(s)
		a.stalls = append(a.stalls, s)
	}
}
