package correlate

import (
	"sort"
	"time"

	"etcd-autopsy/snapshot"
)

// MemberWAL is the raft log of a member.
type MemberWAL struct {
	Input  string `json:"input"`
	Source string `json:"source"`
	// Segments counts its files, Entries their entries; First and Last are raft
	// indexes, Commit the highest that the log says is committed.
	Segments int    `json:"segments"`
	Entries  int    `json:"entries"`
	First    uint64 `json:"first"`
	Last     uint64 `json:"last"`
	Commit   uint64 `json:"commit"`
	// FirstRevision and LastRevision are those of the store at First and Last, 0 if
	// not known.
	FirstRevision int64 `json:"firstRevision"`
	LastRevision  int64 `json:"lastRevision"`
	// Terms are the terms that the member entered, with its votes.
	Terms []MemberTerm `json:"terms"`
	// Problems are damages and holes; LeftOut says why it was not used, empty if it
	// was.
	Problems []string `json:"problems"`
	LeftOut  string   `json:"leftOut"`
}

// MemberTerm is a term that a member entered.
type MemberTerm struct {
	Term uint64 `json:"term"`
	// Vote is the ID of the member it voted for, empty for none; After the raft index
	// of the last entry before it.
	Vote  string `json:"vote"`
	After uint64 `json:"after"`
}

// sameStart is how far the start in a member's log and the one that its request
// IDs tell may lie apart.
const sameStart = 10 * time.Second

// memberWALs adds what the raft logs say of members.
func (c *Case) memberWALs(row func(string) *MemberRow) {
	for _, w := range c.hist.WALs() {
		if w.MemberID == "" {
			continue
		}
		m := MemberWAL{Input: w.Input, Source: w.Path, Segments: len(w.Segments), Entries: w.Entries, First: w.First, Last: w.Last, Commit: w.Commit,
			FirstRevision: w.Span.First, LastRevision: w.Span.Last, Terms: []MemberTerm{}, Problems: orEmpty(w.Problems), LeftOut: w.Rejected}
		for _, t := range w.Terms {
			m.Terms = append(m.Terms, MemberTerm{Term: t.Term, Vote: t.Vote, After: t.After})
		}
		r := row(w.MemberID)
		r.WALs = append(r.WALs, m)
	}
	for _, x := range c.hist.LoggedMembers() {
		if r := row(x.ID); len(r.ClientURLs) == 0 {
			r.Learner, r.PeerURLs, r.ClientURLs = x.Learner, orEmpty(x.PeerURLs), orEmpty(x.ClientURLs)
		}
	}
	for _, ev := range c.hist.RaftEvents() {
		if e := c.hist.Entry(ev.Entry); ev.Kind == snapshot.RaftStart && e.Request != 0 {
			_, at := snapshot.RequestOrigin(e.Request)
			row(ev.Member).addStart(at)
		}
	}
}

// addStart adds a start that the member's log does not have.
func (r *MemberRow) addStart(at time.Time) {
	for _, s := range r.Starts {
		if s.Sub(at).Abs() < sameStart {
			return
		}
	}
	r.Starts = append(r.Starts, at)
	sort.Slice(r.Starts, func(i, j int) bool { return r.Starts[i].Before(r.Starts[j]) })
}
