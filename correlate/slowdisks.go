package correlate

import (
	"fmt"
	"sort"
	"time"
)

// slowDisks joins the slow fsyncs of all members into episodes.
func (c *Case) slowDisks(ts []*tenure, m *members) []*episode {
	var out []*episode
	var cur *episode
	byMember := map[*episode]map[string]*burst{}
	for _, b := range c.bursts("etcd-slow-fdatasync") {
		start := b.first.at.Add(-b.longest)
		if cur == nil || start.Sub(cur.end) > fsyncGap {
			cur = &episode{kind: "slow-disk", start: start, end: b.last.at, logged: true}
			byMember[cur] = map[string]*burst{}
			out = append(out, cur)
		}
		cur.end = latest(cur.end, b.last.at)
		id := memberOf(b)
		if old := byMember[cur][id]; old == nil {
			merged := *b
			byMember[cur][id] = &merged
			cur.members = append(cur.members, id)
		} else {
			old.count += b.count
			old.longest = max(old.longest, b.longest)
			old.last = b.last
		}
	}
	for _, e := range out {
		sort.Strings(e.members)
		c.describeSlowDisk(e, byMember[e], ts, m)
	}
	return out
}

// describeSlowDisk says whose disk was slow and whether writes had to wait for it:
// a write needs the leader and half of the others.
func (c *Case) describeSlowDisk(e *episode, by map[string]*burst, ts []*tenure, m *members) {
	var parts []string
	leader := false
	for _, id := range e.members {
		b := by[id]
		parts = append(parts, fmt.Sprintf("%s (%s, longest %s)", m.name(id), count(b.count, "line"), seconds(b.longest)))
		e.cites = append(e.cites, lineCite(b.first))
		for _, t := range ts {
			until := t.lost
			if until.IsZero() {
				until = e.end
			}
			if t.leader == id && t.since.Before(e.end) && until.After(e.start) {
				leader = true
			}
		}
	}
	quorum := len(e.members) > m.size()/2
	e.reach = leader || quorum
	e.text = "Slow fdatasync on " + list(parts)
	switch {
	case quorum:
		e.why = fmt.Sprintf("%d of %d members were slow, so every commit waited for one of them", len(e.members), m.size())
	case leader:
		e.why = "the slow member led the cluster in that time"
	default:
		e.why = "only followers were slow: a commit needs the leader and a quorum, and the others were fast"
	}
}

// slowQuorum says whether slow disks on a quorum overlap an episode.
func slowQuorum(slow []*episode, e *episode, m *members) bool {
	for _, s := range slow {
		if len(s.members) > m.size()/2 && s.overlaps(e.start.Add(-5*time.Second), e.end) {
			return true
		}
	}
	return false
}
