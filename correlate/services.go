package correlate

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	appsv1 "k8s.io/api/apps/v1"
)

// expected is a Service that is to carry the traffic of a workload.
type expected struct {
	svc *life[*corev1.Service]
	// orphan is set when the Service selects nothing now and is expected by what
	// it shares with the workload; shares says what.
	orphan bool
	shares string
	// weak is set where that is a port's name only, which many share.
	weak bool
	// since is the version from which it is to carry this workload's traffic.
	since version[*corev1.Service]
	// ready maps a pod's UID to the stored EndpointSlice that first had it ready.
	ready map[types.UID]firstReady
}

// expectedServices finds the Services of contract.md 1: those that select the
// workload's pods now or selected those of an earlier revision, and those without
// endpoints that match no workload and share its name, app label or named port.
func (c *Case) expectedServices(l *life[*appsv1.Deployment], w *objects) []*expected {
	d := l.last().obj
	var out []*expected
	for _, s := range w.services[d.Namespace] {
		if s.deleted >= 0 || s.last().obj.Spec.Type == corev1.ServiceTypeExternalName || len(s.last().obj.Spec.Selector) == 0 {
			continue
		}
		e := &expected{svc: s}
		if !everSelects(s, l) {
			e.shares, e.weak = sharesWith(s.last().obj, d)
			if e.shares == "" || c.selectsAny(s, w) {
				continue
			}
			e.orphan = true
		} else if !selects(s.last().obj, d) && c.selectsAny(s, w) {
			continue // it has moved to another workload
		}
		e.since = owedSince(s, l, w)
		e.ready = readyIn(s, w)
		out = append(out, e)
	}
	return out
}

// owedSince is the version from which a Service is expected to have a workload's
// pods: its first one or, where it selected another workload before, the first
// that selects this one (blue and green behind one Service).
func owedSince(s *life[*corev1.Service], l *life[*appsv1.Deployment], w *objects) version[*corev1.Service] {
	elsewhere := false
	for _, v := range s.versions {
		if selects(v.obj, l.last().obj) {
			if elsewhere {
				return v
			}
			break
		}
		sel := labels.SelectorFromSet(v.obj.Spec.Selector)
		for _, t := range w.templates[v.obj.Namespace] {
			elsewhere = elsewhere || len(v.obj.Spec.Selector) > 0 && sel.Matches(labels.Set(t))
		}
	}
	return s.first()
}

// everSelects says whether any stored version of a Service selected the pods of
// any stored version of a workload.
func everSelects(s *life[*corev1.Service], l *life[*appsv1.Deployment]) bool {
	for _, sv := range s.versions {
		sel := labels.SelectorFromSet(sv.obj.Spec.Selector)
		for _, dv := range l.versions {
			if len(sv.obj.Spec.Selector) > 0 && sel.Matches(labels.Set(dv.obj.Spec.Template.Labels)) {
				return true
			}
		}
	}
	return false
}

// selects says whether a Service selects the pods of a workload as both are now.
func selects(s *corev1.Service, d *appsv1.Deployment) bool {
	return len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(d.Spec.Template.Labels))
}

// selectsAny says whether a Service matches any workload or pod of its namespace,
// or has endpoints.
func (c *Case) selectsAny(s *life[*corev1.Service], w *objects) bool {
	svc := s.last().obj
	sel := labels.SelectorFromSet(svc.Spec.Selector)
	for _, t := range w.templates[svc.Namespace] {
		if sel.Matches(labels.Set(t)) {
			return true
		}
	}
	for _, pods := range w.pods {
		for _, p := range pods {
			if p.deleted < 0 && p.meta().GetNamespace() == svc.Namespace && sel.Matches(labels.Set(p.meta().GetLabels())) {
				return true
			}
		}
	}
	for _, sl := range slicesOf(s, w) {
		if sl.deleted < 0 && len(sl.last().obj.Endpoints) > 0 {
			return true
		}
	}
	return false
}

// appLabels are the labels by which charts and people name an application.
var appLabels = []string{"app.kubernetes.io/name", "app", "k8s-app"}

// sharesWith says what a Service has in common with a workload, "" for nothing, and
// whether that is weak.
func sharesWith(s *corev1.Service, d *appsv1.Deployment) (what string, weak bool) {
	if s.Name == d.Name {
		return "its name", false
	}
	for _, l := range appLabels {
		if v := s.Labels[l]; v != "" && v == d.Spec.Template.Labels[l] {
			return "the label " + l + "=" + v, false
		}
	}
	for _, p := range s.Spec.Ports {
		if n := p.TargetPort.StrVal; n != "" {
			for _, k := range d.Spec.Template.Spec.Containers {
				for _, cp := range k.Ports {
					if cp.Name == n {
						return "the port name " + n, true
					}
				}
			}
		}
	}
	return "", false
}

// slicesOf are the EndpointSlices of a Service.
func slicesOf(s *life[*corev1.Service], w *objects) []*life[*discoveryv1.EndpointSlice] {
	var out []*life[*discoveryv1.EndpointSlice]
	for _, sl := range w.slices[s.meta().GetNamespace()] {
		if sl.meta().GetLabels()[discoveryv1.LabelServiceName] == s.meta().GetName() {
			out = append(out, sl)
		}
	}
	return out
}

// firstReady is an index into the history. cut says that earlier versions of the
// slice were compacted away, so that it may have been so before.
type firstReady struct {
	idx int
	cut bool
}

// readyIn finds, for each pod, the first stored EndpointSlice in which the Service
// had it ready. A nil ready condition counts as ready (discovery/v1 types.go).
func readyIn(s *life[*corev1.Service], w *objects) map[types.UID]firstReady {
	out := map[types.UID]firstReady{}
	for _, sl := range slicesOf(s, w) {
		for n, v := range sl.versions {
			for _, e := range v.obj.Endpoints {
				if e.TargetRef == nil || e.Conditions.Ready != nil && !*e.Conditions.Ready {
					continue
				}
				if i, ok := out[e.TargetRef.UID]; !ok || v.idx < i.idx {
					out[e.TargetRef.UID] = firstReady{idx: v.idx, cut: n == 0 && sl.cut}
				}
			}
		}
	}
	return out
}

// servedMark is when a pod was Ready and in every expected Service.
func (c *Case) servedMark(a *attempt, pod *life[*corev1.Pod], ready mark) mark {
	m := ready
	for _, e := range a.expects {
		i, ok := e.ready[pod.meta().GetUID()]
		if !ok || !m.ok {
			return mark{}
		}
		if rev := c.hist.At(i.idx).Main; rev > m.rev {
			if x := c.markOf(rev, i.idx); m.rev != 0 || x.at.After(m.at) {
				if i.cut {
					x.lo = m.lo
				}
				m = x
			}
		}
	}
	return m
}
