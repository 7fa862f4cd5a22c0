package revclock

import (
	"sort"
	"strconv"
	"time"

	"etcd-autopsy/logparse"
	"etcd-autopsy/snapshot"
)

// Request is an answered write request of an audit log.
type Request struct {
	*logparse.AuditEvent
	// Revision is the stored revision that the request made, 0 if none was joined.
	Revision int64
}

// OK says whether the API server answered that the write was done.
func (r *Request) OK() bool { return r.Code >= 200 && r.Code < 300 }

// A joiner joins requests to the revisions they made.
type joiner struct {
	h        *snapshot.History
	requests []*Request
	// keys maps the request's object to its stored key.
	keys map[snapshot.Resource]string
}

func newJoiner(h *snapshot.History, requests []*Request) *joiner {
	j := &joiner{h: h, requests: requests, keys: map[snapshot.Resource]string{}}
	for _, k := range h.Keys() {
		if r, ok := h.Resource(k); ok {
			r.Group = ""
			j.keys[r] = k
		}
	}
	return j
}

// key is where the object of a request is stored, false if it is not.
func (j *joiner) key(r *Request) (string, bool) {
	k, ok := j.keys[snapshot.Resource{Resource: r.Resource, Namespace: r.Namespace, Name: r.Name}]
	return k, ok && r.Name != ""
}

// storedWrite is a revision of one key, with its predecessor.
type storedWrite struct {
	rev, prev int64
	version   int64
	tombstone bool
}

// writes lists the revisions of a key.
func (j *joiner) writes(key string) []storedWrite {
	var out []storedWrite
	var prev int64
	for _, i := range j.h.Key(key) {
		r := j.h.At(i)
		out = append(out, storedWrite{rev: r.Main, prev: prev, version: r.Version, tombstone: r.Tombstone})
		prev = r.Main
	}
	return out
}

// byPredecessor joins answered writes to revisions where the join is exact:
// the answer names the revision, or the request names the one it replaced, or
// the request created a name that lived only once.
//
// An update that changes nothing is answered with success and makes no revision,
// so several requests may name the same predecessor: the last of them is the one
// that replaced it, and it cannot have been over before the API server's own
// stamp in the revision.
func (j *joiner) byPredecessor(stamps []stamp) []stamp {
	own := map[int64]time.Time{}
	for _, s := range stamps {
		if s.writer == apiserverWriter && !s.tight {
			own[s.rev] = latest(own[s.rev], s.at)
		}
	}
	last := map[int64]*Request{}
	for _, r := range j.requests {
		key, ok := j.key(r)
		if !ok || !r.OK() {
			continue
		}
		rev := j.exact(r, key)
		if rev != 0 && !r.Completed.Before(own[rev]) && (last[rev] == nil || r.Completed.After(last[rev].Completed)) {
			last[rev] = r
		}
	}
	var out []stamp
	for rev, r := range last {
		r.Revision = rev
		out = append(out, requestStamp(r))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].rev < out[j].rev })
	return out
}

// exact is the revision that an answered write made, 0 if that is not certain.
func (j *joiner) exact(a *Request, key string) int64 {
	writes := j.writes(key)
	if n, err := strconv.ParseInt(a.ResponseResourceVersion, 10, 64); err == nil {
		for _, w := range writes {
			if w.rev == n {
				return n
			}
		}
	}
	if a.Verb == "update" {
		if n, err := strconv.ParseInt(a.ResourceVersion, 10, 64); err == nil && n > 0 {
			for _, w := range writes {
				if w.prev == n && !w.tombstone {
					return w.rev
				}
			}
		}
	}
	if a.Verb == "create" && a.Subresource == "" {
		var born []int64
		for _, w := range writes {
			if w.version == 1 {
				born = append(born, w.rev)
			}
		}
		if len(born) == 1 {
			return born[0]
		}
	}
	return 0
}

// byTime joins the remaining answered writes where exactly one unclaimed
// revision of the key can have been made within the request's span.
func (j *joiner) byTime(k *Clock) []stamp {
	claimed := map[int64]bool{}
	byKey := map[string][]*Request{}
	for _, r := range j.requests {
		if r.Revision != 0 {
			claimed[r.Revision] = true
			continue
		}
		if key, ok := j.key(r); ok && r.OK() {
			byKey[key] = append(byKey[key], r)
		}
	}
	names := make([]string, 0, len(byKey))
	for key := range byKey {
		names = append(names, key)
	}
	sort.Strings(names)
	var out []stamp
	for _, key := range names {
		out = append(out, joinKey(k, j.writes(key), byKey[key], claimed)...)
	}
	return out
}

// joinKey joins the requests of one key: a pair counts only if the request has
// one candidate and the revision one request.
func joinKey(k *Clock, writes []storedWrite, reqs []*Request, claimed map[int64]bool) []stamp {
	fits := func(a *Request, w storedWrite) bool {
		if claimed[w.rev] || w.tombstone != (a.Verb == "delete" || a.Verb == "deletecollection") {
			return false
		}
		from, to := a.Received, a.Completed
		_, lo, hi := k.At(w.rev)
		return !hi.Before(from) && !lo.After(to) || hi.IsZero() && !lo.After(to)
	}
	suitors := map[int64]int{}
	only := map[*Request]int64{}
	for _, a := range reqs {
		n := 0
		for _, w := range writes {
			if fits(a, w) {
				n++
				suitors[w.rev]++
				only[a] = w.rev
			}
		}
		if n != 1 {
			delete(only, a)
		}
	}
	var out []stamp
	for _, a := range reqs {
		if rev := only[a]; rev != 0 && suitors[rev] == 1 {
			a.Revision = rev
			out = append(out, requestStamp(a))
		}
	}
	return out
}

// requestStamp bounds the revision an answered write made by its span.
func requestStamp(r *Request) stamp {
	return stamp{rev: r.Revision, at: r.Received, until: r.Completed, writer: apiserverWriter, answered: true}
}
