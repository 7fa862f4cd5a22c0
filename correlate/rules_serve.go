package correlate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
)

// selectorMismatch: an expected Service selects none of the ready pods.
func selectorMismatch(j *judge, a *attempt, s *stall) *suspect {
	for _, e := range a.expects {
		svc := e.svc.last()
		sel := labels.SelectorFromSet(svc.obj.Spec.Selector)
		var pod *wait
		matches := false
		for _, w := range s.waits {
			if sel.Matches(labels.Set(w.p.pod.meta().GetLabels())) {
				matches = true
			}
			pod = w
		}
		if pod == nil || matches {
			continue
		}
		v := pod.p.pod.last()
		cites := []*cite{
			revCite(svc.idx, "Service %s/%s: selector %s", svc.obj.Namespace, svc.obj.Name, sel),
			revCite(v.idx, "Pod %s: labels %s, Ready", podName(v), labels.Set(v.obj.Labels)),
		}
		for _, sl := range slicesOf(e.svc, j.w) {
			cites = append(cites, revCite(sl.last().idx, "EndpointSlice %s/%s of Service %s: %s",
				sl.meta().GetNamespace(), sl.meta().GetName(), svc.obj.Name, count(len(sl.last().obj.Endpoints), "endpoint")))
		}
		text := fmt.Sprintf("Service %s/%s selects %s, which matches none of the ready pods (they carry %s)",
			svc.obj.Namespace, svc.obj.Name, sel, labels.Set(v.obj.Labels))
		if e.orphan {
			text += "; it is taken for this workload's Service because it has no endpoints, matches no workload and shares " + e.shares
		}
		return &suspect{cause: "selector-mismatch", confidence: Proven, text: text, cites: cites}
	}
	return nil
}
