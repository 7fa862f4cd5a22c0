package correlate

import (
	"iter"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// WriteRow is a line of `writes` (contract.md 3): a write request that logs or the
// raft log show, and what became of it.
type WriteRow struct {
	Write
	// Evidence is what the fate rests on.
	Evidence []Evidence `json:"evidence"`
	// Attempted is the object that the request would have stored, where it was
	// rejected, was lost, or nobody knows; Secret values are masked. It is only set
	// on request.
	Attempted map[string]any `json:"attempted,omitempty"`
}

// WriteQuery says which writes to list.
type WriteQuery struct {
	// Failed leaves out what was answered with success and landed.
	Failed bool
	// Attempted asks for the objects of writes that did not land.
	Attempted bool
	_         struct{}
}

// Writes lists the write requests within the options' limits in order of time:
// those that logs show, and the raft entries that no log shows.
func (c *Case) Writes(q WriteQuery) iter.Seq[WriteRow] {
	return func(yield func(WriteRow) bool) {
		members := c.clusterMembers()
		keys := c.workloadKeys()
		red := newRedactor()
		for _, w := range c.allWrites(q) {
			if keys != nil && !keys[w.Key] || !c.inNamespace(w) {
				continue
			}
			row := WriteRow{Write: c.writeRow(w, members), Evidence: []Evidence{}}
			if !c.inWindow(row.Time) {
				continue
			}
			b := newBook(c)
			b.add(c.writeCites(w))
			row.Evidence = append(row.Evidence, b.list...)
			if q.Attempted && w.Fate != FateLanded && w.Entry >= 0 {
				row.Attempted = c.attempted(w.Entry, red)
			}
			row.Write.Evidence = nil
			red.all(reflect.ValueOf(&row))
			if !yield(row) {
				return
			}
		}
	}
}

// allWrites are the requests that logs show and those of the entries that no log
// shows, in order of time.
func (c *Case) allWrites(q WriteQuery) []*writeRequest {
	all := slices.Clone(c.writes)
	shown := map[int]bool{}
	for _, w := range c.writes {
		shown[w.Entry] = true
		for _, i := range w.Before {
			shown[i] = true
		}
	}
	var only []int
	for i := range c.hist.Entries() {
		if e := c.hist.Entry(i); e.Verb != "" && !shown[i] && !(q.Failed && e.Revision != 0) {
			only = append(only, i)
		}
	}
	for _, w := range c.entryRequests(only) {
		if at := c.hist.Entry(w.Entry).At; at != 0 {
			w.Received = c.clock.Time(at)
		}
		all = append(all, w)
	}
	if q.Failed {
		all = slices.DeleteFunc(all, func(w *writeRequest) bool { return !w.failed() })
	}
	slices.SortStableFunc(all, func(a, b *writeRequest) int { return a.Received.Compare(b.Received) })
	return all
}

// inNamespace says whether a write is within the namespace that is asked for.
func (c *Case) inNamespace(w *writeRequest) bool {
	if c.opts.Namespace == "" {
		return true
	}
	if w.audit != nil {
		return w.audit.Namespace == c.opts.Namespace
	}
	if len(w.traces) > 0 {
		return w.traces[0].namespace == c.opts.Namespace
	}
	r, ok := c.hist.Resource(w.Key)
	return ok && r.Namespace == c.opts.Namespace
}

// attempted is the object that an entry would have stored, nil if it cannot be
// decoded.
func (c *Case) attempted(i int, red *redactor) map[string]any {
	o, err := c.hist.EntryObject(i)
	if err != nil {
		return nil
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil
	}
	return red.object(m)
}
