package correlate

import (
	"math"
	"slices"
	"sort"
	"time"

	"etcd-autopsy/logparse"
)

// terms is the list of leaders for the report: what the logs say, and where they say
// nothing what the votes in the members' WALs do.
func (c *Case) terms(ts []*tenure, facts []*raftFact, m *members) []Term {
	out := []Term{}
	for i, t := range ts {
		x := Term{Number: t.term, Leader: m.name(t.leader), Start: timePtr(t.since), End: timePtr(t.lost), Source: "log", id: t.leader}
		if x.End == nil && i+1 < len(ts) {
			x.End = timePtr(ts[i+1].since)
		}
		from := time.Time{}
		if i > 0 && !ts[i-1].lost.IsZero() {
			from = ts[i-1].lost
			d := math.Round(1000*max(0, t.since.Sub(from).Seconds())) / 1000
			x.Election = &d
		}
		x.Stood = nameAll(stood(facts, t, from), m)
		x.SeenBy, x.Disputed = seenBy(facts, t, m)
		out = append(out, x)
	}
	out = append(out, c.votedTerms(ts, m)...)
	sort.SliceStable(out, func(i, j int) bool { return out[i].Number < out[j].Number })
	return out
}

// stood are the members that stood for a term: they became candidates in it or,
// with pre-vote, pre-candidates in the term before once the old leader was lost.
func stood(facts []*raftFact, t *tenure, lost time.Time) []string {
	var out []string
	for _, f := range facts {
		full := f.ev.Kind == logparse.RaftBecameCandidate && f.ev.Term == t.term
		pre := f.ev.Kind == logparse.RaftBecamePreCandidate && f.ev.Term == t.term-1 &&
			(lost.IsZero() || !f.last.at.Before(lost.Add(-electionTimeout))) && !f.first.at.After(t.since)
		if (full || pre) && !slices.Contains(out, f.ev.Member) {
			out = append(out, f.ev.Member)
		}
	}
	sort.Strings(out)
	return out
}

// seenBy are the members whose logs name the leader of a term, and the other leaders
// that logs name.
func seenBy(facts []*raftFact, t *tenure, m *members) (by, disputed []string) {
	by = []string{}
	for _, f := range facts {
		if f.ev.Term != t.term || f.ev.Leader == "" || f.ev.Kind == logparse.RaftLostLeader {
			continue
		}
		who, list := m.name(f.ev.Member), &by
		if f.ev.Leader != t.leader {
			who, list = m.name(f.ev.Leader), &disputed
		}
		if !slices.Contains(*list, who) {
			*list = append(*list, who)
		}
	}
	sort.Strings(by)
	sort.Strings(disputed)
	return by, disputed
}

// votedTerms are the leaders of the terms that no log tells of, as the hard states in
// the members' WALs show them: who has the votes of a majority was elected.
func (c *Case) votedTerms(ts []*tenure, m *members) []Term {
	known := map[uint64]bool{}
	for _, t := range ts {
		known[t.term] = true
	}
	votes := map[uint64]map[string]string{} // by term and voter
	for _, w := range c.hist.WALs() {
		for _, t := range w.Terms {
			if known[t.Term] || t.Vote == "" || w.MemberID == "" {
				continue
			}
			if votes[t.Term] == nil {
				votes[t.Term] = map[string]string{}
			}
			votes[t.Term][w.MemberID] = t.Vote
		}
	}
	begins := c.termBegins()
	var out []Term
	for term, by := range votes {
		counts := map[string][]string{}
		for _, voter := range sortedKeys(by) {
			counts[by[voter]] = append(counts[by[voter]], m.name(voter))
		}
		for _, leader := range sortedKeys(counts) {
			if 2*len(counts[leader]) > m.size() {
				out = append(out, Term{Number: term, Leader: m.name(leader), Start: timePtr(begins[term]), Stood: []string{m.name(leader)}, SeenBy: counts[leader], Source: "wal", id: leader})
			}
		}
	}
	return out
}

// termBegins are the times of the first entry of each term that can be dated.
func (c *Case) termBegins() map[uint64]time.Time {
	out := map[uint64]time.Time{}
	for i := range c.hist.Entries() {
		e := c.hist.Entry(i)
		if _, ok := out[e.Term]; !ok && e.At != 0 {
			out[e.Term] = c.clock.AtOrAfter(e.At)
		}
	}
	return out
}
