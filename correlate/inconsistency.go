package correlate

import (
	"fmt"
	"slices"

	"etcd-autopsy/snapshot"
)

// maxDivergences is how many differing revisions an episode cites.
const maxDivergences = 3

// A divergence is a pair of sides that do not hold the same: stores of one cluster
// that agree among themselves and contradict the other side.
type divergence struct {
	// one holds what most do where that can be told, other what differs from it.
	one, other []int
	// odd is true if members outnumber a single one: then other is that one.
	odd bool
	// list are the contradictions of one store of a side, the first is where they
	// diverge.
	list []snapshot.Inconsistency
}

// divergences finds the sides of all contradictions, each pair of sides once. Two
// copies of one member's database that differ are a matter of copying, and no side.
func (c *Case) divergences(m *members) []*divergence {
	var out []*divergence
	seen := map[string]bool{}
	by := map[int]*divergence{}
	for _, x := range c.hist.Inconsistencies() {
		if d := by[x.StoreB]; d != nil {
			d.list = append(d.list, x)
			continue
		}
		d := &divergence{one: x.LikeA, other: x.LikeB, list: []snapshot.Inconsistency{x}}
		by[x.StoreB] = d
		a, b := c.ownersOf(d.one, m), c.ownersOf(d.other, m)
		sides := fmt.Sprint(x.Main, x.Sub, x.Missing, d.one, d.other)
		if seen[sides] || len(a) == 1 && slices.Equal(a, b) {
			continue
		}
		seen[sides] = true
		if !x.Missing && len(a) == 1 && len(b) > 1 {
			d.one, d.other, a, b = d.other, d.one, b, a
		}
		d.odd = len(b) == 1 && len(a) > 1
		out = append(out, d)
	}
	return out
}

// memberInconsistencies are the contradictions between members as episodes: open,
// for nothing repairs them by itself.
func (c *Case) memberInconsistencies(m *members) []*episode {
	var out []*episode
	for _, d := range c.divergences(m) {
		first := d.list[0]
		e := &episode{
			kind: "member-inconsistency", open: true, end: c.logEnd(), text: c.divergenceText(d, m), sides: d,
			why: "what a client reads depends on the member that answers it",
		}
		if e.start = c.storeClock(first.StoreA).AtOrAfter(first.Main); e.start.IsZero() {
			e.start = e.end
		}
		e.members = c.ownersOf(d.other, m)
		if !d.odd {
			e.members = c.ownersOf(append(slices.Clone(d.one), d.other...), m)
		}
		e.cites = c.divergenceCites(d)
		out = append(out, e)
	}
	return out
}

// divergenceText says who differs from whom, in what, and from where on.
func (c *Case) divergenceText(d *divergence, m *members) string {
	who := "Members of etcd"
	if len(c.ownersOf(d.one, m)) == 0 || len(c.ownersOf(d.other, m)) == 0 {
		who = "Stores of one cluster"
	}
	how := "in %s, other than in %s"
	if d.list[0].Missing {
		how = "missing in %s, and held by %s"
	}
	text := who + " do not hold the same: " + fmt.Sprintf(how, list(c.storeLabels(d.other)), list(c.storeLabels(d.one))) + ", " + d.extent()
	if !d.odd && !d.list[0].Missing {
		text += ". The stores do not tell which of the two is right"
	}
	if len(d.list) == 1 {
		text += ". Bytes that went bad on a disk look the same"
	}
	return text
}

// extent says how much differs, and what first.
func (d *divergence) extent() string {
	keys := map[string]bool{}
	for _, x := range d.list {
		keys[x.Key] = true
	}
	many := ""
	if len(d.list) >= snapshot.MaxListed {
		many = "at least "
	}
	x := d.list[0]
	text := fmt.Sprintf("%s%s of %s, the first at revision %d of key %s", many, count(len(d.list), "revision"), count(len(keys), "key"), x.Main, x.Key)
	if x.OtherKey != "" {
		text += fmt.Sprintf(" in one and of key %s in the other", x.OtherKey)
	}
	return text
}

// divergenceCites cites the first differing revisions in a store of each side.
func (c *Case) divergenceCites(d *divergence) []*cite {
	var out []*cite
	for _, x := range d.list[:min(len(d.list), maxDivergences)] {
		out = append(out, storeCite(x.StoreA, x.Main, x.Key, "what %s holds at revision %d", c.storeLabel(x.StoreA), x.Main))
		key, what := x.Key, "holds other bytes"
		switch {
		case x.Missing:
			what = "has no such record"
		case x.OtherKey != "":
			key, what = x.OtherKey, "holds another key"
		}
		out = append(out, storeCite(x.StoreB, x.Main, key, "%s %s at revision %d", c.storeLabel(x.StoreB), what, x.Main))
	}
	return out
}

// divergentAt is the first contradiction about one of some keys, and its episode;
// nil if the members hold the same there.
func (j *judge) divergentAt(keys map[string]bool) (*episode, *snapshot.Inconsistency) {
	for _, e := range j.eps {
		if e.sides == nil {
			continue
		}
		for i := range e.sides.list {
			if x := &e.sides.list[i]; keys[x.Key] || keys[x.OtherKey] {
				return e, x
			}
		}
	}
	return nil, nil
}

// withInconsistency adds to a ruling that the members differ in the objects of the
// rollout itself. That shows a way in which the stall can have come about, but not
// that it did: never more than a possible part.
func (j *judge) withInconsistency(a *attempt, s *stall, r ruling) ruling {
	e, x := j.divergentAt(a.keys())
	if e == nil || e.start.After(s.to) {
		return r
	}
	if r.main == nil {
		r.candidates = slices.Concat(r.candidates, []Candidate{{e.kind, Possible}})
		return r
	}
	if r.main.cause != e.kind {
		text := fmt.Sprintf("Members of etcd hold different things at revision %d, of key %s, which is of this rollout: controllers that read from different members saw different states", x.Main, x.Key)
		r.more = append(r.more, &suspect{cause: e.kind, role: RoleContributing, rule: "C-" + e.kind, confidence: Possible, text: text, cites: e.cites})
	}
	return r
}

// keys are those of the rollout's own objects: its Deployment, ReplicaSet and pods.
func (a *attempt) keys() map[string]bool {
	keys := map[string]bool{a.life.key: true}
	if a.set != nil {
		keys[a.set.key] = true
	}
	for _, p := range a.pods {
		keys[p.pod.key] = true
	}
	return keys
}

// integrityKind says whether an episode is about the stores' content, not about a
// time in which something did not work.
func integrityKind(kind string) bool {
	return kind == "member-inconsistency" || kind == "restore-rewind" || kind == "corruption"
}
