package correlate

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// MemberRow is a line of `members`: what stores and logs say of one etcd member.
type MemberRow struct {
	// ID is 16 hexadecimal digits; Name is empty where nothing names the member.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Learner and Removed are as the newest store has it.
	Learner    bool     `json:"learner"`
	Removed    bool     `json:"removed"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs"`
	// Stores are the database files that are known to be this member's own.
	Stores []MemberStore `json:"stores"`
	// Status are its answers to etcdctl that are among the inputs.
	Status []MemberStatus `json:"status"`
	// WALs are its raft logs.
	WALs []MemberWAL `json:"wal"`
	// Alarms are the kinds of the alarms that a store holds for it.
	Alarms []string `json:"alarms"`
	// Logs are the files that are its log; Starts the starts of its process that they
	// or the raft log show.
	Logs   []string    `json:"logs"`
	Starts []time.Time `json:"starts"`
	// Led are its times as leader, as far as the logs show.
	Led []Term `json:"led"`
	// Down are the times in which its peers had lost it.
	Down []Span `json:"down"`
}

// Span is a time from start to end; End is null while it is open.
type Span struct {
	Start *time.Time `json:"start"`
	End   *time.Time `json:"end"`
}

// Members lists every etcd member that stores or logs name, in order of ID.
func (c *Case) Members() []MemberRow {
	m := c.newMembers()
	rows := map[string]*MemberRow{}
	row := func(id string) *MemberRow {
		if rows[id] == nil {
			rows[id] = &MemberRow{ID: id, Name: m.names[id], PeerURLs: []string{}, ClientURLs: []string{}, Stores: []MemberStore{}, WALs: []MemberWAL{}, Status: []MemberStatus{},
				Alarms: []string{}, Logs: []string{}, Starts: []time.Time{}, Led: []Term{}, Down: []Span{}}
		}
		return rows[id]
	}
	c.memberStores(m, row)
	c.memberLogs(row)
	c.memberWALs(row)
	c.memberStatuses(m, row)
	ts := c.tenures(c.raftEvents(), m)
	for _, t := range c.terms(ts, c.raftEvents(), m) {
		r := row(t.id)
		r.Led = append(r.Led, t)
	}
	for _, e := range c.membersDown(m) {
		s := Span{Start: timePtr(e.start)}
		if !e.open {
			s.End = timePtr(e.end)
		}
		r := row(e.members[0])
		r.Down = append(r.Down, s)
	}
	out := make([]MemberRow, 0, len(rows))
	for _, id := range sortedKeys(rows) {
		out = append(out, *rows[id])
	}
	return out
}

// memberStores adds what the stores say of members, and which are their own. Of
// two stores that differ the one with the higher revision is right.
func (c *Case) memberStores(m *members, row func(string) *MemberRow) {
	byName := map[string]string{}
	for id, name := range m.names {
		byName[name] = id
	}
	for _, k := range c.oldestFirst() {
		s := c.hist.Stores()[k]
		for _, x := range s.Members {
			r := row(x.ID)
			r.Learner, r.PeerURLs, r.ClientURLs, r.Removed = x.Learner, orEmpty(x.PeerURLs), orEmpty(x.ClientURLs), false
		}
		for _, id := range s.RemovedMembers {
			row(id).Removed = true
		}
		for _, a := range s.Alarms {
			r := row(a.MemberID)
			r.Alarms = append(r.Alarms, a.Kind)
			slices.Sort(r.Alarms)
			r.Alarms = slices.Compact(r.Alarms)
		}
	}
	for k := range c.ownStores() {
		if id := byName[c.inputs[c.stores[k]].Member]; id != "" {
			r := row(id)
			r.Stores = append(r.Stores, c.memberStore(k))
		}
	}
}

// oldestFirst are the indexes of the cluster's stores in order of their last
// revision.
func (c *Case) oldestFirst() []int {
	stores := c.hist.Stores()
	var order []int
	for k := range c.ownStores() {
		order = append(order, k)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(stores[a].Last, stores[b].Last) })
	return order
}

// memberLogs adds the logs of members and the starts that they show.
func (c *Case) memberLogs(row func(string) *MemberRow) {
	for _, l := range c.logs {
		if l == nil || l.id.MemberID == "" {
			continue
		}
		r := row(l.id.MemberID)
		in := &c.inputs[l.input]
		r.Logs = append(r.Logs, join(in.Label, in.Path))
		for _, n := range l.starts {
			r.Starts = append(r.Starts, n.at)
		}
		sort.Slice(r.Starts, func(i, j int) bool { return r.Starts[i].Before(r.Starts[j]) })
	}
}
