package correlate

import (
	"sort"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// acts are the stored writes that only the writer behind a pulse makes: the status
// of workloads and EndpointSlices for the controller manager, bindings for the
// scheduler.
func (c *Case) acts(w *objects, p *pulse) []beat {
	var out []beat
	add := func(idx int, rev int64) { out = append(out, beat{idx: idx, rev: rev, at: c.clock.Time(rev)}) }
	switch p.kind {
	case "controller-down":
		for _, d := range w.deployments {
			managerActs(d, add)
		}
		for _, sets := range w.sets {
			for _, s := range sets {
				managerActs[*appsv1.ReplicaSet](s, add)
			}
		}
		for _, slices := range w.slices {
			for _, s := range slices {
				managerActs[*discoveryv1.EndpointSlice](s, add)
			}
		}
	case "scheduler-down":
		for _, pods := range w.pods {
			for _, pod := range pods {
				bindingActs(pod, add)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].idx < out[j].idx })
	return out
}

// managerActs adds the versions in which the controller manager's managed fields
// have a newer time than before.
func managerActs[T object](l *life[T], add func(int, int64)) {
	var last time.Time
	for _, v := range l.versions {
		for _, f := range v.obj.GetObjectMeta().GetManagedFields() {
			if f.Manager == "kube-controller-manager" && f.Time != nil && f.Time.After(last) {
				last = f.Time.Time
				add(v.idx, v.rev)
			}
		}
	}
}

// bindingActs adds the version in which the default scheduler bound a pod.
func bindingActs(l *life[*corev1.Pod], add func(int, int64)) {
	for i, v := range l.versions {
		if i > 0 && isBound(v.obj) && !isBound(l.versions[i-1].obj) && byDefaultScheduler(v.obj) {
			add(v.idx, v.rev)
		}
	}
}

func byDefaultScheduler(p *corev1.Pod) bool {
	return p.Spec.SchedulerName == "" || p.Spec.SchedulerName == corev1.DefaultSchedulerName
}

// dropBusy drops the silences in which the writer was at work all the same. What
// was stored just after a pause of the whole store had been asked for before it
// and says nothing.
func (c *Case) dropBusy(p *pulse) {
	kept := p.gaps[:0]
	for _, s := range p.gaps {
		if !c.busyIn(p, s) {
			kept = append(kept, s)
		}
	}
	p.gaps = kept
}

func (c *Case) busyIn(p *pulse, s *silence) bool {
	pauses := c.pauses(s.from.Add(-time.Minute), s.to, stopLimit)
	for _, a := range p.acts {
		if !a.at.After(s.from.Add(p.limit)) || !a.at.Before(s.to.Add(-time.Second)) {
			continue
		}
		flushed := false
		for _, h := range pauses {
			flushed = flushed || !a.at.Before(h[1]) && a.at.Sub(h[1]) < 2*time.Second
		}
		if !flushed {
			return true
		}
	}
	return false
}
