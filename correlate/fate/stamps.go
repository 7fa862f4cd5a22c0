package fate

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// stamped says whether the object of an entry carries managed fields, or for a
// create the creation stamp, of the request: the API server sets them (to the
// second) while it handles the request, before etcd sees the write.
func (j *judge) stamped(r *Request, entry int) bool {
	o, err := j.h.EntryObject(entry)
	if err != nil {
		return false
	}
	before := -1
	if e := j.h.Entry(entry); e.Expected > 0 {
		before = j.revisionOf(r.Key, e.Expected)
	}
	return renewed(r, o) || j.newFields(r, o, before)
}

// renewal is how far a Lease's renewTime may lie from the receipt of the request
// that renews it: its holder stamps it right before it sends it (client-go
// tools/leaderelection; kubelet pkg/util/lease).
const renewal = time.Second

// renewed says whether an object is a Lease that was stamped for the request.
func renewed(r *Request, o runtime.Object) bool {
	l, ok := o.(*coordinationv1.Lease)
	if !ok || l.Spec.RenewTime == nil {
		return false
	}
	d := r.Received.Sub(l.Spec.RenewTime.Time)
	return d.Abs() <= renewal
}

// wrote is stamped for a revision.
func (j *judge) wrote(r *Request, i, before int) bool {
	o, err := j.h.Object(i)
	return err == nil && (renewed(r, o) || j.newFields(r, o, before))
}

// revisionOf finds a revision of a key, -1 if it is not there.
func (j *judge) revisionOf(key string, main int64) int {
	for _, i := range j.h.Key(key) {
		if j.h.At(i).Main == main {
			return i
		}
	}
	return -1
}

// newFields says whether an object has managed fields of the request's manager
// with a time within the request that the revision before does not have.
func (j *judge) newFields(r *Request, o runtime.Object, before int) bool {
	m, err := meta.Accessor(o)
	if err != nil || r.Manager == "" {
		return false
	}
	old := map[string]bool{}
	if before >= 0 {
		if b, err := j.h.Object(before); err == nil {
			if bm, err := meta.Accessor(b); err == nil {
				for _, f := range bm.GetManagedFields() {
					old[fieldsName(&f)] = true
				}
			}
		}
	}
	for _, f := range m.GetManagedFields() {
		if f.Time != nil && f.Manager == r.Manager && !old[fieldsName(&f)] && within(r, f.Time.UTC()) {
			return true
		}
	}
	return false
}

func within(r *Request, t time.Time) bool {
	return !t.Before(r.Received.Truncate(time.Second)) && !t.After(r.Completed)
}

// fieldsName tells managed fields and their time apart from others.
func fieldsName(f *metav1.ManagedFieldsEntry) string {
	if f.Time == nil {
		return ""
	}
	return f.Manager + "\x00" + string(f.Operation) + "\x00" + f.Subresource + "\x00" + f.Time.UTC().String()
}
