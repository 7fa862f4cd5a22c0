package correlate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// An attempt is one rollout under construction: a Deployment's way from the
// write that changed its template to the next such write, its deletion, or the
// end of the evidence.
type attempt struct {
	c    *Case
	life *life[*appsv1.Deployment]
	// nth is the ordinal of the life among those of the same name, from 1.
	nth int
	// from and to are positions in life.versions: from is the trigger, to is one
	// past the last version of this rollout.
	from, to int
	// untold is true when compaction took the trigger: from is then only the first
	// version that is left.
	untold bool
	// next is the trigger that superseded this one, nil if none did.
	next *version[*appsv1.Deployment]
	// end is when the evidence of this rollout ends: superseded, deleted, or last write.
	end time.Time

	set  *life[*appsv1.ReplicaSet]
	pods []*passage
	// request is the audited request of the trigger, refused is true if it was
	// answered with an error (and landed all the same).
	request *auditEvent
	refused bool
	expects []*expected

	stages [10]Stage // by number; 0 unused
	stalls []*stall
	out    *Rollout
}

// trigger is the version that began the rollout.
func (a *attempt) trigger() version[*appsv1.Deployment] { return a.life.versions[a.from] }

// current is the newest version that belongs to the rollout.
func (a *attempt) current() version[*appsv1.Deployment] { return a.life.versions[a.to-1] }

// desired is how many pods the rollout is to bring up.
func (a *attempt) desired() int {
	if r := a.current().obj.Spec.Replicas; r != nil {
		return int(*r)
	}
	return 1
}

func (a *attempt) namespace() string { return a.trigger().obj.Namespace }
func (a *attempt) name() string      { return a.trigger().obj.Name }

// id is contract.md's: deployment/NS/NAME#GENERATION, with ~N for the Nth life.
func (a *attempt) id() string {
	name := a.name()
	if a.nth > 1 {
		name += "~" + strconv.Itoa(a.nth)
	}
	return fmt.Sprintf("deployment/%s/%s#%d", a.namespace(), name, a.trigger().obj.Generation)
}

// attempts cuts the lives of all Deployments into rollouts.
func (c *Case) attempts(w *objects) []*attempt {
	var out []*attempt
	nth := map[string]int{}
	for _, l := range w.deployments {
		nth[l.key]++
		if !c.selected("Deployment", l.meta().GetNamespace(), l.meta().GetName()) {
			continue
		}
		out = append(out, c.cut(l, nth[l.key], w)...)
	}
	return out
}

// selected says whether the options ask for a workload.
func (c *Case) selected(kind, namespace, name string) bool {
	if c.opts.Namespace != "" && c.opts.Namespace != namespace {
		return false
	}
	if c.opts.Workload == "" {
		return true
	}
	k, n, ok := strings.Cut(c.opts.Workload, "/")
	if !ok {
		return c.opts.Workload == name
	}
	return strings.EqualFold(strings.TrimSuffix(strings.ToLower(k), "s"), strings.ToLower(kind)) && n == name
}

// cut finds the triggers of one life: its creation, and every change of the
// template. A life whose beginning was compacted away starts with a rollout whose
// trigger is not told, unless it was complete by then.
func (c *Case) cut(l *life[*appsv1.Deployment], nth int, w *objects) []*attempt {
	var out []*attempt
	begin := func(i int, untold bool) {
		if n := len(out); n > 0 {
			out[n-1].to, out[n-1].next = i, &l.versions[i]
		}
		out = append(out, &attempt{c: c, life: l, nth: nth, from: i, to: len(l.versions), untold: untold})
	}
	for i, v := range l.versions {
		switch {
		case i == 0:
			if !l.cut || !complete(v.obj, v.obj.Generation) && !finished(v.obj) {
				begin(i, l.cut)
			}
		case !sameTemplate(&l.versions[i-1].obj.Spec.Template, &v.obj.Spec.Template):
			begin(i, !c.adjacent(l.versions[i-1].idx, v.idx))
		}
	}
	for _, a := range out {
		a.end = c.endOf(a)
		a.set = newSet(w, a)
	}
	return out
}

