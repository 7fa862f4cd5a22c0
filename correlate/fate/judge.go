package fate

import (
	"slices"
	"time"

	"etcd-autopsy/snapshot"
)

// judge knows which writes are whose.
type judge struct {
	h     *snapshot.History
	times Times
	// claimed are the revisions that answered requests made, taken the entries that
	// are joined to a request.
	claimed map[int64]bool
	taken   map[int]*Request
	// rivals are the answered requests of a key that are joined to no revision.
	rivals map[string][]*Request
	// logs is how far the raft logs reach.
	logs coverage
	// joined is what the requests that were answered with an error have become.
	joined map[*Request]outcome
}

func newJudge(h *snapshot.History, times Times, requests []*Request) *judge {
	j := &judge{h: h, times: times, claimed: map[int64]bool{}, taken: map[int]*Request{}, rivals: map[string][]*Request{}, joined: map[*Request]outcome{}}
	j.logs = newCoverage(h, times)
	for _, r := range requests {
		switch {
		case r.Revision != 0:
			j.claimed[r.Revision] = true
		case r.OK() && r.Key != "":
			j.rivals[r.Key] = append(j.rivals[r.Key], r)
		}
		if i, ok := h.EntryOfRequest(r.ID); ok {
			j.taken[i] = r
		}
	}
	j.assign(requests)
	return j
}

// assign joins the requests that failed to what they may have become, the earlier
// one first. What one has got the next cannot have.
func (j *judge) assign(requests []*Request) {
	order := slices.Clone(requests)
	slices.SortStableFunc(order, func(a, b *Request) int { return a.Received.Compare(b.Received) })
	for _, r := range order {
		if r.OK() || r.Revision != 0 || r.ID != 0 || r.Key == "" {
			continue
		}
		o := choose(j.candidates(r))
		j.joined[r] = o
		for _, i := range o.before {
			j.taken[i] = r
		}
		if o.found {
			j.take(r, o.candidate)
		}
	}
}

// take gives a candidate to a request.
func (j *judge) take(r *Request, c candidate) {
	if c.entry >= 0 {
		j.taken[c.entry] = r
	}
	if c.revision != 0 {
		j.claimed[c.revision] = true
	}
}

// candidate is a write of the request's key that it may have become.
type candidate struct {
	entry    int // -1 for a revision of which there is no entry
	revision int64
	state    snapshot.EntryState
	// contested is true for one that an answered request can have made.
	contested bool
	// race is true for one that was rejected for its precondition.
	race bool
	// sure is true where more than key and time join it: the precondition, or the
	// managed fields that the API server stamps for the request.
	sure bool
}

// candidates are the writes that the request may have become, in order.
func (j *judge) candidates(r *Request) []candidate {
	var out []candidate
	for _, i := range j.h.EntriesOf(r.Key) {
		e := j.h.Entry(i)
		if j.taken[i] != nil || e.Revision != 0 && j.claimed[e.Revision] || !compatible(r, e.Verb) {
			continue
		}
		if r.Expected > 0 && r.Verb == "update" && e.Expected != r.Expected {
			continue
		}
		from, to := j.span(i, &e)
		if !j.fits(r, from, to, true) {
			continue
		}
		c := candidate{entry: i, revision: e.Revision, state: e.State, race: e.Reason == "compare-failed"}
		c.sure = r.Expected > 0 && r.Verb == "update" || j.stamped(r, i)
		c.contested = j.contested(r, i, &e)
		if j.fits(r, from, to, c.sure) {
			out = append(out, c)
		}
	}
	return prefer(append(out, j.stored(r)...))
}

// stored are the revisions of the key of which there is no entry. Nothing but the
// request's own stamp joins them.
func (j *judge) stored(r *Request) []candidate {
	var out []candidate
	all := j.h.Key(r.Key)
	for n, i := range all {
		x := j.h.At(i)
		if x.WAL || x.Tombstone || j.claimed[x.Main] || n == 0 && r.Verb != "create" {
			continue
		}
		before := -1
		if n > 0 {
			before = all[n-1]
		}
		_, lo, hi := j.times.At(x.Main)
		if j.fits(r, lo, hi, true) && j.wrote(r, i, before) {
			out = append(out, candidate{entry: -1, revision: x.Main, state: snapshot.EntryApplied, sure: true})
		}
	}
	return out
}

