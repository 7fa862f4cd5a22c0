package fate

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// marks are the stamps that a write puts into its object: the API server sets them
// (to the second) while it handles the request, before etcd sees it.
type marks struct {
	// known is false if the object cannot be read; then there is nothing else.
	known bool
	// managed is true if the object has managed fields, fields are those that the
	// one before does not have. If there are none or it is not known which, they are
	// the newest ones and carried is true: the write was made in the same second as
	// the one before, or stamped nothing, as one that only removes fields does.
	managed, carried bool
	fields           []field
	// created is the creation stamp, marked when the object was asked to go, if it
	// had not been before: the end of its grace period less that.
	created, marked time.Time
	// renewed is the renewTime of a Lease that it renews.
	renewed time.Time
}

// field are managed fields of a manager.
type field struct {
	manager string
	at      time.Time
}

// marksOf reads the stamps of an object. before is the object that it replaces, nil
// if that is not known or there is none; fresh says that there is none.
func marksOf(o, before runtime.Object, fresh bool) marks {
	m, err := meta.Accessor(o)
	if err != nil {
		return marks{}
	}
	x := marks{known: true, managed: len(m.GetManagedFields()) > 0, created: m.GetCreationTimestamp().UTC()}
	var old metav1.Object
	if before != nil {
		old, _ = meta.Accessor(before)
	}
	x.fields, x.carried = newFields(m, old, fresh)
	if d := m.GetDeletionTimestamp(); d != nil && (old == nil || old.GetDeletionTimestamp() == nil) {
		x.marked = d.UTC()
		if s := m.GetDeletionGracePeriodSeconds(); s != nil {
			x.marked = x.marked.Add(-time.Duration(*s) * time.Second)
		}
	}
	if t := renewTime(o); !t.IsZero() && !t.Equal(renewTime(before)) {
		x.renewed = t
	}
	return x
}

// newFields are the managed fields with a time that the object before does not
// have, or those with the newest time and true: whoever writes last stamps last.
func newFields(m, old metav1.Object, fresh bool) (list []field, carried bool) {
	had := map[string]bool{}
	if old != nil {
		for _, f := range old.GetManagedFields() {
			had[fieldsName(&f)] = true
		}
	}
	var added, newest []field
	for _, f := range m.GetManagedFields() {
		if f.Time == nil {
			continue
		}
		x := field{f.Manager, f.Time.UTC()}
		if !had[fieldsName(&f)] {
			added = append(added, x)
		}
		if len(newest) > 0 && x.at.After(newest[0].at) {
			newest = newest[:0]
		}
		if len(newest) == 0 || x.at.Equal(newest[0].at) {
			newest = append(newest, x)
		}
	}
	if len(added) > 0 && (old != nil || fresh) {
		return added, false
	}
	return newest, len(newest) > 0
}

// fieldsName tells managed fields and their time apart from others.
func fieldsName(f *metav1.ManagedFieldsEntry) string {
	if f.Time == nil {
		return ""
	}
	return f.Manager + "\x00" + string(f.Operation) + "\x00" + f.Subresource + "\x00" + f.Time.UTC().String()
}

// renewTime is that of a Lease, zero for anything else.
func renewTime(o runtime.Object) time.Time {
	if l, ok := o.(*coordinationv1.Lease); ok && l.Spec.RenewTime != nil {
		return l.Spec.RenewTime.UTC()
	}
	return time.Time{}
}
