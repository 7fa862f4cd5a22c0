package fate

import (
	"slices"
	"sort"
	"time"
)

// outcome is what a failed request has become.
type outcome struct {
	// sure are the writes that it may be for more than their object and time.
	sure []*write
	// write is the one it became, nil if there is none; before are entries of the
	// same request that were rejected.
	write  *write
	before []int
	// many is how many writes it could be, where that cannot be told, or crowded, and
	// shared says that other requests could have made them too.
	many   int
	shared bool
	// open counts the writes that nothing but object and time join to it.
	open int
}

// crowded is outcome.many of the requests for an object that has more writes at one
// time than can be told apart.
const crowded = -1

// choose finds what a request became. An API server that loses a race reads again
// and tries again, so one write may stand behind several that were rejected for
// their precondition; what is rejected for another reason is not tried again.
func (j *judge) choose(r *Request, o *outcome) {
	var done, races []*write
	for _, w := range o.sure {
		if w.race {
			races = append(races, w)
		} else {
			done = append(done, w)
		}
	}
	own := slices.DeleteFunc(slices.Clone(races), func(w *write) bool { return len(w.suitors) > 1 })
	switch {
	case slices.ContainsFunc(done, func(w *write) bool { return j.contested(r.Key, w) }):
		o.many, o.shared = len(done), true
	case len(done) > 0:
		if o.write = inTurn(r, done); o.write == nil {
			o.many, o.shared = len(done), slices.ContainsFunc(done, func(w *write) bool { return len(w.suitors) > 1 })
		}
	case len(own) < len(races):
		o.many, o.shared = len(races), true
	case len(races) > 0:
		o.write = races[len(races)-1]
	}
	if o.write == nil {
		return
	}
	o.write.owner = r
	for _, w := range own {
		if w != o.write && w.entry >= 0 && w.place < o.write.place {
			w.owner = r
			o.before = append(o.before, w.entry)
		}
	}
}

// inTurn is the write of a request that alone can have made it. Where several
// requests, one after the other, can have made as many writes, each has its own in
// turn; else nil.
func inTurn(r *Request, done []*write) *write {
	all := done[0].suitors
	if len(all) != len(done) {
		return nil
	}
	for i, q := range all {
		if i > 0 && all[i-1].end().After(q.Received) {
			return nil
		}
	}
	for _, w := range done {
		if !slices.Equal(w.suitors, all) {
			return nil
		}
	}
	return done[slices.Index(all, r)]
}

// contested says whether a request that was answered with success, and of which it
// is not known what it wrote, can have made a write of a key.
func (j *judge) contested(key string, w *write) bool {
	if w.contested == 0 {
		w.contested = 1
		x := j.rivals[key]
		if x != nil && w.effective() && x.any(w, func(r *Request) bool { return j.writes(key).tie(r, w) != foreign }) {
			w.contested = 2
		}
	}
	return w.contested == 2
}

// rivals are answered requests of one key that are joined to no revision, in order
// of arrival.
type rivals struct {
	list []*Request
	// highest is for each when it or one before it ended.
	highest []time.Time
}

func (x *rivals) sort() {
	slices.SortStableFunc(x.list, func(a, b *Request) int { return a.Received.Compare(b.Received) })
	var high time.Time
	for _, r := range x.list {
		if r.end().After(high) {
			high = r.end()
		}
		x.highest = append(x.highest, high)
	}
}

// any says whether a condition holds for one of those during which a write may have
// been applied.
func (x *rivals) any(w *write, holds func(*Request) bool) bool {
	i := 0
	if !w.from.IsZero() {
		i = sort.Search(len(x.list), func(i int) bool { return !x.highest[i].Before(w.from.Add(-slack)) })
	}
	for ; i < len(x.list); i++ {
		r := x.list[i]
		if !w.to.IsZero() && r.Received.After(w.to.Add(slack)) {
			return false
		}
		if (w.from.IsZero() || !r.end().Before(w.from.Add(-slack))) && holds(r) {
			return true
		}
	}
	return false
}
