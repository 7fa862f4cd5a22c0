package fate

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"etcd-autopsy/fixtures/world"
)

const timedOutText = "etcdserver: request timed out"

// story is a cluster and the requests that logs show of it.
type story struct {
	w        *world.World
	times    exact
	requests []*Request
	// members are those whose WALs there are, all if nil; none is for no WAL.
	members []int
	none    bool
	// noStore is true if there are only logs.
	noStore bool
}

// put stores an object; puts have to be in order.
func (s *story) put(at time.Duration, o world.Object) (revision int64) {
	s.w.Put(at, o)
	s.times = append(s.times, s.w.Time(at))
	return int64(len(s.times) + 1)
}

func (s *story) remove(at time.Duration, o world.Object) {
	s.w.Delete(at, o)
	s.times = append(s.times, s.w.Time(at))
}

// goOn lets the cluster be written to for a while, so that its logs cover what was
// before.
func (s *story) goOn(from time.Duration) {
	for at := from; at < from+30*sec; at += 5 * sec {
		s.put(at, configMap(s.w, "other", "clock", at))
	}
}

// cm is the ConfigMap default/a as a manager writes it at a moment.
func (s *story) cm(manager string, at time.Duration) *corev1.ConfigMap {
	return configMap(s.w, "a", manager, at)
}

// patch, and the verbs below, add a request for the ConfigMap default/a.
func (s *story) patch(manager string, from, to time.Duration, code int32, message string) *Request {
	return s.ask(&Request{Key: "/registry/configmaps/default/a", Verb: "patch", Manager: manager, Code: code, Message: message}, from, to)
}

func (s *story) ask(r *Request, from, to time.Duration) *Request {
	r.Received, r.Completed = s.w.Time(from), s.w.Time(to)
	s.requests = append(s.requests, r)
	return r
}

// lease is the Lease kube-system/l, renewed at a moment of its holder's clock; by the
// API server's it was stamped at another, none if negative.
func (s *story) lease(renewed, stamped time.Duration) *coordinationv1.Lease {
	at := metav1.NewMicroTime(s.w.Time(renewed))
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "l"}, Spec: coordinationv1.LeaseSpec{RenewTime: &at}}
	if stamped >= 0 {
		t := metav1.NewTime(s.w.Time(stamped))
		l.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, Time: &t}}
	}
	return l
}

func (s *story) renew(from, to time.Duration) *Request {
	return s.ask(&Request{Key: "/registry/leases/kube-system/l", Verb: "update", Message: "context deadline exceeded"}, from, to)
}

// pod is the Pod default/p; marked says when it was asked to go, negative for not.
func (s *story) pod(marked time.Duration) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
	if marked >= 0 {
		grace := int64(30)
		end := metav1.NewTime(s.w.Time(marked + 30*sec))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &end, &grace
	}
	return p
}

func (s *story) erase(from, to time.Duration) *Request {
	return s.ask(&Request{Key: "/registry/pods/default/p", Verb: "delete", Code: 500, Message: timedOutText}, from, to)
}

// want is a fate that is expected of a request.
type want struct {
	fate     Fate
	revision int64
	before   int // how many rejected entries there were before
}
