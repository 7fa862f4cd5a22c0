package correlate

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"etcd-autopsy/snapshot"
)

// failedWrites lists the write requests that were answered with an error, equal
// ones of one client folded, each with what became of it. Conflicts and names that
// exist or are missing are how clients work and are left out (incidents.md N-7).
func (c *Case) failedWrites(b *book) []Write {
	out := []Write{}
	index := map[string]int{}
	members := c.clusterMembers()
	for _, w := range c.writes {
		if !w.failed() || w.Code == 404 || w.Code == 409 {
			continue
		}
		key := strings.Join([]string{w.Request.Verb, w.object, w.user, w.Message, string(w.Fate)}, "\x00")
		if i, ok := index[key]; ok && w.Fate != FateLanded {
			out[i].Repeats++
			continue
		}
		index[key] = len(out)
		row := c.writeRow(w, members)
		row.Evidence = b.add(c.writeCites(w))
		out = append(out, row)
	}
	return out
}

// failed says whether a request was answered with an error, or not at all as far
// as the logs show.
func (w *writeRequest) failed() bool {
	switch {
	case w.audit != nil:
		return !w.audit.OK() && (w.Code == 0 || w.Code >= 400)
	case len(w.traces) > 0:
		return w.Message != "" || w.Fate == FateRejected || w.Fate == FateLost
	}
	return w.Fate != FateLanded
}

// writeRow is what is said of a request; the evidence is added by the caller.
func (c *Case) writeRow(w *writeRequest, members []snapshot.Member) Write {
	row := Write{
		Time: timePtr(w.Received), Verb: w.Request.Verb, Object: w.object, User: w.user, Code: w.Code, Answer: cutText(w.Message),
		Fate: w.Fate, Why: w.Why, WouldSettle: w.Settle, Revision: revPtr(w.Verdict.Revision),
	}
	if w.audit != nil {
		row.AuditID = w.audit.AuditID
	} else if len(w.traces) > 0 {
		row.AuditID = w.traces[0].auditID
	}
	if w.Entry >= 0 {
		if id := c.hist.Entry(w.Entry).Request; id != 0 {
			row.RequestID, row.Member = strconv.FormatUint(id, 10), snapshot.Proposer(id, members)
		}
	}
	if w.Verdict.Revision != 0 {
		row.LandedAt = timePtr(c.clock.Time(w.Verdict.Revision))
		row.Why = c.landedWhy(w)
	}
	return row
}

// landedWhy says how long after its answer a write was stored.
func (c *Case) landedWhy(w *writeRequest) string {
	at, lo, hi := c.clock.At(w.Verdict.Revision)
	if !w.failed() || at.IsZero() || w.Completed.IsZero() {
		return w.Why
	}
	var when string
	switch {
	case strings.Contains(w.Message, timedOut) && at.After(w.Completed): // it was not applied then
		when = fmt.Sprintf("stored about %s after it was answered", seconds(at.Sub(w.Completed)))
	case !lo.Before(w.Completed) && hi.Sub(lo) > time.Second:
		when = fmt.Sprintf("stored %s to %s after it was answered", seconds(lo.Sub(w.Completed)), seconds(hi.Sub(w.Completed)))
	case !lo.Before(w.Completed):
		when = fmt.Sprintf("stored %s after it was answered", seconds(at.Sub(w.Completed)))
	case !hi.After(w.Completed):
		when = fmt.Sprintf("stored %s before it was answered", seconds(w.Completed.Sub(at)))
	case hi.After(w.Completed.Add(2 * time.Second)):
		when = fmt.Sprintf("stored before it was answered, or up to %s after", seconds(hi.Sub(w.Completed)))
	default:
		when = "stored at about the time it was answered"
	}
	return when + ": " + w.Why
}

