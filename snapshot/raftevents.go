package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/raft/v3/raftpb"

	"etcd-autopsy/snapshot/replay"
)

// raftHistory is what the logs of a cluster hold.
type raftHistory struct {
	logs    []*memberLog
	entries []entry
	// entryKeys numbers the keys of the entries' writes, byKey finds the entries.
	entryKeys    *keyTable
	entriesByKey keyIndex
	// byRequest are the entries that have a request ID, by ID; producers those that
	// made a revision, by revision.
	byRequest, producers []uint32
	events               []RaftEvent
	members              memberSet
	// agreed counts the records that entries make and stores hold alike; disagreed
	// says where the two differ, "" if nowhere.
	agreed    int
	disagreed string
}

// RaftEventKind says what a RaftEvent is.
type RaftEventKind string

// Kinds of events that the raft log records.
const (
	// RaftLeader is the empty entry with which a new leader begins its term.
	RaftLeader RaftEventKind = "leader"
	// RaftStart is a member's word of its name and addresses, which it has stored
	// at each of its starts.
	RaftStart RaftEventKind = "start"
	// RaftMember is a change of the membership.
	RaftMember RaftEventKind = "member"
	// RaftAlarm is an alarm that is raised or disarmed.
	RaftAlarm RaftEventKind = "alarm"
	// RaftVersion is a new cluster version, or a downgrade that is allowed.
	RaftVersion RaftEventKind = "version"
	// RaftCompaction is a compaction.
	RaftCompaction RaftEventKind = "compaction"
	// RaftAuth is a change of users, roles or of whether they count.
	RaftAuth RaftEventKind = "auth"
)

// RaftEvent is an entry of the raft log that tells of the cluster itself.
type RaftEvent struct {
	Kind RaftEventKind
	// Entry is its index among History.Entries.
	Entry int
	// Member is the ID of the member it is about, "" for none.
	Member string
	// Text says what happened, without the member.
	Text string
}

// RaftEvents lists the committed entries that tell of the cluster itself, in
// order.
func (h *History) RaftEvents() []RaftEvent { return append([]RaftEvent(nil), h.events...) }

// LoggedMembers lists the members as the newest raft snapshot and the committed
// entries of the raft log leave them, in order of ID.
func (h *History) LoggedMembers() []Member {
	var list []Member
	for _, id := range slices.Sorted(maps.Keys(h.members)) {
		list = append(list, *h.members[id])
	}
	return list
}

// memberSet are members by ID.
type memberSet map[string]*Member

// of returns a member, a new one if it is not there.
func (s memberSet) of(id string) *Member {
	if s[id] == nil {
		s[id] = &Member{ID: id}
	}
	return s[id]
}

// start notes what a member says of itself.
func (s memberSet) start(a *replay.MemberAttributes) {
	m := s.of(memberID(a.ID))
	m.Name, m.ClientURLs = a.Name, slices.Clone(a.ClientURLs)
}

// change notes a change of the membership.
func (s memberSet) change(c *replay.ConfChange) {
	id := memberID(c.Node)
	if c.Type == raftpb.ConfChangeRemoveNode {
		delete(s, id)
		return
	}
	m := s.of(id)
	m.Learner = c.Type == raftpb.ConfChangeAddLearnerNode
	if c.Member.Name != "" {
		m.Name = c.Member.Name
	}
	if len(c.Member.PeerURLs) > 0 {
		m.PeerURLs = slices.Clone(c.Member.PeerURLs)
	}
}

// event notes an entry that tells of the cluster.
func (p *replayer) event(n int, r *replay.Request) {
	e := RaftEvent{Entry: n}
	switch r.Kind {
	case replay.KindNoOp:
		if !p.firstOfTerm(n) {
			return // raft puts an empty entry in the place of a change of the membership that it refuses
		}
		e.Kind, e.Text = RaftLeader, fmt.Sprintf("a new leader begins term %d", r.Term)
	case replay.KindMemberAttributes:
		if !p.removed[r.Member.ID] {
			p.h.members.start(&r.Member)
		}
		e.Kind, e.Member = RaftStart, memberID(r.Member.ID)
		e.Text = fmt.Sprintf("started as %s, clients at %s", r.Member.Name, strings.Join(r.Member.ClientURLs, ", "))
	case replay.KindConfChange:
		p.h.members.change(&r.ConfChange)
		p.removed[r.ConfChange.Node] = r.ConfChange.Type == raftpb.ConfChangeRemoveNode
		e.Kind, e.Member, e.Text = RaftMember, memberID(r.ConfChange.Node), confText(&r.ConfChange)
	case replay.KindAlarm:
		e.Kind, e.Member = RaftAlarm, memberID(r.Alarm.Member)
		switch r.Alarm.Action {
		case etcdserverpb.AlarmRequest_ACTIVATE:
			e.Text = fmt.Sprintf("raises the alarm %s", r.Alarm.Type)
		case etcdserverpb.AlarmRequest_DEACTIVATE:
			e.Text = fmt.Sprintf("the alarm %s is disarmed", r.Alarm.Type)
		default:
			return
		}
	case replay.KindClusterVersion:
		e.Kind, e.Text = RaftVersion, "cluster version "+r.ClusterVersion
	case replay.KindDowngrade:
		e.Kind, e.Text = RaftVersion, "downgrade cancelled"
		if r.Downgrade.Enabled {
			e.Text = "downgrade to " + r.Downgrade.Version + " allowed"
		}
	case replay.KindCompaction:
		e.Kind, e.Text = RaftCompaction, fmt.Sprintf("compaction of revision %d", r.CompactRevision)
	case replay.KindAuthEnable, replay.KindAuthDisable, replay.KindAuthUser, replay.KindAuthRole:
		e.Kind, e.Text = RaftAuth, r.Kind.String()
	default:
		return
	}
	p.events = append(p.events, e)
}

// firstOfTerm says whether the committed entry before an entry is of an earlier
// term, or is not there.
func (p *replayer) firstOfTerm(n int) bool {
	for i := n - 1; i >= 0; i-- {
		x := &p.entries[i]
		if x.state != EntryLost && x.state != EntryUncommitted {
			return x.term < p.entries[n].term
		}
	}
	return true
}

// confVerbs say what a change of the membership does.
var confVerbs = map[raftpb.ConfChangeType]string{
	raftpb.ConfChangeAddNode:        "added",
	raftpb.ConfChangeRemoveNode:     "removed",
	raftpb.ConfChangeUpdateNode:     "updated",
	raftpb.ConfChangeAddLearnerNode: "added as a learner",
}

func confText(c *replay.ConfChange) string {
	text := confVerbs[c.Type]
	if c.Member.Promote {
		text = "promoted from learner"
	}
	if c.Member.Name != "" {
		text += " as " + c.Member.Name
	}
	if len(c.Member.PeerURLs) > 0 {
		text += ", peers at " + strings.Join(c.Member.PeerURLs, ", ")
	}
	return text
}
