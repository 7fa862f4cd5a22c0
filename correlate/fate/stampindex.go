package fate

import (
	"slices"
	"sort"
	"time"
)

// stampIndex finds the writes of a key by what joins them to a request.
type stampIndex struct {
	byManager  map[string][]stampedWrite
	byExpected map[int64][]*write
	renewals   []stampedWrite
	removals   []stampedWrite
	// loose are the writes whose stamps do not say whose they are.
	loose window
	// skewed is true for a Lease whose holder's clock is off: most of its renewals
	// disagree with the API server's clock.
	skewed bool
}

// stampedWrite is a write with one of its stamps.
type stampedWrite struct {
	at    time.Time
	write *write
}

// newStampIndex makes the index; it decodes every write of the key once.
func (k *keyWrites) newStampIndex() *stampIndex {
	x := &stampIndex{byManager: map[string][]stampedWrite{}, byExpected: map[int64][]*write{}}
	off := 0
	for _, w := range k.list {
		m := k.marksOf(w)
		for _, f := range m.fields {
			x.byManager[f.manager] = append(x.byManager[f.manager], stampedWrite{f.at, w})
		}
		if w.expected != 0 {
			x.byExpected[w.expected] = append(x.byExpected[w.expected], w)
		}
		if !m.known || !m.managed || m.carried || !m.renewed.IsZero() {
			x.loose.list = append(x.loose.list, w)
		}
		if !m.marked.IsZero() {
			x.removals = append(x.removals, stampedWrite{m.marked, w})
		}
		if !m.renewed.IsZero() {
			x.renewals = append(x.renewals, stampedWrite{m.renewed, w})
			if m.off(w) {
				off++
			}
		}
	}
	for _, list := range x.byManager {
		byTime(list)
	}
	byTime(x.renewals)
	byTime(x.removals)
	x.loose.bound()
	x.skewed = 2*off > len(x.renewals)
	return x
}

// off says whether a renewal's stamp and the API server's clock disagree: that of
// its managed fields, or else what bounds the write.
func (m *marks) off(w *write) bool {
	for _, f := range m.fields { // cut to the second
		if m.renewed.Sub(f.at) > renewal+time.Second || f.at.Sub(m.renewed) > renewal {
			return true
		}
	}
	if len(m.fields) > 0 {
		return false
	}
	return w.from.After(m.renewed.Add(renewal)) || !w.to.IsZero() && w.to.Before(m.renewed.Add(-renewal))
}

func byTime(list []stampedWrite) {
	slices.SortStableFunc(list, func(a, b stampedWrite) int { return a.at.Compare(b.at) })
}

// crowd is how many writes are looked at for one request.
const crowd = 5000

// matches are the writes that may surely be of a request by its stamps or its
// precondition: those that keyWrites.tie has to look at. all is false if there are
// more than a crowd.
func (x *stampIndex) matches(r *Request) (list []*write, all bool) {
	all = true
	add := func(from []stampedWrite, lo, hi time.Time) {
		i := sort.Search(len(from), func(i int) bool { return !from[i].at.Before(lo) })
		for ; i < len(from) && !from[i].at.After(hi) && all; i++ {
			list = append(list, from[i].write)
			all = len(list) <= crowd
		}
	}
	if r.named() {
		list = append(append(list, x.byExpected[r.Expected]...), x.byExpected[-1]...)
		return list, len(list) <= crowd
	}
	lo := r.Received.Truncate(time.Second)
	add(x.renewals, r.Received.Add(-renewal), r.Received.Add(renewal))
	if r.Verb == "delete" {
		add(x.removals, lo, r.end())
	} else {
		add(x.byManager[r.Manager], lo, r.end())
	}
	return list, all
}

// undecided are the writes that the stamps may leave open for a request.
func (k *keyWrites) undecided(r *Request) *window {
	x := k.stampIndex()
	switch {
	case r.named():
		w := &window{list: append(append([]*write(nil), x.byExpected[r.Expected]...), x.byExpected[-1]...)}
		w.bound()
		return w
	case r.Verb == "delete" || r.Manager != "" && r.stamps():
		return &x.loose
	}
	return &k.window
}
