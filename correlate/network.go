package correlate

import (
	"fmt"
	"slices"
	"time"
)

// unreachable is a time in which one member could not reach another that was at work.
type unreachable struct {
	by, peer string
	from, to time.Time
	cites    []*cite
}

// unreachables finds them: a member's log says that the peer became inactive, while
// the peer's own log shows it at work in between and no restart of it. A peer whose
// log is not among the inputs may as well have been down.
func (c *Case) unreachables(m *members) []*unreachable {
	var out []*unreachable
	for _, id := range m.ids {
		open := map[string]*unreachable{}
		for _, b := range c.peerChanges(id) {
			by := memberOf(b)
			u := open[by]
			switch {
			case b.sig == "etcd-peer-inactive" && u == nil:
				open[by] = &unreachable{by: by, peer: id, from: b.first.at, to: c.logEnd(), cites: []*cite{lineCite(b.first)}}
			case b.sig == "etcd-peer-active" && u != nil:
				u.to, u.cites = b.first.at, append(u.cites, lineCite(b.first))
				out = append(out, u)
				delete(open, by)
			}
		}
		for _, by := range sortedKeys(open) {
			out = append(out, open[by])
		}
	}
	return slices.DeleteFunc(out, func(u *unreachable) bool {
		return !c.alive(u.peer, u.from, u.to) || !c.alive(u.by, u.from, u.to) || c.slowFsync(u.peer, u.from, u.to) || c.slowFsync(u.by, u.from, u.to)
	})
}

// alive says whether a member's log shows it at work within an interval, and not
// starting.
func (c *Case) alive(id string, from, to time.Time) bool {
	works := false
	for _, l := range c.logs {
		if l == nil || l.id.MemberID != id {
			continue
		}
		for _, s := range l.starts {
			if s.at.After(from.Add(-time.Second)) && !s.at.After(to.Add(time.Second)) {
				return false
			}
		}
		works = works || l.wroteBetween(from.Add(time.Second), to.Add(-time.Second))
	}
	return works
}

// networkFaults tells a partition (two members lose each other while both live) from
// a slow or flapping network (one side loses the other again and again, or cannot
// send).
func (c *Case) networkFaults(m *members) []*episode {
	all := c.unreachables(m)
	var out []*episode
	used := map[*unreachable]bool{}
	for _, u := range all {
		for _, v := range all {
			if u.by < v.by && u.by == v.peer && v.by == u.peer && near(u.from, u.to, v.from, v.to, 0) {
				used[u], used[v] = true, true
				out = append(out, c.partition(u, v, m))
			}
		}
	}
	for _, u := range all {
		if used[u] {
			continue
		}
		if e := c.slowNetwork(u, all, m); e != nil {
			out = mergeSame(out, e)
		}
	}
	return out
}

func (c *Case) partition(u, v *unreachable, m *members) *episode {
	e := &episode{kind: "network-partition", start: u.from, end: latest(u.to, v.to), logged: true, members: []string{u.by, v.by}}
	if v.from.Before(e.start) {
		e.start = v.from
	}
	e.cites = append(append(e.cites, u.cites...), v.cites...)
	e.open = len(u.cites) == 1 && len(v.cites) == 1
	e.text = fmt.Sprintf("%s and %s lost each other for %s while both were at work", m.name(u.by), m.name(v.by), seconds(e.length()))
	e.why = "the members that could reach each other went on"
	return e
}

// slowNetwork is about one direction; one loss of one peer alone is too little.
func (c *Case) slowNetwork(u *unreachable, all []*unreachable, m *members) *episode {
	losses := 0
	from, to := u.from, u.to
	for _, x := range all {
		if x.by == u.by && x.peer == u.peer {
			losses++
			if x.from.Before(from) {
				from = x.from
			}
			to = latest(to, x.to)
		}
	}
	dropped := 0
	cites := slices.Clone(u.cites)
	for _, b := range c.bursts("etcd-raft-drop-send") {
		if b.about == u.peer && memberOf(b) == u.by && near(from, to, b.first.at, b.last.at, nearSlack) {
			if dropped += b.count; dropped == b.count {
				cites = append(cites, lineCite(b.first))
			}
		}
	}
	if losses < 2 && dropped == 0 {
		return nil
	}
	e := &episode{kind: "slow-network", start: from, end: to, open: len(u.cites) == 1, logged: true, guess: true, members: []string{u.by, u.peer}, cites: cites}
	e.text = fmt.Sprintf("%s could not reach %s %s in %s while both were at work", m.name(u.by), m.name(u.peer), plural(losses, "time", "times"), seconds(to.Sub(from)))
	if dropped > 0 {
		e.text += fmt.Sprintf("; it dropped messages for it (%s)", count(dropped, "line"))
	}
	e.why = "raft sends again what was lost, and a quorum of the others is enough"
	return e
}
