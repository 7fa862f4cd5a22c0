package correlate

import (
	"fmt"
	"time"

	"etcd-autopsy/snapshot"
)

// describeWALs says in the inventory what each segment of a WAL holds.
func (c *Case) describeWALs() {
	for _, s := range c.hist.RaftSnaps() {
		if i := c.inputOf(s.Input, s.Path); i >= 0 {
			c.inputs[i].Records = len(s.Members)
			if s.Problem != "" {
				c.problem(i, s.Problem)
			}
		}
	}
	members := c.newMembers()
	for _, w := range c.hist.WALs() {
		for n, path := range w.Segments {
			i := c.inputOf(w.Input, path)
			if i < 0 {
				continue
			}
			in := &c.inputs[i]
			in.Records = w.Counts[n]
			if w.MemberID != "" {
				in.Member = members.name(w.MemberID)
			}
			if n > 0 {
				continue
			}
			in.Problems = append(in.Problems, w.Problems...)
			if w.Rejected != "" {
				in.Problems = append(in.Problems, "its entries are left out: "+w.Rejected)
			}
		}
	}
}

// dateWALs gives each segment the times of its first and last entry.
func (c *Case) dateWALs() {
	for _, w := range c.hist.WALs() {
		for n, path := range w.Segments {
			if i := c.inputOf(w.Input, path); i >= 0 && w.Spans[n].Last != 0 {
				c.inputs[i].First, c.inputs[i].Last = timePtr(c.clock.AtOrAfter(w.Spans[n].First)), timePtr(c.clock.AtOrAfter(w.Spans[n].Last))
			}
		}
	}
}

// walNotes say what the raft logs gave, and what of them could not be used.
func (c *Case) walNotes(add func(string, ...any)) {
	var first, last int64
	own := 0
	for i := range c.hist.Len() {
		r := c.hist.At(i)
		if !r.WAL || len(r.Stores) > 0 {
			continue
		}
		if first == 0 {
			first = r.Main
		}
		last = r.Main
		own++
	}
	if own > 0 {
		add("%s of the revisions %d to %d %s in no store any more and %s made again from the members' raft logs", count(own, "record"), first, last, isAre(own), wasWere(own))
	}
	unplaced, unknown, lost := 0, 0, 0
	for i := range c.hist.Entries() {
		switch c.hist.Entry(i).State {
		case snapshot.EntryUnplaced:
			unplaced++
		case snapshot.EntryUncommitted:
			unknown++
		case snapshot.EntryLost:
			lost++
		}
	}
	if unplaced > 0 {
		add("%d entries of the raft logs are committed, but what they changed cannot be told: the state of the store before them is not known", unplaced)
	}
	if unknown > 0 {
		add("%s at the end of the raft logs may be committed or not", count(unknown, "entry"))
	}
	if lost > 0 {
		add("%s of the raft logs %s proposed and never committed", count(lost, "entry"), wasWere(lost))
	}
	for _, w := range c.hist.WALs() {
		if w.Rejected != "" {
			add("The raft log %s was left out: %s", join(w.Input, w.Path), w.Rejected)
		}
	}
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// entryTime is the best estimate of when an entry was applied, zero if nothing
// dates it.
func (c *Case) entryTime(e *snapshot.Entry) time.Time {
	if e.At == 0 {
		return time.Time{}
	}
	return c.clock.Time(e.At)
}

// raftRows are the entries of the raft log that tell of the cluster, as rows of the
// timeline.
func (c *Case) raftRows(yield func(TimelineRow) bool) {
	members := c.newMembers()
	winners := c.elected(members)
	for _, ev := range c.hist.RaftEvents() {
		e := c.hist.Entry(ev.Entry)
		at := c.entryPlace(e)
		row := TimelineRow{
			Time: timePtr(c.entryTime(&e)), Inferred: []string{"time"}, Input: at.Input, Source: at.Source, Lines: 1, Kind: "record",
			Component: "etcd", Format: "wal", Framing: []string{}, Level: "info", Signatures: []string{},
			Fields: map[string]string{"index": fmt.Sprint(e.Index), "term": fmt.Sprint(e.Term), "offset": fmt.Sprint(e.Offset), "event": string(ev.Kind)},
			Text:   ev.Text,
		}
		if ev.Member != "" {
			row.Fields["member"] = ev.Member
			row.Text = members.name(ev.Member) + ": " + ev.Text
		}
		if ev.Kind == snapshot.RaftStart && e.Request != 0 {
			_, started := snapshot.RequestOrigin(e.Request)
			row.Fields["process-start"] = started.Format(time.RFC3339Nano)
			row.Text += ", its process at " + clockTime(started)
			if row.Time == nil || row.Time.Before(started) { // it was stored later
				row.Time = timePtr(started)
			}
		}
		if id := winners[e.Term]; ev.Kind == snapshot.RaftLeader && id != "" {
			row.Fields["member"] = id
			row.Text = fmt.Sprintf("%s begins term %d as leader: a majority voted for it", members.name(id), e.Term)
		}
		if !yield(row) {
			return
		}
	}
}

// elected are the leaders of the terms in which the logs show a majority of votes
// for one member, by term.
func (c *Case) elected(m *members) map[uint64]string {
	votes := map[uint64]map[string]map[string]bool{} // by term and candidate: who voted
	for _, w := range c.hist.WALs() {
		if w.Rejected != "" {
			continue
		}
		for _, t := range w.Terms {
			if t.Vote == "" || w.MemberID == "" {
				continue
			}
			if votes[t.Term] == nil {
				votes[t.Term] = map[string]map[string]bool{}
			}
			if votes[t.Term][t.Vote] == nil {
				votes[t.Term][t.Vote] = map[string]bool{}
			}
			votes[t.Term][t.Vote][w.MemberID] = true
		}
	}
	out := map[uint64]string{}
	for term, candidates := range votes {
		for id, voters := range candidates {
			if len(m.ids) > 0 && len(voters) > len(m.ids)/2 {
				out[term] = id
			}
		}
	}
	return out
}
