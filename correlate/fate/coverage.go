package fate

import (
	"time"

	"etcd-autopsy/snapshot"
)

// coverage is how much of the raft log there is.
type coverage struct {
	// from is when the first committed entry that is dated was applied, to when the
	// last one was that every log has: a member that stopped or was cut off before
	// the others may still propose what it was sent. Zero without a log.
	from, to time.Time
	// members are those whose logs were read, all says whether they are all there.
	members map[string]bool
	missing []string
	known   bool // which members there are
	// whole is true if nothing is missing between the first and the last entry.
	whole bool
}

func newCoverage(h *snapshot.History, times Times) coverage {
	c := coverage{members: map[string]bool{}}
	var before uint64
	c.whole = true
	for i := range h.Entries() {
		e := h.Entry(i)
		if e.State == snapshot.EntryLost || e.State == snapshot.EntryUncommitted {
			continue
		}
		c.whole = c.whole && (before == 0 || e.Index == before+1)
		before = e.Index
		if e.At == 0 {
			continue
		}
		if c.from.IsZero() {
			c.from, _, _ = times.At(e.At)
		}
	}
	c.findEnd(h, times)
	c.findMissing(h)
	return c
}

// findEnd finds the members that have a log, and where the first of those ends. Of
// several copies of one the longest counts.
func (c *coverage) findEnd(h *snapshot.History, times Times) {
	ends := map[string]time.Time{}
	for _, l := range h.WALs() {
		if l.Rejected != "" || l.Entries == 0 {
			continue
		}
		c.members[l.MemberID] = true
		if _, to, _ := times.At(l.Span.Last); to.After(ends[l.MemberID]) {
			ends[l.MemberID] = to
		}
	}
	for id := range c.members {
		if to := ends[id]; c.to.IsZero() || to.Before(c.to) {
			c.to = to
		}
		if c.to.IsZero() {
			return
		}
	}
}

// findMissing lists the members of which there is no log.
func (c *coverage) findMissing(h *snapshot.History) {
	seen := map[string]bool{}
	note := func(list []snapshot.Member) {
		for _, m := range list {
			if seen[m.ID] {
				continue
			}
			seen[m.ID] = true
			c.known = true
			if !c.members[m.ID] {
				name := m.Name
				if name == "" {
					name = m.ID
				}
				c.missing = append(c.missing, name)
			}
		}
	}
	for _, s := range h.Stores() {
		if s.Rejected == "" {
			note(s.Members)
		}
	}
	note(h.LoggedMembers())
}

// settled is how far the log has to reach behind an answer: etcd gives a proposal
// up after 7 s at its default timeouts (etcd v3.6 server/config: ReqTimeout, 5 s
// and two election timeouts).
const settled = 7 * time.Second

// spans says whether the committed log has everything that a request of a time
// could have become.
func (c *coverage) spans(from, to time.Time) bool {
	return c.whole && !c.from.IsZero() && !from.Before(c.from) && to.Add(settled).Before(c.to)
}

// complete says whether the log of every member is there.
func (c *coverage) complete() bool { return c.known && len(c.missing) == 0 }
