package correlate

import (
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