// writeCites are what a row about a request rests on: the lines of the logs, then
// the entry, then the revision.
func (c *Case) writeCites(w *writeRequest) []*cite {
	var cites []*cite
	if w.audit != nil {
		cites = append(cites, auditCite(w.audit))
	}
	for _, t := range w.traces {
		cites = append(cites, lineCite(t.note))
	}
	for _, s := range w.slow {
		cites = append(cites, lineCite(s.note))
	}
	for _, i := range w.Before {
		cites = append(cites, c.entryShown(i))
	}
	if w.Entry >= 0 {
		cites = append(cites, c.entryShown(w.Entry))
	}
	if r := w.Verdict.Revision; r != 0 {
		for _, i := range c.hist.Key(w.Key) {
			if c.hist.At(i).Main == r {
				cites = append(cites, revCite(i, "%s stored at revision %d", w.object, r))
			}
		}
	}
	return cites
}

// entryShown cites an entry and says what it asks for and what came of it.
func (c *Case) entryShown(i int) *cite {
	e := c.hist.Entry(i)
	what := e.Kind
	if e.Verb != "" {
		what = e.Verb + " " + c.objectOfKey(e.Key)
	}
	switch {
	case e.Expected == 0:
		what += " if it does not exist"
	case e.Expected > 0:
		what += fmt.Sprintf(" if its mod_revision is %d", e.Expected)
	}
	came := e.State.String()
	switch {
	case e.Revision != 0:
		came = fmt.Sprintf("made revision %d", e.Revision)
	case e.Reason == "compare-failed" && e.Found >= 0:
		came = fmt.Sprintf("rejected, its mod_revision was %d", e.Found)
	case e.Reason != "":
		came = "rejected: " + e.Reason
	}
	return entryCite(i, "%s: %s", what, came)
}

// clusterMembers are the members that the stores or the raft log name, each once.
func (c *Case) clusterMembers() []snapshot.Member {
	var out []snapshot.Member
	seen := map[string]bool{}
	lists := [][]snapshot.Member{}
	for _, s := range c.ownStores() {
		lists = append(lists, s.Members)
	}
	for _, list := range append(lists, c.hist.LoggedMembers()) {
		for _, m := range list {
			if !seen[m.ID] {
				seen[m.ID] = true
				out = append(out, m)
			}
		}
	}
	return out
}

// signals are the bursts of all logs, for the picture and the timeline.
func (c *Case) signals() []Signal {
	out := []Signal{}
	for _, l := range c.logs {
		if l == nil {
			continue
		}
		in := &c.inputs[l.input]
		for _, b := range l.bursts {
			if b.first.at.IsZero() {
				continue
			}
			out = append(out, Signal{
				Signature: b.sig, Input: in.Label, Source: in.Path, Component: string(l.id.Component), Level: b.first.level.String(),
				Start: timePtr(b.first.at), End: timePtr(b.last.at), Count: b.count, Line: b.first.line, Text: b.first.text,
			})
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if !out[i].Start.Equal(*out[j].Start) {
			return out[i].Start.Before(*out[j].Start)
		}
		return out[i].Source < out[j].Source
	})
	return out
}

// maxListedStamps keeps a note short.
const maxListedStamps = 6

// outlierNote says that stamps were not used because the others contradict them.
func (c *Case) outlierNote() []string {
	if n := c.clock.Outliers(); n > 0 {
		return []string{fmt.Sprintf("%s not used to date revisions: most others contradict them", plural(n, "stored or audited time was", "stored or audited times were"))}
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// skewNotes says whose clock was off and was not used.
func (c *Case) skewNotes() []string {
	var out []string
	for i, s := range c.clock.Skewed() {
		if i == maxListedStamps {
			out = append(out, fmt.Sprintf("%d more clocks are off", len(c.clock.Skewed())-i))
			break
		}
		ahead := "ahead of"
		d := s.Offset
		if d < 0 {
			ahead, d = "behind", -d
		}
		out = append(out, fmt.Sprintf("The clock of %s was %s %s the API servers'; its stamps were not used to date revisions, and log times of that host may be off by as much", s.Writer, d.Round(time.Second/10), ahead))
	}
	return out
}
