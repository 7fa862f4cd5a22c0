package correlate

import (
	"sort"
	"time"
)

// An episode is a fault of the control plane under construction.
type episode struct {
	kind       string
	start, end time.Time
	open       bool
	// members are the etcd members it concerns, by ID; names the writers.
	members []string
	names   []string
	text    string
	cites   []*cite
	// reach says whether the fault can hold up every write: a quorum of slow disks,
	// a lost quorum, a full store. A slow follower cannot.
	reach bool
	// why explains reach, for the reader.
	why string
	// guess is true where the logs show the fault's effect, not its mechanism: it is
	// never proven.
	guess bool
	// logged is true when etcd's own log shows the fault.
	logged bool
	// sides are those of an inconsistency, nil for all other faults.
	sides *divergence

	// held are the rollouts it held up; lost the Leases that were lost because of it.
	held []string
	lost []*silence
}

func (e *episode) length() time.Duration { return e.end.Sub(e.start) }

// overlaps says whether the episode touches an interval.
func (e *episode) overlaps(from, to time.Time) bool { return e.start.Before(to) && e.end.After(from) }

// rank orders rival roots of one silence: what stops every write comes first.
var rank = map[string]int{
	"nospace": 0, "quorum-loss": 1, "slow-disk": 2, "defrag": 3, "member-down": 4, "leader-loss": 5, "apiserver-down": 6, "corruption": 7,
	"network-partition": 8, "overload": 9, "slow-network": 10, "too-many-requests": 11, "apiserver-overload": 12, "certificate": 13,
}

// Limits of the rules for leaders and disks.
const (
	// shortLoss is the leaderless time that harms nothing (incidents.md N-4).
	shortLoss = 3 * time.Second
	// electionTimeout is etcd's default; a leader that hears of no quorum steps down
	// after one to two of them.
	electionTimeout = time.Second
	// fsyncGap joins slow writes of a disk into one episode.
	fsyncGap = 30 * time.Second
)

// findEpisodes finds the faults of etcd that logs and stores show, then the
// silences of writers, and hangs each silence on the fault behind it.
func (c *Case) findEpisodes(w *objects) (eps []*episode, pulses []*pulse, ts []*tenure, m *members) {
	m = c.newMembers()
	facts := c.raftEvents()
	ts = c.tenures(facts, m)
	slow := c.slowDisks(ts, m)
	eps = append(eps, slow...)
	eps = append(eps, c.leaderLosses(ts, facts, slow, m)...)
	eps = append(eps, c.cutOffs(ts, facts, slow, m)...)
	eps = append(eps, c.membersDown(m)...)
	eps = append(eps, c.noSpace(m)...)
	eps = append(eps, c.overloads(m)...)
	eps = append(eps, c.tooMany()...)
	eps = append(eps, c.defrags(ts, m)...)
	eps = append(eps, c.networkFaults(m)...)
	eps = append(eps, c.corruptions(m)...)
	eps = append(eps, c.certificates()...)
	eps = append(eps, c.apiserverOverloads()...)
	eps = append(eps, c.memberInconsistencies(m)...)
	eps = append(eps, c.restores(m)...)
	c.extendState(eps)
	pulses = c.pulses(w)
	passOverRestores(pulses, eps)
	eps = append(eps, c.silences(pulses, eps)...)
	sort.SliceStable(eps, func(i, j int) bool {
		if !eps[i].start.Equal(eps[j].start) {
			return eps[i].start.Before(eps[j].start)
		}
		return rank[eps[i].kind] < rank[eps[j].kind]
	})
	return eps, pulses, ts, m
}

// extendState lets the state of the store hold for as long as etcd's logs show that
// nothing could be written: a fault that stops every put, that is open, and that
// began with the last put.
func (c *Case) extendState(eps []*episode) {
	last := c.clock.LastPut()
	for _, e := range eps {
		if e.open && e.reach && e.logged && stopsWrites[e.kind] && !last.IsZero() && !e.start.After(last.Add(5*time.Second)) && !e.start.Before(last.Add(-5*time.Second)) {
			c.until = latest(c.until, c.logEnd())
		}
	}
}

// logEnd is the time of the last record of any log, the state's end without one.
func (c *Case) logEnd() time.Time {
	end := c.stateEnd()
	for _, l := range c.logs {
		if l != nil {
			end = latest(end, l.last)
		}
	}
	return end
}

// bursts returns the bursts of a signature over the logs of the control plane, in
// order of time: what an application says of etcd is its own view.
func (c *Case) bursts(sig string) []*burst {
	var out []*burst
	for _, l := range c.logs {
		if l == nil || l.application() {
			continue
		}
		for _, b := range l.bursts {
			if b.sig == sig {
				out = append(out, b)
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].first.at.Before(out[j].first.at) })
	return out
}

// memberOf is the member whose log a burst is from: its ID where known, else
// its name, else the file.
func memberOf(b *burst) string {
	id := b.first.file.id
	switch {
	case id.MemberID != "":
		return id.MemberID
	case id.Member != "":
		return id.Member
	}
	return b.first.file.file.Path
}

func nameAll(ids []string, m *members) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = m.name(id)
	}
	return out
}
