package correlate

import (
	"sort"
	"strings"
	"time"

	"etcd-autopsy/logparse"
	"etcd-autopsy/snapshot"
)

// tenure is one leader's time in office.
type tenure struct {
	term   uint64
	leader string // member ID, hex
	since  time.Time
	note   note
	// lost is when the leader was gone, zero if the logs do not show that; by is the
	// record that says so. quorum is set when it stepped down for lack of one.
	lost   time.Time
	by     *note
	quorum bool
	// sure says that the loss is the cluster's: the leader's own word, or that of
	// enough members. One follower may have been alone.
	sure bool
	// cuts are the times in which one member lost this leader and then followed it
	// again in the same term.
	cuts []cutOff
}

// cutOff is one member's time without the leader that the term still had.
type cutOff struct {
	member   string
	from, to time.Time
	lost     note
	back     note
}

// members names etcd members: by ID, from stores and logs.
type members struct {
	names map[string]string
	// ids are those the stores list, in order; their number is the cluster's size.
	ids []string
	// urls maps a client URL's host:port to the member that serves it.
	urls map[string]string
}

// newMembers collects the members that stores and logs name.
func (c *Case) newMembers() *members {
	m := &members{names: map[string]string{}, urls: map[string]string{}}
	for _, s := range c.ownStores() {
		m.add(s.Members)
	}
	m.add(c.hist.LoggedMembers())
	for _, s := range c.statuses {
		m.add(s.members)
	}
	for _, l := range c.logs {
		if l != nil && l.id.MemberID != "" && l.id.Member != "" && m.names[l.id.MemberID] == "" {
			m.names[l.id.MemberID] = l.id.Member
		}
	}
	sort.Strings(m.ids)
	return m
}

// add takes members that a store or the raft log names.
func (m *members) add(list []snapshot.Member) {
	for _, x := range list {
		if _, ok := m.names[x.ID]; !ok {
			m.ids = append(m.ids, x.ID)
			m.names[x.ID] = x.Name
		}
		for _, u := range x.ClientURLs {
			m.urls[hostPort(u)] = x.ID
		}
	}
}

// hostPort is the address part of a URL.
func hostPort(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		return rest
	}
	return u
}

// name is a member's name where one is known, else its ID.
func (m *members) name(id string) string {
	if n := m.names[id]; n != "" {
		return n
	}
	return id
}

// size is how many members the cluster has, as far as stores or logs show.
func (m *members) size() int { return max(len(m.ids), len(m.names)) }

// raftEvents are the raft facts of all etcd's lines, in logs of their own or among
// those of other programs (k3s, minikube logs), in order of time.
func (c *Case) raftEvents() []*raftFact {
	var out []*raftFact
	for _, l := range c.logs {
		if l != nil && !l.application() {
			out = append(out, l.raft...)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].first.at.Before(out[j].first.at) })
	return out
}

// tenures rebuilds who led when from the raft lines of every member that has a
// log.
func (c *Case) tenures(facts []*raftFact, m *members) []*tenure {
	byTerm := map[uint64]*tenure{}
	for _, f := range facts {
		leader := ""
		switch f.ev.Kind {
		case logparse.RaftBecameLeader:
			leader = f.ev.Member
		case logparse.RaftElectedLeader, logparse.RaftChangedLeader:
			leader = f.ev.Leader
		}
		if leader == "" {
			continue
		}
		if t := byTerm[f.ev.Term]; t == nil || f.first.at.Before(t.since) {
			byTerm[f.ev.Term] = &tenure{term: f.ev.Term, leader: leader, since: f.first.at, note: f.first}
		}
	}
	var out []*tenure
	for _, t := range byTerm {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].term < out[j].term })
	for i, t := range out {
		until := time.Time{}
		if i+1 < len(out) {
			until = out[i+1].since
		}
		t.findLoss(facts, until, m)
	}
	return out
}

// findLoss finds when the cluster lost this leader: when the leader itself says so,
// or as many other members as make a quorum with it gone. A member that later
// followed the same leader in the same term was cut off for a while: its loss was
// its own. Where too few members have a log, the first one's word is kept but is
// not sure.
func (t *tenure) findLoss(facts []*raftFact, until time.Time, m *members) {
	first := map[string]*raftFact{}
	for _, f := range facts {
		at := f.first.at
		if at.Before(t.since) || !until.IsZero() && at.After(until) {
			continue
		}
		stepped := f.ev.Kind == logparse.RaftSteppedDown && f.ev.Member == t.leader
		if !stepped && (f.ev.Kind != logparse.RaftLostLeader || f.ev.Former != t.leader && f.ev.Leader != t.leader) {
			continue
		}
		if back := takenBack(facts, f, t); !stepped && back != nil {
			t.cuts = append(t.cuts, cutOff{member: f.ev.Member, from: at, to: back.first.at, lost: f.first, back: back.first})
			continue
		}
		t.quorum = t.quorum || stepped
		if first[f.ev.Member] == nil {
			first[f.ev.Member] = f
		}
	}
	t.decideLoss(first, m)
}

// decideLoss picks the record from which the loss is the cluster's.
func (t *tenure) decideLoss(first map[string]*raftFact, m *members) {
	var others []*raftFact
	for _, id := range sortedKeys(first) {
		if id != t.leader {
			others = append(others, first[id])
		}
	}
	sort.SliceStable(others, func(i, j int) bool { return others[i].first.at.Before(others[j].first.at) })
	enough := m.size()/2 + 1
	pick := first[t.leader]
	if len(others) >= enough && (pick == nil || others[enough-1].first.at.Before(pick.first.at)) {
		// The first of them says when it began, now that enough agree.
		pick = others[enough-1]
		for _, o := range others[:enough] {
			if others[enough-1].first.at.Sub(o.first.at) <= 3*electionTimeout {
				pick = o
				break
			}
		}
	}
	t.sure = pick != nil
	if pick == nil && len(others) > 0 {
		pick = others[0]
	}
	if pick != nil {
		n := pick.first
		t.lost, t.by = pick.first.at, &n
	}
}

// takenBack finds the record in which a member that lost a leader followed it
// again in the same term, nil if it never did.
func takenBack(facts []*raftFact, lost *raftFact, t *tenure) *raftFact {
	for _, f := range facts {
		if f.ev.Member == lost.ev.Member && f.ev.Kind == logparse.RaftElectedLeader && f.ev.Leader == t.leader &&
			f.ev.Term == t.term && f.first.at.After(lost.first.at) {
			return f
		}
	}
	return nil
}