// adjacent says whether two stored versions of one key are consecutive: nothing
// between them was compacted away.
func (c *Case) adjacent(i, k int) bool {
	return c.hist.At(k).Version == c.hist.At(i).Version+1
}

// endOf is when the evidence about a rollout ends.
func (c *Case) endOf(a *attempt) time.Time {
	switch {
	case a.next != nil:
		return c.clock.Time(a.next.rev)
	case a.life.deleted >= 0:
		return c.clock.Time(a.life.deletedRev)
	}
	return c.stateEnd()
}

// stateEnd is the last moment for which the stores show the state of objects: the
// time of their newest revision, or later where nothing could be written.
func (c *Case) stateEnd() time.Time { return latest(c.clock.Last(), c.until) }

// newSet finds the ReplicaSet of a rollout's template.
func newSet(w *objects, a *attempt) *life[*appsv1.ReplicaSet] {
	tpl := &a.trigger().obj.Spec.Template
	var found *life[*appsv1.ReplicaSet]
	for _, s := range w.sets[a.life.meta().GetUID()] {
		if !sameTemplate(&s.first().obj.Spec.Template, tpl) {
			continue
		}
		// A set deleted before the rollout began cannot be the one.
		if s.deleted >= 0 && s.deletedRev < a.trigger().rev {
			continue
		}
		if found == nil || s.first().rev < found.first().rev {
			found = s
		}
	}
	return found
}

// complete is the Deployment controller's own test
// (pkg/controller/deployment/util/deployment_util.go: DeploymentComplete), for a
// generation.
func complete(d *appsv1.Deployment, generation int64) bool {
	want := int32(1)
	if d.Spec.Replicas != nil {
		want = *d.Spec.Replicas
	}
	s := d.Status
	return s.UpdatedReplicas == want && s.Replicas == want && s.AvailableReplicas == want && s.ObservedGeneration >= generation
}

// finished says whether a Deployment had completed its rollout before: its
// controller says so, and had seen this generation. A pod may be unready again.
func finished(d *appsv1.Deployment) bool {
	for _, k := range d.Status.Conditions {
		if k.Type == appsv1.DeploymentProgressing && k.Status == corev1.ConditionTrue && k.Reason == "NewReplicaSetAvailable" {
			return d.Status.ObservedGeneration >= d.Generation
		}
	}
	return false
}

// change says what a trigger changed, in the words of a reader.
func (a *attempt) change() string {
	d := a.trigger().obj
	if a.untold && a.from == 0 {
		return "not in the stored history: the trigger was compacted away"
	}
	if a.from == 0 {
		return "created with " + images(&d.Spec.Template)
	}
	return templateChange(&a.life.versions[a.from-1].obj.Spec.Template, &d.Spec.Template)
}

// images lists a template's images: "image localhost/web:v1 (web)".
func images(t *corev1.PodTemplateSpec) string {
	var out []string
	for _, k := range t.Spec.Containers {
		out = append(out, fmt.Sprintf("image %s (%s)", k.Image, k.Name))
	}
	return strings.Join(out, ", ")
}

// templateChange names the images that changed, else that something else did.
func templateChange(old, now *corev1.PodTemplateSpec) string {
	before := map[string]string{}
	for _, k := range old.Spec.Containers {
		before[k.Name] = k.Image
	}
	var out []string
	for _, k := range now.Spec.Containers {
		if was, ok := before[k.Name]; ok && was != k.Image {
			out = append(out, fmt.Sprintf("image of %s: %s → %s", k.Name, was, k.Image))
		} else if !ok {
			out = append(out, fmt.Sprintf("container %s added (image %s)", k.Name, k.Image))
		}
	}
	if len(out) == 0 {
		return "pod template changed (no image)"
	}
	return strings.Join(out, "; ")
}
