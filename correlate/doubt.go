package correlate

import (
	"fmt"
	"slices"

	"etcd-autopsy/snapshot"
)

// castDoubt lowers claims to possible when stores contradict each other
// (incidents.md 2.4: integrity first). Where they are of one cluster, or it is a
// toss-up which of several clusters is meant, that is every claim. Where most
// stores are of one cluster and others are of another one, the objects are still
// those of one, but logs cannot be told to belong to it: then it is what rests on
// logs. What is said of the contradiction itself stands.
func (c *Case) castDoubt(a *Analysis) {
	why, all := c.doubt()
	if why == "" {
		return
	}
	logged := loggedEvidence(a)
	doubted := func(ids []string) bool {
		return all || slices.ContainsFunc(ids, func(id string) bool { return logged[id] })
	}
	lowered := false
	for i := range a.Rollouts {
		r := &a.Rollouts[i]
		for k := range r.Findings {
			if f := &r.Findings[k]; doubted(f.Evidence) {
				lower(&f.Confidence)
			}
		}
		for k := range r.Stalls {
			s := &r.Stalls[k]
			if !doubted(s.Evidence) {
				continue
			}
			lower(&s.Confidence)
			if v := &a.Verdict; v.Rollout != nil && *v.Rollout == r.ID && v.Stage != nil && *v.Stage == s.Stage {
				lowered = true
			}
		}
	}
	v := &a.Verdict
	switch {
	case v.Episode != nil && integrityKind(*v.Cause):
		return
	case v.Episode != nil || all || lowered:
		lower(&v.Confidence)
	case len(logged) == 0:
		return
	}
	v.Text += " " + why
}

// loggedEvidence are the IDs of the evidence that is from logs.
func loggedEvidence(a *Analysis) map[string]bool {
	ids := map[string]bool{}
	for _, e := range a.Evidence {
		if e.Line > 0 {
			ids[e.ID] = true
		}
	}
	return ids
}

// doubt is a sentence about the first contradiction between stores, "" for none;
// all is true if it casts doubt on everything, false if on logs only.
func (c *Case) doubt() (why string, all bool) {
	stores := c.hist.Stores()
	for _, x := range c.hist.Conflicts() {
		if s := &stores[x.StoreB]; !s.Foreign || !s.EventsOnly && !c.outnumbered() {
			return c.contradiction(x), true
		}
	}
	for _, s := range stores {
		if s.Foreign && !s.EventsOnly {
			return fmt.Sprintf("A store of another cluster is among the inputs (%s), and logs may be of either, so what rests on logs is no more than possible. Give the evidence of one cluster at a time.", join(s.Input, s.Path)), false
		}
	}
	return "", false
}

// outnumbered says whether the stores of the history are more than those of other
// clusters.
func (c *Case) outnumbered() bool {
	own, foreign := 0, 0
	for _, s := range c.hist.Stores() {
		switch {
		case s.Foreign && !s.EventsOnly:
			foreign++
		case s.Rejected == "" && s.Records > 0:
			own++
		}
	}
	return own > foreign
}

// contradiction is a sentence about stores of which nobody knows who is right.
func (c *Case) contradiction(x snapshot.Conflict) string {
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
	return "The stores contradict each other (" + differs + "), so no more than possible: they are of different clusters, or one is damaged. Give the evidence of one cluster at a time."
}

// lower caps a confidence; none stays none.
func lower(c *Confidence) {
	if *c != "" {
		*c = Possible
	}
}
