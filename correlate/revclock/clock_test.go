package revclock

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"etcd-autopsy/fixtures/world"
	"etcd-autopsy/logparse"
	"etcd-autopsy/snapshot"
)

const (
	sec = time.Second
	ms  = time.Millisecond
)

// open saves a world's store and reads it back.
func open(t *testing.T, w *world.World) *snapshot.History {
	t.Helper()
	dir := t.TempDir()
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	h, err := snapshot.Load(context.Background(), []snapshot.File{{Input: "x", Path: "state.db", OSPath: filepath.Join(dir, "state.db")}}, snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func newClock(t *testing.T, h *snapshot.History, requests ...*Request) *Clock {
	t.Helper()
	k, err := New(context.Background(), h, requests)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// pod is a pod as an API server writes it: stamps in whole seconds.
func pod(w *world.World, name string, created, touched time.Duration) *corev1.Pod {
	t := metav1.NewTime(w.Time(touched))
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(w.Time(created)),
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", Operation: metav1.ManagedFieldsOperationUpdate, Time: &t}}}}
}

// revOf is the revision of the nth version of a key.
func revOf(t *testing.T, h *snapshot.History, key string, n int) int64 {
	t.Helper()
	idx := h.Key(key)
	if n >= len(idx) {
		t.Fatalf("%s has %d versions", key, len(idx))
	}
	return h.At(idx[n]).Main
}

// within checks that a revision's interval holds a moment and its estimate is near.
func within(t *testing.T, k *Clock, rev int64, want time.Time, slack time.Duration) {
	t.Helper()
	est, lo, hi := k.At(rev)
	if lo.After(want) || !hi.IsZero() && hi.Before(want) {
		t.Errorf("revision %d: [%v, %v] does not hold %v", rev, lo, hi, want)
	}
	if est.Sub(want).Abs() > slack {
		t.Errorf("revision %d: estimate %v is %v off", rev, est, est.Sub(want))
	}
}

func TestLeaseRenewals(t *testing.T) {
	w := world.New()
	w.Renew("kube-system", "kube-scheduler", "h_1", sec, 9*sec, 2*sec)
	w.Put(4*sec, pod(w, "a", 4*sec, 4*sec))
	h := open(t, w)
	k := newClock(t, h)
	for n := range 5 {
		at := sec + time.Duration(n)*2*sec
		within(t, k, revOf(t, h, "/registry/leases/kube-system/kube-scheduler", n), w.Time(at), 20*ms)
	}
	within(t, k, revOf(t, h, "/registry/pods/shop/a", 0), w.Time(4*sec), 600*ms)
	if k.At(999); k.Has(999) {
		t.Error("a revision that is not stored has a time")
	}
}

func TestRequestsPinRevisions(t *testing.T) {
	w := world.New()
	w.Renew("kube-system", "kube-scheduler", "h_1", sec, 61*sec, 20*sec)
	w.Put(30*sec, pod(w, "a", 30*sec, 30*sec))
	w.Put(35*sec, pod(w, "a", 30*sec, 35*sec))
	h := open(t, w)
	first := revOf(t, h, "/registry/pods/shop/a", 0)
	req := func(at time.Duration, verb, rv string) *Request {
		return &Request{AuditEvent: &logparse.AuditEvent{Verb: verb, Resource: "pods", Namespace: "shop", Name: "a", ResourceVersion: rv, Code: 200,
			Received: w.Time(at - 5*ms), Completed: w.Time(at + 5*ms)}}
	}
	create := req(30*sec, "create", "")
	// An update that changes nothing is answered with success too, and names the
	// same predecessor.
	idle := req(32*sec, "update", strconv.FormatInt(first, 10))
	change := req(35*sec, "update", strconv.FormatInt(first, 10))
	k := newClock(t, h, create, idle, change)
	within(t, k, first, w.Time(30*sec), 10*ms)
	within(t, k, revOf(t, h, "/registry/pods/shop/a", 1), w.Time(35*sec), 10*ms)
	if create.Revision != first || change.Revision == 0 || idle.Revision != 0 {
		t.Errorf("joined create→%d idle→%d change→%d", create.Revision, idle.Revision, change.Revision)
	}
}

// TestPatchesNeedOneCandidate: two patches that fit both revisions are joined to
// neither; one that fits one revision is.
func TestPatchesNeedOneCandidate(t *testing.T) {
	w := world.New()
	w.Renew("kube-system", "kube-scheduler", "h_1", sec, 61*sec, 2*sec)
	w.Put(30*sec+100*ms, pod(w, "a", 30*sec, 30*sec))
	w.Put(30*sec+200*ms, pod(w, "a", 30*sec, 30*sec))
	w.Put(50*sec, pod(w, "a", 30*sec, 50*sec))
	h := open(t, w)
	patch := func(at time.Duration) *Request {
		return &Request{AuditEvent: &logparse.AuditEvent{Verb: "patch", Resource: "pods", Namespace: "shop", Name: "a", Code: 200,
			Received: w.Time(at - 20*ms), Completed: w.Time(at + 20*ms)}}
	}
	one, two, alone := patch(30*sec+100*ms), patch(30*sec+200*ms), patch(50*sec)
	newClock(t, h, one, two, alone)
	if one.Revision != 0 || two.Revision != 0 {
		t.Errorf("ambiguous patches joined to %d and %d", one.Revision, two.Revision)
	}
	if want := revOf(t, h, "/registry/pods/shop/a", 2); alone.Revision != want {
		t.Errorf("patch joined to %d, want %d", alone.Revision, want)
	}
}

// TestSkewedClock: a node whose clock is ahead bounds nothing and is listed; one
// that agrees is not.
func TestSkewedClock(t *testing.T) {
	w := world.New()
	for i := range 20 {
		at := time.Duration(i) * 2 * sec
		w.Put(at+300*ms, pod(w, "p"+strconv.Itoa(i), at, at))
	}
	w.Renew("kube-node-lease", "good", "good", sec, 39*sec, 10*sec)
	ahead := world.New()
	ahead.Start = w.Start.Add(95 * sec)
	for at := 2 * sec; at < 40*sec; at += 10 * sec {
		l := leaseOf("bad", ahead.Time(at-10*ms))
		w.Put(at, l)
	}
	h := open(t, w)
	k := newClock(t, h)
	if s := k.Skewed(); len(s) != 1 || s[0].Writer != "bad" || (s[0].Offset-95*sec).Abs() > 3*sec {
		t.Errorf("skewed clocks %v, want only bad by 95 s", s)
	}
	for n := range 20 {
		at := time.Duration(n)*2*sec + 300*ms
		within(t, k, revOf(t, h, "/registry/pods/shop/p"+strconv.Itoa(n), 0), w.Time(at), sec)
	}
}

// TestOutliers: one stamp that the others contradict moves nothing, whoever made it.
func TestOutliers(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"a day ahead": 24 * time.Hour, "a century ahead": 100 * 365 * 24 * time.Hour, "a day behind": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := world.New()
			w.Renew("kube-system", "kube-scheduler", "h_1", sec, 41*sec, 2*sec)
			w.Put(10*sec, pod(w, "odd", 10*sec+wrong, 10*sec+wrong))
			w.Put(12*sec+ms, leaseNamed("kube-controller-manager", "h_1", w.Time(12*sec+wrong)))
			h := open(t, w)
			k := newClock(t, h)
			for n := range 21 {
				at := sec + time.Duration(n)*2*sec
				within(t, k, revOf(t, h, "/registry/leases/kube-system/kube-scheduler", n), w.Time(at), 20*ms)
			}
			within(t, k, revOf(t, h, "/registry/pods/shop/odd", 0), w.Time(10*sec), 2*sec)
			if k.Outliers() == 0 {
				t.Error("nothing was dropped")
			}
		})
	}
}

