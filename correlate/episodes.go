package correlate

import (
	"fmt"
	"sort"
	"strings"
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
var rank = map[string]int{"nospace": 0, "quorum-loss": 1, "slow-disk": 2, "member-down": 3, "leader-loss": 4, "apiserver-down": 5}

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

// bursts returns the bursts of a signature over all logs in order of time.
func (c *Case) bursts(sig string) []*burst {
	var out []*burst
	for _, l := range c.logs {
		if l == nil {
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

// slowQuorum says whether slow disks on a quorum overlap an episode.
func slowQuorum(slow []*episode, e *episode, m *members) bool {
	for _, s := range slow {
		if len(s.members) > m.size()/2 && s.overlaps(e.start.Add(-5*time.Second), e.end) {
			return true
		}
	}
	return false
}

// membersDown finds members that their peers lost and that did not write a line
// of their own until they came back.
func (c *Case) membersDown(m *members) []*episode {
	var out []*episode
	for _, id := range m.ids {
		var cur *episode
		for _, b := range c.peerChanges(id) {
			switch {
			case b.sig == "etcd-peer-inactive" && cur == nil:
				cur = &episode{kind: "member-down", start: b.first.at, end: c.logEnd(), open: true, members: []string{id}, logged: true}
				cur.cites = append(cur.cites, lineCite(b.first))
			case b.sig == "etcd-peer-active" && cur != nil:
				cur.end, cur.open = b.first.at, false
				cur.cites = append(cur.cites, lineCite(b.first))
				out = c.keepDown(out, cur, m)
				cur = nil
			}
		}
		if cur != nil {
			out = c.keepDown(out, cur, m)
		}
	}
	return out
}

// peerChanges are what other members say of a peer, in order of time.
func (c *Case) peerChanges(id string) []*burst {
	var out []*burst
	for _, sig := range []string{"etcd-peer-inactive", "etcd-peer-active"} {
		for _, b := range c.bursts(sig) {
			if b.about == id && memberOf(b) != id {
				out = append(out, b)
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].first.at.Before(out[j].first.at) })
	return out
}

// keepDown keeps an episode unless the member's own log shows it at work in
// between: then its peers lost the way to it, not the member.
func (c *Case) keepDown(out []*episode, e *episode, m *members) []*episode {
	id := e.members[0]
	var restart *note
	for _, l := range c.logs {
		if l == nil || l.id.MemberID != id {
			continue
		}
		for _, s := range l.starts {
			if s.at.After(e.start) && !s.at.After(e.end.Add(time.Second)) && restart == nil {
				n := s
				restart = &n
			}
		}
		until := e.end
		if restart != nil {
			until = restart.at
		}
		if l.wroteBetween(e.start.Add(time.Second), until.Add(-time.Second)) {
			return out
		}
	}
	e.text = fmt.Sprintf("Member %s was lost by its peers and came back after %s", m.name(id), seconds(e.length()))
	if e.open {
		e.text = fmt.Sprintf("Member %s was lost by its peers and did not come back before the logs end", m.name(id))
	}
	if restart != nil {
		e.text += "; its own log shows a restart"
		e.cites = append(e.cites, lineCite(*restart))
	}
	e.why = "the other members kept a quorum"
	if n, text := c.dependsOn(id, e, m); n != nil {
		e.reach, e.why = true, text
		e.cites = append(e.cites, lineCite(*n))
	}
	return append(out, e)
}

// dependsOn finds an API server that had only this member as its etcd endpoint
// and could not reach it: the identity link between a member and the writers
// behind that API server.
func (c *Case) dependsOn(id string, e *episode, m *members) (*note, string) {
	for _, b := range c.bursts("grpc-createtransport") {
		if m.urls[b.about] != id || b.first.at.After(e.end) || b.last.at.Before(e.start) {
			continue
		}
		l := b.first.file
		if servers := l.flags["etcd-servers"]; servers == "" || strings.Contains(servers, ",") {
			continue // not known to have one endpoint only: a client goes on to the next
		}
		n := b.first
		if n.at.Before(e.start) {
			n = b.last
		}
		return &n, fmt.Sprintf("an API server (%s) called this member at %s and no other", l.file.Path, b.about)
	}
	return nil, ""
}

// wroteBetween says whether a log has a kept record in an interval.
func (l *logFile) wroteBetween(from, to time.Time) bool {
	in := func(t time.Time) bool { return t.After(from) && t.Before(to) }
	for _, b := range l.bursts {
		if in(b.first.at) || in(b.last.at) {
			return true
		}
	}
	for _, f := range l.raft {
		if in(f.first.at) || in(f.last.at) {
			return true
		}
	}
	return false
}

// noSpace finds the times under a NOSPACE alarm in logs and stores. etcd does not
// log that an alarm was disarmed, so an episode ends with the first put that was
// stored again; the alarm's own raising may let a few through.
func (c *Case) noSpace(m *members) []*episode {
	var signs []*burst
	for _, sig := range []string{"etcd-quota-exceeded", "etcd-alarm-raised", "etcd-err-nospace"} {
		for _, b := range c.bursts(sig) {
			if sig != "etcd-alarm-raised" || strings.Contains(strings.ToUpper(b.first.text), "NOSPACE") {
				signs = append(signs, b)
			}
		}
	}
	sort.SliceStable(signs, func(i, j int) bool { return signs[i].first.at.Before(signs[j].first.at) })
	var out []*episode
	var cur *episode
	for _, b := range signs {
		if cur == nil || !cur.open && b.first.at.After(cur.end) {
			cur = c.alarmFrom(b.first.at)
			cur.logged = true
			out = append(out, cur)
		}
		if len(cur.cites) < 4 {
			cur.cites = append(cur.cites, lineCite(b.first))
		}
	}
	return c.storedAlarms(out, m)
}

// alarmFrom is an episode that lasts until puts are stored again.
func (c *Case) alarmFrom(start time.Time) *episode {
	e := &episode{kind: "nospace", start: start, end: c.logEnd(), open: true, reach: true,
		text: "The NOSPACE alarm was raised: the database reached its quota and etcd refused every put",
		why:  "while the NOSPACE alarm stands, etcd refuses every put and takes only deletes"}
	if put := c.clock.FirstPutAfter(start.Add(shortLoss)); !put.IsZero() {
		e.end, e.open = put, false
	}
	return e
}

// storedAlarms adds the alarms that the stores hold: to the open episode, or as one
// that began with the last put.
func (c *Case) storedAlarms(out []*episode, m *members) []*episode {
	var ids []string
	for _, s := range c.ownStores() {
		for _, a := range s.Alarms {
			if a.Kind == "NOSPACE" {
				ids = append(ids, a.MemberID)
			}
		}
	}
	sort.Strings(ids)
	ids = compact(ids)
	if len(ids) == 0 {
		return out
	}
	if n := len(out); n == 0 || !out[n-1].open {
		e := c.alarmFrom(c.clock.LastPut())
		e.cites = append(e.cites, c.lastPutCite())
		out = append(out, e)
	}
	e := out[len(out)-1]
	e.members = ids
	e.text += fmt.Sprintf("; the store holds the alarm of %s", list(nameAll(ids, m)))
	return out
}

// lastPutCite cites the newest put: what was stored before the puts stopped.
func (c *Case) lastPutCite() *cite {
	for i := c.hist.Len() - 1; i >= 0; i-- {
		if r := c.hist.At(i); !r.Tombstone {
			return revCite(i, "the last put of the store, before its NOSPACE alarm (database space exceeded)")
		}
	}
	return nil
}

func nameAll(ids []string, m *members) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = m.name(id)
	}
	return out
}

// compact drops repeats of a sorted list.
func compact(s []string) []string {
	var out []string
	for i, x := range s {
		if i == 0 || x != s[i-1] {
			out = append(out, x)
		}
	}
	return out
}
