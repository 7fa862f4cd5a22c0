package correlate

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// failedWrites lists the write requests that were answered with an error, equal
// ones of one client folded, each with what the store shows of it. Conflicts and
// names that exist or are missing are how clients work and are left out
// (incidents.md N-7).
func (c *Case) failedWrites(b *book) []Write {
	out := []Write{}
	index := map[string]int{}
	for _, a := range c.audits {
		if a.OK() || a.Code == 404 || a.Code == 409 || a.Code > 0 && a.Code < 400 {
			continue
		}
		fate := fateOf(a)
		object := objectPath(a.Resource, a.Namespace, a.Name)
		if a.Subresource != "" {
			object += "/" + a.Subresource
		}
		key := strings.Join([]string{a.Verb, object, a.User, a.Message, string(fate)}, "\x00")
		if i, ok := index[key]; ok && fate != FateLanded {
			out[i].Repeats++
			continue
		}
		index[key] = len(out)
		w := Write{
			Time: timePtr(a.Received), Verb: a.Verb, Object: object, User: a.User, AuditID: a.AuditID,
			Code: a.Code, Answer: cutText(a.Message), Fate: fate, Revision: revPtr(a.Revision),
		}
		cites := []*cite{auditCite(a)}
		if a.Revision != 0 {
			w.LandedAt = timePtr(c.clock.Time(a.Revision))
			cites = append(cites, c.landedCite(a))
		}
		w.Evidence = b.add(cites)
		out = append(out, w)
	}
	return out
}

// fateOf is what became of a refused write as far as the store shows it; the
// proof that a write never landed needs the WAL.
func fateOf(a *auditEvent) Fate {
	switch {
	case a.Revision != 0:
		return FateLanded
	case strings.Contains(a.Message, "etcdserver: no leader"):
		return FateNotProposed
	case ambiguous(a) || a.Code == 408 || a.Code == 504:
		return FateUnknown
	}
	return FateRejected
}

// landedCite cites the revision that a write made although it was answered with
// an error.
func (c *Case) landedCite(a *auditEvent) *cite {
	for _, key := range c.hist.KeysOf(a.Resource) {
		for _, i := range c.hist.Key(key) {
			if c.hist.At(i).Main == a.Revision {
				return revCite(i, "%s stored at revision %d, %s after the request was received: its managed fields carry manager %q with a time within the request",
					objectPath(a.Resource, a.Namespace, a.Name), a.Revision, seconds(c.clock.Time(a.Revision).Sub(a.Received)), managerOf(a))
			}
		}
	}
	return nil
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
