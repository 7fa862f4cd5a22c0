package correlate

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

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

// activeStep is the length of the times in which a log is known to have records.
const activeStep = 2 * time.Second

// takeActive notes that the log was written at a time.
func (l *logFile) takeActive(at time.Time) {
	if at.IsZero() {
		return
	}
	if k := at.UnixNano() / int64(activeStep); len(l.active) == 0 || l.active[len(l.active)-1] != k {
		l.active = append(l.active, k)
	}
}

// wroteBetween says whether a log has a record in an interval, as far as is known of
// records that were not kept: that one lies in a step within it.
func (l *logFile) wroteBetween(from, to time.Time) bool {
	for _, k := range l.active {
		if begin := time.Unix(0, k*int64(activeStep)); begin.After(from) && begin.Add(activeStep).Before(to) {
			return true
		}
	}
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
