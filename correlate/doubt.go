package correlate

import "fmt"

// castDoubt lowers every claim to possible when the stores contradict each other:
// they are of different clusters, or of members that went apart, and logs cannot
// be told to belong to one of them (incidents.md 2.4: integrity first).
func (c *Case) castDoubt(a *Analysis) {
	conflicts := c.hist.Conflicts()
	if len(conflicts) == 0 {
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
	lower(&a.Verdict.Confidence)
	x := conflicts[0]
	stores := c.hist.Stores()
	a.Verdict.Text += fmt.Sprintf(" The stores contradict each other (revision %d differs between %s and %s), so no more than possible: they are of different clusters, or members went apart. Give the evidence of one cluster at a time.",
		x.Main, join(stores[x.StoreA].Input, stores[x.StoreA].Path), join(stores[x.StoreB].Input, stores[x.StoreB].Path))
}

// lower caps a confidence; none stays none.
func lower(c *Confidence) {
	if *c != "" {
		*c = Possible
	}
}
