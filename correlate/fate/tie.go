package fate

import (
	"time"

	"etcd-autopsy/snapshot"
)

// tie says how a request and a write of its object belong together.
type tie uint8

const (
	// foreign: the request cannot have made the write.
	foreign tie = iota
	// open: nothing but object and time speak for it, and nothing against it.
	open
	// sure: more than object and time join them.
	sure
)

// tie compares a request with a write of its object, whatever their times are.
func (k *keyWrites) tie(r *Request, w *write) tie {
	if !compatible(r, w.verb) {
		return foreign
	}
	named := r.named()
	if named && w.expected >= 0 && w.expected != r.Expected {
		return foreign
	}
	t := k.stamps(r, w)
	if named && w.expected >= 0 {
		// The precondition speaks for it; a manager that is not found may be spelt
		// in another way.
		return min(t+1, sure)
	}
	return t
}

// named says whether the request names the revision that it replaces.
func (r *Request) named() bool { return r.Verb == "update" && r.Expected > 0 }

// stamps says whether the API server sets managed fields for a request: pods/binding,
// pods/eviction and others stamp nothing.
func (r *Request) stamps() bool { return r.Subresource == "" || r.Subresource == "status" }

// stamps compares a request with the stamps of a write.
func (k *keyWrites) stamps(r *Request, w *write) tie {
	m := k.marksOf(w)
	switch {
	case !m.known || r.Received.IsZero():
		return open
	case r.Verb == "delete":
		return yes(r.within(m.marked))
	case r.Verb == "create" && r.Subresource == "" && !m.created.IsZero() && !r.within(m.created):
		return foreign
	case !m.renewed.IsZero() && !k.stampIndex().skewed:
		return m.renewalTie(r)
	case r.Manager == "" || !m.managed:
		return open
	}
	own := m.stampedBy(r, r.Manager)
	if own && (!m.carried || w.state == snapshot.EntryRejected) {
		return sure
	}
	if own || m.carried || !r.stamps() {
		return open
	}
	return foreign
}

// renewalTie compares a request with a write that renews a Lease. A renewal that was
// stamped long before may be one that the client held back, or sent a second time
// (client-go tools/leaderelection does, after an error).
func (m *marks) renewalTie(r *Request) tie {
	age := r.Received.Sub(m.renewed)
	switch {
	case age < -renewal || !m.stampedBy(r, ""):
		return foreign
	case age <= renewal:
		return sure
	case len(m.fields) > 0 && m.stampedBy(r, r.Manager):
		return open
	}
	return foreign
}

// stampedBy says whether a manager, "" for any, has stamped the object during the
// request; one without stamps contradicts nobody.
func (m *marks) stampedBy(r *Request, manager string) bool {
	for _, f := range m.fields {
		if (manager == "" || f.manager == manager) && r.within(f.at) {
			return true
		}
	}
	return manager == "" && len(m.fields) == 0
}

func yes(b bool) tie {
	if b {
		return sure
	}
	return foreign
}

// within says whether a stamp of full seconds was made during a request.
func (r *Request) within(t time.Time) bool {
	return !t.IsZero() && !t.Before(r.Received.Truncate(time.Second)) && !t.After(r.end())
}

// end is when the request was answered, or came if that is not known.
func (r *Request) end() time.Time {
	if r.Completed.Before(r.Received) {
		return r.Received
	}
	return r.Completed
}

// renewal is how far a Lease's renewTime may lie from the receipt of the request
// that renews it: its holder stamps it right before it sends it (client-go
// tools/leaderelection; kubelet pkg/util/lease).
const renewal = time.Second

// compatible says whether a request can become a write of a kind. A delete may
// first mark the object, a patch may create it, and a subresource writes its
// object.
func compatible(r *Request, verb string) bool {
	switch {
	case r.Verb == "create" && r.Subresource == "":
		return verb == "create"
	case r.Verb == "create":
		return verb == "update" || verb == "delete"
	case r.Verb == "delete":
		return verb == "update" || verb == "delete"
	}
	return verb == "update" || verb == "create"
}
