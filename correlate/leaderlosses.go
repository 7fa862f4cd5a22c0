package correlate

import (
	"fmt"
	"time"
)

// leaderLosses finds the times without a leader. Where the members could not
// elect one for longer than shortLoss, that is a lost quorum, unless slow disks
// on a quorum explain why votes took so long.
func (c *Case) leaderLosses(ts []*tenure, facts []*raftFact, slow []*episode, m *members) []*episode {
	var out []*episode
	for i, t := range ts {
		if t.lost.IsZero() {
			continue
		}
		e := &episode{kind: "leader-loss", start: t.lost, end: c.logEnd(), open: true, logged: true, members: []string{t.leader}}
		e.cites = append(e.cites, lineCite(*t.by))
		if i+1 < len(ts) {
			e.end, e.open = ts[i+1].since, false
			if e.end.Before(e.start) {
				e.end = e.start
			}
			e.cites = append(e.cites, lineCite(ts[i+1].note))
		}
		c.startOfLoss(e, t)
		c.describeLoss(e, ts, i, facts, slow, m)
		out = append(out, e)
	}
	return out
}

// startOfLoss moves the start back to what the cluster felt first: the broken
// streams to a leader that died, the last stored write before a leader that had
// lost its quorum noticed (it steps down one to two election timeouts later).
func (c *Case) startOfLoss(e *episode, t *tenure) {
	for _, sig := range []string{"etcd-peer-inactive", "etcd-peer-stream-lost"} {
		for _, b := range c.bursts(sig) {
			if b.about == t.leader && b.first.at.Before(e.start) && t.lost.Sub(b.first.at) <= 3*electionTimeout {
				e.start = b.first.at
				e.cites = append(e.cites, lineCite(b.first))
			}
		}
	}
	if !t.quorum {
		return
	}
	if last := c.clock.LastBefore(t.lost); !last.IsZero() && t.lost.Sub(last) <= 3*electionTimeout {
		e.start = last
	} else {
		e.start = t.lost.Add(-electionTimeout)
	}
}

// describeLoss decides between a change of leader, a long loss and a lost quorum.
func (c *Case) describeLoss(e *episode, ts []*tenure, i int, facts []*raftFact, slow []*episode, m *members) {
	t := ts[i]
	next := "no leader was elected before the logs end"
	if !e.open {
		next = fmt.Sprintf("%s was elected at term %d", m.name(ts[i+1].leader), ts[i+1].term)
	}
	if p := c.plannedMove(t); p != nil {
		e.text = fmt.Sprintf("Planned move of leadership from %s: %s after %s", m.name(t.leader), next, seconds(e.length()))
		e.cites = append(e.cites, lineCite(*p))
		e.why = "leadership was handed over on request"
		return
	}
	rounds, round := campaigns(facts, e)
	if e.length() < shortLoss && !e.open {
		e.text = fmt.Sprintf("Leader %s was lost at term %d; %s after %s", m.name(t.leader), t.term, next, seconds(e.length()))
		e.why = fmt.Sprintf("the cluster was without a leader for %s, less than %s", seconds(e.length()), seconds(shortLoss))
		return
	}
	if !t.sure && !c.stoodStill(e, t) {
		e.text = fmt.Sprintf("One member lost leader %s at term %d; %s after %s. No other log says so, and the store went on", m.name(t.leader), t.term, next, seconds(e.length()))
		e.why = "one follower's word is not the cluster's, and writes were stored meanwhile"
		return
	}
	e.reach = true
	if !slowQuorum(slow, e, m) && (t.quorum || rounds >= 3) {
		e.kind = "quorum-loss"
		went := "was lost"
		if t.quorum {
			went = "stepped down for want of a quorum"
		}
		e.text = fmt.Sprintf("etcd had no quorum: leader %s (term %d) %s, %s found too few votes, %s after %s",
			m.name(t.leader), t.term, went, count(rounds, "campaign"), next, seconds(e.length()))
		e.why = "without a quorum no write is committed"
	} else {
		e.text = fmt.Sprintf("No leader for %s after %s (term %d) was lost; %s", seconds(e.length()), m.name(t.leader), t.term, next)
		e.why = "without a leader no write is committed"
	}
	if round != nil {
		e.cites = append(e.cites, lineCite(*round))
	}
}

// plannedMove finds the record of a requested transfer of leadership just before
// a leader was lost.
func (c *Case) plannedMove(t *tenure) *note {
	for _, b := range c.bursts("etcd-transfer-start") {
		for _, n := range []note{b.first, b.last} {
			if d := t.lost.Sub(n.at); d >= -100*time.Millisecond && d < electionTimeout {
				return &n
			}
		}
	}
	return nil
}

// campaigns counts the elections that members began and did not win in an
// episode, and returns the first.
func campaigns(facts []*raftFact, e *episode) (int, *note) {
	n := 0
	var first *note
	for _, f := range facts {
		if f.ev.Kind == "election-start" && !f.first.at.Before(e.start) && f.first.at.Before(e.end) {
			n += f.count
			if first == nil {
				x := f.first
				first = &x
			}
		}
	}
	return n, first
}