// TestRefit: nothing is placed where etcd's logs say that nothing was committed,
// and a bound that is learned later holds.
func TestRefit(t *testing.T) {
	w := world.New()
	w.Renew("kube-system", "kube-scheduler", "h_1", sec, 5*sec, 2*sec)
	// Renewals that were asked for in the outage and stored when it ended.
	w.Put(40*sec, leaseNamed("kube-controller-manager", "h_2", w.Time(10*sec)))
	w.Put(40*sec+ms, pod(w, "late", 9*sec, 9*sec))
	w.Renew("kube-system", "kube-scheduler", "h_1", 41*sec, 45*sec, 2*sec)
	h := open(t, w)
	k := newClock(t, h)
	lease := revOf(t, h, "/registry/leases/kube-system/kube-controller-manager", 0)
	if got := k.Time(lease); got.After(w.Time(12 * sec)) {
		t.Fatalf("without logs the renewal is placed at its stamp, not %v", got)
	}
	late := revOf(t, h, "/registry/pods/shop/late", 0)
	k.Refit([]Bound{{Revision: late, After: w.Time(16 * sec)}}, [][2]time.Time{{w.Time(7 * sec), w.Time(40 * sec)}})
	within(t, k, lease, w.Time(40*sec), 100*ms)
	within(t, k, late, w.Time(40*sec), 100*ms)
	if _, lo, _ := k.At(late); lo.Before(w.Time(16 * sec)) {
		t.Errorf("lower bound %v ignores what was learned", lo)
	}
}

// TestEmptyHistory: a clock without revisions answers with zero times.
func TestEmptyHistory(t *testing.T) {
	h, err := snapshot.Load(context.Background(), nil, snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := newClock(t, h)
	k.Refit([]Bound{{Revision: 1}}, nil)
	if !k.Last().IsZero() || !k.Time(5).IsZero() || !k.LastBefore(time.Now()).IsZero() || !k.AtOrAfter(1).IsZero() {
		t.Error("an empty clock shows a time")
	}
}

func TestEventNameTime(t *testing.T) {
	for _, c := range []struct {
		key string
		ok  bool
	}{
		{"/registry/events/shop/cart-1.18eceee2b9216e53", true},
		{"/registry/events/shop/cart-1", false},
		{"/registry/events/shop/cart.v1.2", false},
		{"/registry/events/shop/cart-1.zzzzzzzzzzzzzzzz", false},
		{"/registry/events/shop/cart-1.ffffffffffffffff", false},
	} {
		if got, ok := eventNameTime(c.key); ok != c.ok || ok && got.Year() != 2026 {
			t.Errorf("%s: %v %v", c.key, got, ok)
		}
	}
}
