package correlate

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// slim drops what no rule looks at from a decoded object, so that a long history
// fits in memory: the fields that managers own, annotations, and nearly all of a
// pod's or a node's specification.
func slim(o object) {
	m := o.GetObjectMeta()
	fields := m.GetManagedFields()
	for i := range fields {
		fields[i] = metav1.ManagedFieldsEntry{Manager: fields[i].Manager, Operation: fields[i].Operation, Subresource: fields[i].Subresource, Time: fields[i].Time}
	}
	switch x := o.(type) {
	case *corev1.Pod:
		x.Annotations = nil
		slimPod(x)
	case *corev1.Node:
		x.Annotations, x.Spec = nil, corev1.NodeSpec{}
		x.Status = corev1.NodeStatus{Conditions: x.Status.Conditions}
	}
}

func slimPod(p *corev1.Pod) {
	spec := corev1.PodSpec{NodeName: p.Spec.NodeName, SchedulerName: p.Spec.SchedulerName, ReadinessGates: p.Spec.ReadinessGates}
	spec.InitContainers, spec.Containers = slimContainers(p.Spec.InitContainers), slimContainers(p.Spec.Containers)
	p.Spec = spec
}

func slimContainers(all []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, len(all))
	for i, k := range all {
		out[i] = corev1.Container{Name: k.Name, Image: k.Image, StartupProbe: k.StartupProbe, ReadinessProbe: k.ReadinessProbe}
	}
	return out
}

// share lets a version use the specification of the one before where both are
// equal, as most are: status is what changes.
func share(before, now object) {
	switch x := now.(type) {
	case *corev1.Pod:
		if old, ok := before.(*corev1.Pod); ok && reflect.DeepEqual(old.Spec, x.Spec) {
			x.Spec = old.Spec
		}
	case *appsv1.Deployment:
		if old, ok := before.(*appsv1.Deployment); ok && reflect.DeepEqual(old.Spec.Template, x.Spec.Template) {
			x.Spec.Template = old.Spec.Template
		}
	case *appsv1.ReplicaSet:
		if old, ok := before.(*appsv1.ReplicaSet); ok && reflect.DeepEqual(old.Spec.Template, x.Spec.Template) {
			x.Spec.Template = old.Spec.Template
		}
	}
	a, b := before.GetObjectMeta(), now.GetObjectMeta()
	if reflect.DeepEqual(a.GetLabels(), b.GetLabels()) {
		b.SetLabels(a.GetLabels())
	}
	if reflect.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences()) {
		b.SetOwnerReferences(a.GetOwnerReferences())
	}
}
