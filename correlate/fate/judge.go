package fate

import (
	"slices"
	"time"

	"etcd-autopsy/snapshot"
)

// judge knows which writes are whose.
type judge struct {
	h     *snapshot.History
	spans *spans
	keys  map[string]*keyWrites
	// claimed are the revisions that answered requests made, taken the entries whose
	// request a log names.
	claimed map[int64]*Request
	taken   map[int]*Request
	// rivals are the answered requests of a key that are joined to no revision.
	rivals map[string]*rivals
	// logs is how far the raft logs reach.
	logs coverage
	// joined is what the requests that were answered with an error have become.
	joined map[*Request]*outcome
}

func newJudge(h *snapshot.History, times Times, requests []*Request) *judge {
	j := &judge{h: h, spans: newSpans(h, times), keys: map[string]*keyWrites{}, claimed: map[int64]*Request{}, taken: map[int]*Request{},
		rivals: map[string]*rivals{}, joined: map[*Request]*outcome{}}
	j.logs = newCoverage(h, times)
	for _, r := range requests {
		if r.Revision != 0 {
			j.claimed[r.Revision] = r
		}
		if i, ok := h.EntryOfRequest(r.ID); ok {
			j.taken[i] = r
		}
	}
	j.assign(requests)
	return j
}

// assign joins the requests that failed to what they may have become.
func (j *judge) assign(requests []*Request) {
	var failed []*Request
	keys := map[string]bool{}
	for _, r := range requests {
		if !r.OK() && r.Revision == 0 && r.ID == 0 && r.Key != "" && !r.Received.IsZero() {
			failed = append(failed, r)
			keys[r.Key] = true
		}
	}
	if len(failed) == 0 {
		return
	}
	j.answered(requests, keys)
	slices.SortStableFunc(failed, func(a, b *Request) int { return a.Received.Compare(b.Received) })
	for _, r := range failed {
		o := &outcome{sure: j.candidates(r)}
		j.joined[r] = o
		for _, w := range o.sure {
			w.suitors = append(w.suitors, r)
		}
	}
	for _, r := range failed {
		if o := j.joined[r]; j.writes(r.Key).crowded {
			o.many = crowded
		} else {
			j.choose(r, o)
		}
	}
	for _, r := range failed {
		if o := j.joined[r]; o.write == nil && o.many == 0 {
			o.open = j.openWrites(r)
		}
	}
}

// answered sorts the answered requests of the keys: what they are joined to is
// theirs, unless the write's own stamps say that it is of another request. The
// others are rivals.
func (j *judge) answered(requests []*Request, keys map[string]bool) {
	for _, r := range requests {
		if !r.OK() || !keys[r.Key] {
			continue
		}
		if r.Revision != 0 {
			w := j.writes(r.Key).ofRevision(r.Revision)
			if w == nil || r.Expected > 0 || j.writes(r.Key).tie(r, w) != foreign {
				continue
			}
			delete(j.claimed, r.Revision)
		}
		if j.rivals[r.Key] == nil {
			j.rivals[r.Key] = &rivals{}
		}
		j.rivals[r.Key].list = append(j.rivals[r.Key].list, r)
	}
	for _, x := range j.rivals {
		x.sort()
	}
}

// writes are those of a key.
func (j *judge) writes(key string) *keyWrites {
	k := j.keys[key]
	if k == nil {
		k = newKeyWrites(j.h, key, j.spans)
		j.keys[key] = k
	}
	return k
}

// free says whether a write is not known to be another request's.
func (j *judge) free(w *write) bool {
	return w.owner == nil && (w.entry < 0 || j.taken[w.entry] == nil) && (w.revision == 0 || j.claimed[w.revision] == nil)
}

// slack is how far times of the API server and the bounds of revisions may lie
// apart.
const slack = 300 * time.Millisecond

// most is how many writes may be candidates of one request: of more it cannot be told
// which is whose.
const most = 50

// candidates are the writes that more than object and time join to the request, in
// order.
func (j *judge) candidates(r *Request) []*write {
	k := j.writes(r.Key)
	if len(k.list) == 0 || k.crowded || answerOf(r).proposes == nothing {
		return nil
	}
	matches, all := k.stampIndex().matches(r)
	var list []*write
	for _, w := range matches {
		after := w.to.IsZero() || !w.to.Before(r.Received.Add(-slack))
		if after && j.free(w) && r.may(w) && k.tie(r, w) == sure {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b *write) int { return a.place - b.place })
	list = slices.Compact(list)
	if !all || len(list) > most {
		k.crowded = true
		return nil
	}
	// What an answered request can have made is that one's, if there is another.
	if slices.ContainsFunc(list, func(w *write) bool { return !w.race && !j.contested(r.Key, w) }) {
		list = slices.DeleteFunc(list, func(w *write) bool { return j.contested(r.Key, w) })
	}
	return list
}

// may says whether the answer to a request allows a write to be its own.
func (r *Request) may(w *write) bool {
	return answerOf(r).proposes == anything || w.state == snapshot.EntryRejected
}

// latest is how long after its answer a write is looked for that nothing but its
// object joins to the request: a proposal waits for as long as there is no quorum.
const latest = 10 * time.Minute

// openWrites counts the writes that nothing but the object joins to the request,
// and nothing speaks against: 0, 1 or 2 for more.
func (j *judge) openWrites(r *Request) int {
	a := answerOf(r)
	if a.proposes != anything {
		return 0
	}
	until := r.end().Add(latest)
	if a.fate != Unknown { // etcd refused it when it had applied it
		until = r.end().Add(slack)
	}
	k := j.writes(r.Key)
	n := 0
	k.undecided(r).between(r.Received.Add(-slack), until, func(w *write) bool {
		if j.free(w) && k.tie(r, w) != foreign && (a.fate == Unknown || w.effective()) {
			n++
		}
		return n < 2
	})
	return n
}
