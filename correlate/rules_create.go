package correlate

import (
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// createFailures tell the reasons of a FailedCreate message apart, the most
// specific first. Kubernetes 1.34: plugin/pkg/admission/{resourcequota,limitranger,
// serviceaccount}, apiserver/pkg/admission/plugin/webhook/errors.
var createFailures = []struct {
	cause string
	match *regexp.Regexp
}{
	{"admission-webhook", regexp.MustCompile(`failed calling webhook|admission webhook ".*" denied`)},
	{"quota", regexp.MustCompile(`exceeded quota: `)},
	{"limit-range", regexp.MustCompile(`(maximum|minimum) .* usage per |LimitRange`)},
	{"service-account-missing", regexp.MustCompile(`error looking up service account|serviceaccount ".*" not found`)},
	{"namespace-terminating", regexp.MustCompile(`because it is being terminated`)},
	{"nospace", regexp.MustCompile(`database space exceeded`)},
	{"admission-denied", regexp.MustCompile(`violates PodSecurity|is forbidden: .*(policy|ValidatingAdmissionPolicy)`)},
	{"forbidden", regexp.MustCompile(`is forbidden: User `)},
	{"invalid-object", regexp.MustCompile(`is invalid: `)},
}

// classify names the cause that a message of a refused creation states, "" if none.
func classifyCreate(msg string) string {
	for _, f := range createFailures {
		if f.match.MatchString(msg) {
			return f.cause
		}
	}
	return ""
}

// failedCreate: the ReplicaSet states that it cannot create a pod
// (ReplicaFailure=True), or Events of it say so, and it is still so at the end of
// the stall.
func failedCreate(j *judge, a *attempt, s *stall) *suspect {
	if a.set == nil {
		return nil
	}
	msg, where := "", (*cite)(nil)
	for _, v := range a.set.versions {
		if j.c.clock.Time(v.rev).After(s.to) {
			break
		}
		msg, where = "", nil
		for _, k := range v.obj.Status.Conditions {
			if k.Type == appsv1.ReplicaSetReplicaFailure && k.Status == corev1.ConditionTrue {
				msg = k.Message
				where = revCite(v.idx, "ReplicaSet %s/%s: ReplicaFailure=True, %s: %s", v.obj.Namespace, v.obj.Name, k.Reason, k.Message)
			}
		}
	}
	cites := []*cite{where}
	if events := j.eventsOf(a.set.meta().GetUID(), s, "FailedCreate"); len(events) > 0 {
		e := events[len(events)-1]
		if msg == "" {
			msg = e.obj.Message
		}
		cites = append(cites, eventCite(e))
	}
	cause := classifyCreate(msg)
	if cause == "" {
		return nil
	}
	conf := Likely
	if where != nil {
		conf = Proven
	}
	out := &suspect{cause: cause, confidence: conf, cites: cites,
		text: "The ReplicaSet controller could not create a pod: " + cutText(msg)}
	if cause == "quota" {
		out.cites = append(out.cites, j.quotaCite(msg, a.namespace()))
	}
	return out
}

// quotaCite cites the ResourceQuota that a message names.
func (j *judge) quotaCite(msg, ns string) *cite {
	_, rest, _ := strings.Cut(msg, "exceeded quota: ")
	name, _, _ := strings.Cut(rest, ",")
	for _, q := range j.w.quotas {
		if q.meta().GetName() == name && q.meta().GetNamespace() == ns {
			v := q.last()
			var parts []string
			for _, r := range sortedKeys(quantities(v.obj.Status.Hard)) {
				hard, used := v.obj.Status.Hard[corev1.ResourceName(r)], v.obj.Status.Used[corev1.ResourceName(r)]
				parts = append(parts, r+" "+used.String()+" of "+hard.String())
			}
			return revCite(v.idx, "ResourceQuota %s/%s: used %s", ns, name, strings.Join(parts, ", "))
		}
	}
	return nil
}

func quantities(l corev1.ResourceList) map[string]bool {
	out := map[string]bool{}
	for k := range l {
		out[string(k)] = true
	}
	return out
}

// paused: the template changed in a Deployment whose controller was told to wait,
// and was still told so in the middle of the stall.
func paused(j *judge, a *attempt, s *stall) *suspect {
	v := a.trigger()
	middle := s.from.Add(s.length() / 2)
	for _, x := range a.life.versions[a.from:a.to] {
		if !j.c.clock.Time(x.rev).After(middle) {
			v = x
		}
	}
	if !v.obj.Spec.Paused {
		return nil
	}
	return &suspect{cause: "paused", confidence: Proven, text: "The Deployment was paused (spec.paused) with a new template",
		cites: []*cite{revCite(v.idx, "Deployment %s/%s: spec.paused true", a.namespace(), a.name())}}
}
