package correlate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selectorMismatch: an expected Service selected none of the ready pods while they
// waited.
func selectorMismatch(j *judge, a *attempt, s *stall) *suspect {
	for _, e := range a.expects {
		svc, ok := j.inForce(e.svc, s)
		if !ok || len(svc.obj.Spec.Selector) == 0 {
			continue
		}
		sel := labels.SelectorFromSet(svc.obj.Spec.Selector)
		matches := false
		for _, w := range s.waits {
			matches = matches || sel.Matches(labels.Set(w.p.pod.meta().GetLabels()))
		}
		if len(s.waits) == 0 || matches {
			continue
		}
		return j.mismatch(e, svc, sel, s)
	}
	return nil
}

// inForce is the version of a Service in the middle of a stall.
func (j *judge) inForce(svc *life[*corev1.Service], s *stall) (version[*corev1.Service], bool) {
	middle := s.from.Add(s.length() / 2)
	var out version[*corev1.Service]
	found := false
	for _, v := range svc.versions {
		if t := j.c.clock.Time(v.rev); !t.After(latest(middle, s.from.Add(time.Second))) || svc.cut && !found {
			out, found = v, true
		}
	}
	return out, found
}

// mismatch describes a Service that selects none of the pods that wait. One that
// never selected this workload is its Service by what they share only.
func (j *judge) mismatch(e *expected, svc version[*corev1.Service], sel labels.Selector, s *stall) *suspect {
	v := s.waits[len(s.waits)-1].p.pod.last()
	cites := []*cite{
		revCite(svc.idx, "Service %s/%s: selector %s", svc.obj.Namespace, svc.obj.Name, sel),
		revCite(v.idx, "Pod %s: labels %s, Ready", podName(v), labels.Set(v.obj.Labels)),
	}
	for _, sl := range slicesOf(e.svc, j.w) {
		cites = append(cites, revCite(sl.last().idx, "EndpointSlice %s/%s of Service %s: %s",
			sl.meta().GetNamespace(), sl.meta().GetName(), svc.obj.Name, count(len(sl.last().obj.Endpoints), "endpoint")))
	}
	x := &suspect{cause: "selector-mismatch", confidence: Proven, cites: cites,
		text: fmt.Sprintf("Service %s/%s selected %s, which matched none of the ready pods (they carry %s)",
			svc.obj.Namespace, svc.obj.Name, sel, labels.Set(v.obj.Labels))}
	if e.orphan {
		x.text += "; it is taken for this workload's Service because it has no endpoints, matches no workload and shares " + e.shares
		if e.weak {
			x.confidence = Possible
		}
	}
	return x
}
