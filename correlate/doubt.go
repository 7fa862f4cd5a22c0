package correlate

import (
	"fmt"
	"slices"

	"etcd-autopsy/snapshot"
)

// castDoubt lowers every claim to possible when stores contradict each other: the
// history is then one of several, and logs cannot be told to belong to it
// (incidents.md 2.4: integrity first). What is said of the contradiction itself
// stands.
func (c *Case) castDoubt(a *Analysis) {
	why := c.doubt()
	if why == "" {
		return
	}
	for i := range a.Rollouts {
		r := &a.Rollouts[i]
		for k := range r.Findings {
			lower(&r.Findings[k].Confidence)
		}
		for k := range r.Stalls {
			lower(&r.Stalls[k].Confidence)
		}
	}
	if v := &a.Verdict; v.Episode == nil || !integrityKind(*v.Cause) {
		lower(&v.Confidence)
		v.Text += " " + why
	}
}

// doubt is a sentence about the first contradiction between stores, "" for none.
func (c *Case) doubt() string {
	conflicts := c.hist.Conflicts()
	if len(conflicts) == 0 {
		return ""
	}
	x := conflicts[0]
	stores := c.hist.Stores()
	differs := fmt.Sprintf("revision %d differs between %s and %s", x.Main,
		join(stores[x.StoreA].Input, stores[x.StoreA].Path), join(stores[x.StoreB].Input, stores[x.StoreB].Path))
	for _, i := range c.hist.Inconsistencies() {
		if i.StoreB == x.StoreB {
			return "Stores of the cluster contradict each other (" + differs + "), and this rests on one of the two, so no more than possible."
		}
	}
	if slices.ContainsFunc(c.hist.Rewinds(), func(r snapshot.Rewind) bool { return r.Other >= 0 && (r.Store == x.StoreB || r.Other == x.StoreB) }) {
		return "The stores show two lines of one history (" + differs + "), one of them after a restore, and this rests on one of the two, so no more than possible."
	}
	return "The stores contradict each other (" + differs + "), so no more than possible: they are of different clusters. Give the evidence of one cluster at a time."
}

// lower caps a confidence; none stays none.
func lower(c *Confidence) {
	if *c != "" {
		*c = Possible
	}
}
