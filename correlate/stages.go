package correlate

import (
	"fmt"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Stage numbers of contract.md 1.
const (
	stageBuild = 1 + iota
	stagePublish
	stageUpdate
	stageReplicaSet
	stageSchedule
	stagePrepare
	stageStart
	stageServe
	stageConverge
)

// StageName is the stable name of a stage: "replicaset" for 4; "" for a number that
// is no stage.
func StageName(stage int) string {
	if stage < stageBuild || stage > stageConverge {
		return ""
	}
	return stageNames[stage]
}

// stageNames are the names by number; the first is unused.
var stageNames = [10]string{"", "build", "publish", "update", "replicaset", "schedule", "prepare", "start", "serve", "converge"}

// buildStages fills the nine stages of a rollout from its marks, before stalls are
// known.
func (a *attempt) buildStages() {
	desired := a.desired()
	for n := stageBuild; n <= stageConverge; n++ {
		a.stages[n] = Stage{Number: n, Name: stageNames[n], State: StageNotReached, Desired: desired, Evidence: []string{}}
	}
	a.stages[stageBuild].State, a.stages[stagePublish].State = StageNoEvidence, StageNoEvidence
	a.stages[stageBuild].Note = "no CI data: builds leave no write in etcd"
	a.stages[stagePublish].Note = "no registry data: a missing tag shows in stage 6"
	a.updateStage()
	for n := stageReplicaSet; n <= stageServe; n++ {
		a.podStage(n)
	}
	a.convergeStage()
	if len(a.expects) == 0 {
		a.stages[stageServe].Note = "no Service selects these pods: the stage ends with Ready=True"
	}
}

// updateStage is stage 3: from the request, or the write, to the stored revision.
func (a *attempt) updateStage() {
	s := &a.stages[stageUpdate]
	if a.untold {
		s.State, s.Note = StageNoEvidence, "the trigger was compacted away"
		return
	}
	t := a.trigger()
	at := a.c.clock.Time(t.rev)
	s.Start, s.Reached, s.End = timePtr(at), timePtr(at), timePtr(at)
	if a.request != nil {
		s.Start = timePtr(a.request.Received)
	}
	s.FirstRevision, s.LastRevision = &t.rev, &t.rev
	s.State, s.Through, s.Desired = StageReached, 1, 1
}

// podStage fills one of the stages that pods pass through.
func (a *attempt) podStage(n int) {
	s := &a.stages[n]
	if n == stageReplicaSet {
		s.Start = a.stages[stageUpdate].Reached
	}
	var through []mark
	for _, p := range a.pods {
		if n > stageReplicaSet {
			if in := p.entered(n); in.ok && (s.Start == nil || in.at.Before(*s.Start)) {
				s.Start = timePtr(in.at)
			}
		}
		if m := p.through(n); m.ok && (a.next == nil || !m.at.After(a.end)) {
			through = append(through, m)
		}
	}
	sort.SliceStable(through, func(i, j int) bool { return through[i].at.Before(through[j].at) })
	s.Through = len(through)
	if len(through) == 0 {
		return
	}
	s.State = StageReached
	s.Reached, s.FirstRevision = timePtr(through[0].at), revPtr(through[0].rev)
	if d := s.Desired; d > 0 && len(through) >= d {
		s.End, s.LastRevision = timePtr(through[d-1].at), revPtr(through[d-1].rev)
	}
}

// convergeStage is stage 9. It begins when the first pod serves.
func (a *attempt) convergeStage() {
	s := &a.stages[stageConverge]
	s.Start = a.stages[stageServe].Reached
	if now := a.current().obj; now.Status.ObservedGeneration >= a.trigger().obj.Generation {
		// A status of an older generation counts pods of an older template.
		s.Through = int(min(now.Status.AvailableReplicas, now.Status.UpdatedReplicas))
	}
	if m := a.c.completeMark(a); m.ok {
		s.State = StageReached
		s.Reached, s.End = timePtr(m.at), timePtr(m.at)
		s.FirstRevision, s.LastRevision = revPtr(m.rev), revPtr(m.rev)
		if s.Start == nil || s.Start.After(m.at) {
			s.Start = a.stages[stageUpdate].Reached
		}
	}
}

func revPtr(rev int64) *int64 {
	if rev == 0 {
		return nil
	}
	return &rev
}

// citeStages gives each stage its evidence: the write that shows it reached.
func (a *attempt) citeStages(b *book) {
	if !a.untold {
		t := a.trigger()
		cites := []*cite{revCite(t.idx, "Deployment %s/%s generation %d: %s", a.namespace(), a.name(), t.obj.Generation, a.change())}
		if a.request != nil {
			cites = append(cites, auditCite(a.request))
		}
		a.stages[stageUpdate].Evidence = b.add(cites)
	}
	for n := stageReplicaSet; n <= stageServe; n++ {
		if first := a.firstThrough(n); first != nil {
			a.stages[n].Evidence = b.add([]*cite{a.passageCite(first, n)})
		}
	}
	if m := a.c.completeMark(a); m.ok {
		d := a.desired()
		a.stages[stageConverge].Evidence = b.add([]*cite{revCite(m.idx, "Deployment %s/%s complete: updated = available = replicas = %d, observedGeneration ≥ %d",
			a.namespace(), a.name(), d, a.trigger().obj.Generation)})
	}
}

// firstThrough is the pod that passed a stage first, nil if none did.
func (a *attempt) firstThrough(n int) *passage {
	var first *passage
	for _, p := range a.pods {
		if m := p.through(n); m.ok && (a.next == nil || !m.at.After(a.end)) {
			if first == nil || m.at.Before(first.through(n).at) {
				first = p
			}
		}
	}
	return first
}

// passageCite cites the write that took a pod through a stage.
func (a *attempt) passageCite(p *passage, n int) *cite {
	m := p.through(n)
	name := p.pod.meta().GetNamespace() + "/" + p.pod.meta().GetName()
	switch n {
	case stageReplicaSet:
		return revCite(p.created.idx, "Pod %s created", name)
	case stageSchedule:
		return revCite(m.idx, "Pod %s: spec.nodeName set", name)
	case stagePrepare:
		return revCite(m.idx, "Pod %s: image present (%s)", name, podState(a.podAt(p, m.idx)))
	case stageStart:
		return revCite(m.idx, "Pod %s: ContainersReady=True", name)
	}
	if r, ok := a.c.hist.Resource(a.c.hist.At(m.idx).Key); ok && r.Resource == "endpointslices" {
		return revCite(m.idx, "EndpointSlice %s/%s has pod %s ready", r.Namespace, r.Name, p.pod.meta().GetName())
	}
	return revCite(m.idx, "Pod %s: Ready=True", name)
}

// podAt is the pod as stored at an index, its newest version if that is another key.
func (a *attempt) podAt(p *passage, idx int) *corev1.Pod {
	for _, v := range p.pod.versions {
		if v.idx == idx {
			return v.obj
		}
	}
	return p.pod.last().obj
}

// podState says in a few words where a pod's containers stand.
func podState(p *corev1.Pod) string {
	for _, s := range append(append([]corev1.ContainerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...) {
		switch {
		case s.State.Waiting != nil:
			return waitingText(&s)
		case s.State.Terminated != nil:
			t := s.State.Terminated
			return fmt.Sprintf("container %s terminated: %s, exit code %d", s.Name, t.Reason, t.ExitCode)
		case s.State.Running != nil && !s.Ready:
			return fmt.Sprintf("container %s running, not ready", s.Name)
		}
	}
	if len(p.Status.ContainerStatuses) > 0 {
		return "containers running"
	}
	if k := condition(p, corev1.PodScheduled); k != nil && k.Status == corev1.ConditionFalse {
		return fmt.Sprintf("PodScheduled=False %s: %s", k.Reason, k.Message)
	}
	if p.Spec.NodeName == "" {
		return "no node, no PodScheduled condition"
	}
	return "bound to " + p.Spec.NodeName + ", no container status"
}

func waitingText(s *corev1.ContainerStatus) string {
	out := fmt.Sprintf("container %s waiting: %s", s.Name, s.State.Waiting.Reason)
	if s.RestartCount > 0 {
		out += ", " + count(int(s.RestartCount), "restart")
	}
	if t := s.LastTerminationState.Terminated; t != nil {
		out += fmt.Sprintf(", last terminated: %s, exit code %d", t.Reason, t.ExitCode)
	}
	if m := s.State.Waiting.Message; m != "" {
		out += ": " + m
	}
	return out
}

// latest returns the later of two times.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