// fits says whether a write that was made between two moments can be the
// request's: it is stored after it was received, and not long after it was
// answered. sure allows more.
func (j *judge) fits(r *Request, from, to time.Time, sure bool) bool {
	if !to.IsZero() && to.Before(r.Received.Add(-slack)) {
		return false
	}
	most := late
	if sure {
		most = latest
	}
	return from.IsZero() || !from.After(r.Completed.Add(most))
}

// span bounds when an entry was applied, or where it was lost when it was written.
func (j *judge) span(i int, e *snapshot.Entry) (from, to time.Time) {
	if e.At != 0 {
		_, from, _ = j.times.At(e.At)
		if e.Revision != 0 {
			_, _, to = j.times.At(e.Revision)
		} else {
			_, _, to = j.times.At(e.At + 1)
		}
		return from, to
	}
	for n := i - 1; n >= 0; n-- {
		if b := j.h.Entry(n); b.At != 0 && b.Index < e.Index {
			_, from, _ = j.times.At(b.At)
			break
		}
	}
	for n := i + 1; n < j.h.Entries(); n++ {
		if a := j.h.Entry(n); a.At != 0 && a.Index >= e.Index {
			_, _, to = j.times.At(a.At + 1)
			break
		}
	}
	return from, to
}

// prefer keeps those that are not contested, if there are any, and of those the
// sure ones, if there are any.
func prefer(list []candidate) []candidate {
	if slices.ContainsFunc(list, func(c candidate) bool { return !c.contested }) {
		list = slices.DeleteFunc(list, func(c candidate) bool { return c.contested })
	}
	if !slices.ContainsFunc(list, func(c candidate) bool { return c.sure }) {
		return list
	}
	return slices.DeleteFunc(list, func(c candidate) bool { return !c.sure })
}

// contested says whether a request that was answered with success, and of which
// it is not known what it wrote, can have made an entry that took effect: then it
// is that one's.
func (j *judge) contested(r *Request, i int, e *snapshot.Entry) bool {
	if e.State == snapshot.EntryRejected || e.State == snapshot.EntryLost {
		return false
	}
	from, to := j.span(i, e)
	for _, other := range j.rivals[r.Key] {
		before := !to.IsZero() && to.Before(other.Received.Add(-slack))
		after := !from.IsZero() && from.After(other.Completed.Add(slack))
		if before || after || !compatible(other, e.Verb) || other.Verb == "update" && other.Expected > 0 && other.Expected != e.Expected {
			continue
		}
		if e.Verb == "delete" || j.stamped(other, i) {
			return true
		}
	}
	return false
}

// outcome is what a request has become.
type outcome struct {
	candidate
	found  bool  // there is one
	before []int // entries of the same request that were rejected
	many   int   // how many candidates there are, where it cannot be told which
}

// choose finds what a request became of the candidates, which are in order. An API
// server that loses a race reads again and tries again, so one write may stand
// behind several that were rejected for their precondition; what is rejected for
// another reason is not tried again.
func choose(list []candidate) (o outcome) {
	var done []candidate
	for _, c := range list {
		if c.state != snapshot.EntryRejected {
			done = append(done, c)
		}
	}
	switch {
	case len(list) == 0:
		return o
	case list[0].contested: // all are, then
		return outcome{many: len(list)}
	case len(done) > 1:
		return outcome{many: len(done)}
	case len(done) == 1:
		o.candidate = done[0]
	case list[0].race:
		last := 0
		for last+1 < len(list) && list[last+1].race {
			last++
		}
		o.candidate = list[last]
	default:
		o.candidate = list[0]
	}
	o.found = true
	for _, c := range list {
		if c.race && c.entry >= 0 && c.entry < o.entry {
			o.before = append(o.before, c.entry)
		}
	}
	return o
}

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
