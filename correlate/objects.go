package correlate

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/types"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"etcd-autopsy/snapshot"
)

// object is what every built-in kind can do.
type object interface{ metav1.ObjectMetaAccessor }

// A version is one stored revision of an object. idx points into the history.
type version[T object] struct {
	idx int
	rev int64
	obj T
}

// A life is one key from its creation to its deletion (or to the end of the
// history): a name that is created again begins another life.
type life[T object] struct {
	key      string
	versions []version[T]
	// deleted is the index of the tombstone in the history, -1 if it is not deleted.
	deleted    int
	deletedRev int64
	// cut is true when the first stored version is not the first ever: compaction
	// took the beginning.
	cut bool
}

func (l *life[T]) first() version[T] { return l.versions[0] }
func (l *life[T]) last() version[T]  { return l.versions[len(l.versions)-1] }

// meta is the metadata of the newest version.
func (l *life[T]) meta() metav1.Object { return l.last().obj.GetObjectMeta() }

// undecoded counts the values of a kind that could not be decoded, and keeps the
// first reason.
type undecoded struct {
	count int
	why   error
}

// lives decodes every life of every key of a resource. Values that cannot be
// decoded are counted under the resource's name.
func lives[T object](ctx context.Context, h *snapshot.History, resource string, bad map[string]*undecoded) []*life[T] {
	var out []*life[T]
	for _, key := range h.KeysOf(resource) {
		var cur *life[T]
		for _, i := range h.Key(key) {
			if ctx.Err() != nil {
				return out
			}
			r := h.At(i)
			if r.Tombstone {
				if r.Carved && (cur == nil || r.Create != h.At(cur.first().idx).Create) {
					continue // there are holes around it: it may end another life
				}
				if cur != nil {
					cur.deleted, cur.deletedRev = i, r.Main
				}
				cur = nil
				continue
			}
			o, err := h.Object(i)
			t, ok := o.(T)
			if err != nil || !ok {
				countUndecoded(bad, resource, err)
				continue
			}
			if cur == nil || h.At(cur.first().idx).Create != r.Create {
				cur = &life[T]{key: key, deleted: -1, cut: r.Version != 1}
				out = append(out, cur)
			}
			slim(t)
			if len(cur.versions) > 0 {
				share(cur.last().obj, t)
			}
			cur.versions = append(cur.versions, version[T]{idx: i, rev: r.Main, obj: t})
		}
	}
	return out
}

func countUndecoded(bad map[string]*undecoded, resource string, err error) {
	u := bad[resource]
	if u == nil {
		u = &undecoded{why: err}
		bad[resource] = u
	}
	u.count++
}

// objects are the decoded objects that rollouts are made of.
type objects struct {
	deployments []*life[*appsv1.Deployment]
	sets        map[types.UID][]*life[*appsv1.ReplicaSet] // by owner
	pods        map[types.UID][]*life[*corev1.Pod]        // by owner
	allPods     []*life[*corev1.Pod]
	nodes       map[string]*life[*corev1.Node]      // by name
	services    map[string][]*life[*corev1.Service] // by namespace
	slices      map[string][]*life[*discoveryv1.EndpointSlice]
	events      map[types.UID][]*life[*corev1.Event] // by involved object
	quotas      []*life[*corev1.ResourceQuota]
	// templates are the pod labels of every workload that exists, by namespace.
	templates map[string][]map[string]string
	bad       map[string]*undecoded
}

// objects decodes them, once. The error is only ever that of a cancelled context.
func (c *Case) objects(ctx context.Context) (*objects, error) {
	if c.objs == nil {
		w := newObjects(ctx, c.hist)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.objs = w
	}
	return c.objs, nil
}

// newObjects decodes them; what it returns after the context has ended is useless.
func newObjects(ctx context.Context, h *snapshot.History) *objects {
	bad := map[string]*undecoded{}
	pods := lives[*corev1.Pod](ctx, h, "pods", bad)
	w := &objects{
		deployments: lives[*appsv1.Deployment](ctx, h, "deployments", bad),
		sets:        byOwner(lives[*appsv1.ReplicaSet](ctx, h, "replicasets", bad)),
		pods:        byOwner(pods),
		allPods:     pods,
		nodes:       map[string]*life[*corev1.Node]{},
		services:    byNamespace(lives[*corev1.Service](ctx, h, "services", bad)),
		slices:      byNamespace(lives[*discoveryv1.EndpointSlice](ctx, h, "endpointslices", bad)),
		events:      map[types.UID][]*life[*corev1.Event]{},
		quotas:      lives[*corev1.ResourceQuota](ctx, h, "resourcequotas", bad),
		bad:         bad,
	}
	w.templates = liveTemplates(ctx, h, w, bad)
	for _, n := range lives[*corev1.Node](ctx, h, "nodes", bad) {
		w.nodes[n.meta().GetName()] = n
	}
	for _, e := range lives[*corev1.Event](ctx, h, "events", bad) {
		uid := e.last().obj.InvolvedObject.UID
		w.events[uid] = append(w.events[uid], e)
	}
	return w
}

// liveTemplates collects the pod labels of the workloads that are not deleted.
func liveTemplates(ctx context.Context, h *snapshot.History, w *objects, bad map[string]*undecoded) map[string][]map[string]string {
	out := map[string][]map[string]string{}
	add := func(ns string, t *corev1.PodTemplateSpec) { out[ns] = append(out[ns], t.Labels) }
	for _, l := range w.deployments {
		if l.deleted < 0 {
			add(l.meta().GetNamespace(), &l.last().obj.Spec.Template)
		}
	}
	for _, l := range lives[*appsv1.StatefulSet](ctx, h, "statefulsets", bad) {
		if l.deleted < 0 {
			add(l.meta().GetNamespace(), &l.last().obj.Spec.Template)
		}
	}
	for _, l := range lives[*appsv1.DaemonSet](ctx, h, "daemonsets", bad) {
		if l.deleted < 0 {
			add(l.meta().GetNamespace(), &l.last().obj.Spec.Template)
		}
	}
	for _, l := range lives[*appsv1.ReplicaSet](ctx, h, "replicasets", bad) {
		if l.deleted < 0 && metav1.GetControllerOf(l.meta()) == nil {
			add(l.meta().GetNamespace(), &l.last().obj.Spec.Template)
		}
	}
	return out
}

// byOwner groups lives by the UID of their controller.
func byOwner[T object](all []*life[T]) map[types.UID][]*life[T] {
	out := map[types.UID][]*life[T]{}
	for _, l := range all {
		if o := metav1.GetControllerOf(l.meta()); o != nil {
			out[o.UID] = append(out[o.UID], l)
		}
	}
	return out
}

func byNamespace[T object](all []*life[T]) map[string][]*life[T] {
	out := map[string][]*life[T]{}
	for _, l := range all {
		ns := l.meta().GetNamespace()
		out[ns] = append(out[ns], l)
	}
	return out
}

// sameTemplate compares two pod templates without the label that the Deployment
// controller adds (pkg/controller/deployment/util: EqualIgnoreHash).
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, y := a.DeepCopy(), b.DeepCopy()
	delete(x.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(y.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	if len(x.Labels) == 0 {
		x.Labels = nil
	}
	if len(y.Labels) == 0 {
		y.Labels = nil
	}
	return reflect.DeepEqual(x, y)
}
