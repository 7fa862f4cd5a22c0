package revclock

import (
	"context"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"etcd-autopsy/snapshot"
)

// apiserverWriter is the clock that stamps creation times and managed fields.
const apiserverWriter = "kube-apiserver"

// stampedResources are the resources whose objects are decoded for their stamps;
// they are the ones a rollout is made of.
var stampedResources = []string{
	"leases", "deployments", "replicasets", "pods", "endpointslices", "services", "nodes", "namespaces", "resourcequotas",
}

// storedStamps collects what stored objects say of the moment they were written:
// Lease renewals, creation stamps, managed fields, Event names.
func storedStamps(ctx context.Context, h *snapshot.History) ([]stamp, error) {
	var out []stamp
	for _, res := range stampedResources {
		for _, key := range h.KeysOf(res) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			out = append(out, keyStamps(h, key)...)
		}
	}
	for _, key := range h.KeysOf("events") {
		if i := h.Key(key); len(i) > 0 {
			if t, ok := eventNameTime(key); ok && h.At(i[0]).Version == 1 {
				out = append(out, stamp{rev: h.At(i[0]).Main, at: t, writer: "event:" + eventReporter(h, i[0])})
			}
		}
	}
	return out, nil
}

// eventReporter names the host whose clock an Event's name carries.
func eventReporter(h *snapshot.History, i int) string {
	o, err := h.Object(i)
	if err != nil {
		return ""
	}
	if e, ok := o.(*corev1.Event); ok {
		return e.Source.Host + e.Source.Component
	}
	return ""
}

// keyStamps collects the stamps of one key's revisions. The renewals of a Lease
// also bound each other: one is sent when the one before was answered.
func keyStamps(h *snapshot.History, key string) []stamp {
	var out []stamp
	var before time.Time
	for _, i := range h.Key(key) {
		r := h.At(i)
		if r.Tombstone {
			continue
		}
		o, err := h.Object(i)
		if err != nil {
			continue
		}
		if l, ok := o.(*coordinationv1.Lease); ok {
			out = append(out, leaseStamp(r.Main, l, out)...)
		}
		if m, ok := o.(metav1.ObjectMetaAccessor); ok {
			newest := newestField(m.GetObjectMeta())
			out = append(out, metaStamps(r, m.GetObjectMeta(), newest, newest.After(before))...)
			before = latest(before, newest)
		}
	}
	return out
}

// newestField is the newest time of an object's managed fields, zero if it has none.
func newestField(m metav1.Object) time.Time {
	var newest time.Time
	for _, f := range m.GetManagedFields() {
		if f.Time != nil && f.Time.UTC().After(newest) {
			newest = f.Time.UTC()
		}
	}
	return newest
}

// leaseStamp is the renewal's own stamp. When the same holder's last renewal is
// the revision before it, that one was done by then.
func leaseStamp(rev int64, l *coordinationv1.Lease, before []stamp) []stamp {
	if l.Spec.RenewTime == nil {
		return nil
	}
	w := leaseWriter(l)
	t := l.Spec.RenewTime.UTC()
	for i := len(before) - 1; i >= 0; i-- {
		if b := &before[i]; b.tight {
			if b.writer == w && b.until.IsZero() && t.After(b.at) {
				before[i].until = t
			}
			break
		}
	}
	return []stamp{{rev: rev, at: t, writer: w, tight: true}}
}

// leaseWriter is the clock behind a Lease: its node, or its holder's host. The
// API servers' identity Leases are on the reference clock.
func leaseWriter(l *coordinationv1.Lease) string {
	if l.Labels["apiserver.kubernetes.io/identity"] != "" {
		return apiserverWriter
	}
	if l.Spec.HolderIdentity == nil {
		return l.Namespace + "/" + l.Name
	}
	host, _, _ := strings.Cut(*l.Spec.HolderIdentity, "_")
	return host
}

// metaStamps are an object's creation stamp (at the revision that created it) and
// the newest time of its managed fields. That one says when this revision was
// written only if it is newer than that of the version before.
func metaStamps(r snapshot.Revision, m metav1.Object, newest time.Time, fresh bool) []stamp {
	var out []stamp
	if t := m.GetCreationTimestamp(); !t.IsZero() && r.Version == 1 {
		out = append(out, stamp{rev: r.Main, at: t.UTC(), writer: apiserverWriter, soft: true})
	}
	if !newest.IsZero() {
		out = append(out, stamp{rev: r.Main, at: newest, writer: apiserverWriter, soft: fresh})
	}
	return out
}

// eventNameTime reads the nanosecond stamp that client-go puts at the end of an
// Event's name (tools/record/event.go): "web-1.18c5f0a3b2d4e6f8".
func eventNameTime(key string) (time.Time, bool) {
	i := strings.LastIndexByte(key, '.')
	if i < 0 || len(key)-i-1 != 16 {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(key[i+1:], 16, 64)
	if err != nil || n < 0 {
		return time.Time{}, false
	}
	return time.Unix(0, n).UTC(), true
}

// LastStamp is the newest stamp of any stored object, zero without one.
func LastStamp(h *snapshot.History) time.Time {
	var last time.Time
	stamps, err := storedStamps(context.Background(), h)
	if err != nil {
		return last
	}
	_, stamps = new(Clock).dropOutliers(nil, stamps)
	for _, s := range stamps {
		last = latest(last, s.at)
	}
	return last
}
