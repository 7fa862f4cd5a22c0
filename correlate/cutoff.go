package correlate

import (
	"fmt"
	"time"
)

// cutOffs finds the quorum losses in which nobody could be elected and the old
// leader was followed again in its own term: the others were halted, not dead. One
// member's word is not enough for that, it may have been alone; the store decides:
// nothing at all was committed meanwhile.
func (c *Case) cutOffs(ts []*tenure, facts []*raftFact, slow []*episode, m *members) []*episode {
	var out []*episode
	for _, t := range ts {
		for _, cut := range t.cuts {
			if cut.to.Sub(cut.from) < shortLoss {
				continue
			}
			e := &episode{kind: "quorum-loss", start: cut.from, end: cut.to, logged: true, reach: true, members: []string{cut.member}}
			if !c.stoodStill(e, t) || slowQuorum(slow, e, m) {
				continue
			}
			if last := c.clock.LastBefore(cut.from); !last.IsZero() && cut.from.Sub(last) <= 3*electionTimeout {
				e.start = last
			}
			rounds, first := campaigns(facts, e)
			e.text = fmt.Sprintf("etcd had no quorum: %s lost leader %s (term %d), %s found too few votes, and the same leader was followed again after %s",
				m.name(cut.member), m.name(t.leader), t.term, count(rounds, "campaign"), seconds(cut.to.Sub(cut.from)))
			e.why = "without a quorum no write is committed"
			e.cites = []*cite{lineCite(cut.lost)}
			if first != nil {
				e.cites = append(e.cites, lineCite(*first))
			}
			e.cites = append(e.cites, lineCite(cut.back))
			out = mergeSame(out, e)
		}
	}
	return out
}

// stoodStill says whether the cluster committed nothing in an episode: the store
// has a pause over nearly all of it or, without a store, the leader's own log does.
func (c *Case) stoodStill(e *episode, t *tenure) bool {
	if c.hist.Len() > 0 {
		return covered(e.start, e.end, c.pauses(e.start.Add(-time.Second), e.end.Add(time.Second), stopLimit)) > 0.8
	}
	for _, l := range c.logs {
		if l != nil && l.id.MemberID == t.leader {
			return !l.wroteBetween(e.start, e.end.Add(-time.Second))
		}
	}
	return false
}

// stopLimit is the pause between puts that is no coincidence while two leaders
// renew their Leases every two seconds.
const stopLimit = 2500 * time.Millisecond

// pauses are the times within an interval in which no put was stored.
func (c *Case) pauses(from, to time.Time, limit time.Duration) [][2]time.Time {
	return c.clock.Pauses(from, to, limit, c.stateEnd())
}

// mergeSame joins two members' accounts of one loss.
func mergeSame(all []*episode, e *episode) []*episode {
	for _, x := range all {
		if x.kind == e.kind && x.overlaps(e.start, e.end) {
			x.members = append(x.members, e.members...)
			x.cites = append(x.cites, e.cites...)
			if e.start.Before(x.start) {
				x.start = e.start
			}
			x.end = latest(x.end, e.end)
			return all
		}
	}
	return append(all, e)
}

// quietTimes are the times in which etcd's logs show that nothing was committed:
// from the loss of a leader to the next one. A leader steps down after an election
// timeout without a quorum, so nothing was committed in that time either.
func (c *Case) quietTimes() [][2]time.Time {
	var quiet [][2]time.Time
	ts := c.tenures(c.raftEvents(), c.newMembers())
	for i, t := range ts {
		if i+1 < len(ts) && !t.lost.IsZero() && (t.sure || c.stoodStill(&episode{start: t.lost, end: ts[i+1].since}, t)) {
			from := t.lost
			if t.quorum {
				from = from.Add(-electionTimeout)
			}
			quiet = append(quiet, [2]time.Time{from, ts[i+1].since})
		}
		for _, cut := range t.cuts {
			e := &episode{start: cut.from, end: cut.to}
			if cut.to.Sub(cut.from) >= shortLoss && c.stoodStill(e, t) {
				quiet = append(quiet, [2]time.Time{cut.from.Add(-electionTimeout), cut.to})
			}
		}
	}
	return quiet
}
