package revclock

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// leaseOf is a node's Lease, renewed at a moment by the node's own clock.
func leaseOf(node string, renewed time.Time) *coordinationv1.Lease {
	l := leaseNamed(node, node, renewed)
	l.Namespace = "kube-node-lease"
	return l
}

// leaseNamed is a leader's Lease.
func leaseNamed(name, holder string, renewed time.Time) *coordinationv1.Lease {
	t := metav1.NewMicroTime(renewed)
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &t}}
}
