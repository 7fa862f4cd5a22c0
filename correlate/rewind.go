package correlate

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"etcd-autopsy/snapshot"
)

// restoreSpan bounds the time of a restore: the store that went on without it had
// its last write before it, and the restored one its first new write after it. ok
// is false if that is not so. Then both were written to at once: one is no later
// state of the other, but a cluster that was made from a snapshot of it.
func (c *Case) restoreSpan(r snapshot.Rewind) (from, to time.Time, ok bool) {
	if r.Other < 0 {
		return from, to, false
	}
	from = c.storeClock(r.Other).AtOrAfter(c.hist.Stores()[r.Other].Last)
	to = c.storeClock(r.Store).AtOrAfter(r.Differ)
	return from, to, !from.IsZero() && !to.IsZero() && from.Before(to)
}

// restores are the restores whose time is known, as episodes, if they lie in the
// time that the evidence is about. One that only its store shows can be of any
// time: the report's notes tell it.
func (c *Case) restores(m *members) []*episode {
	var out []*episode
	seen := map[[2]int64]bool{}
	for _, r := range c.hist.Rewinds() {
		from, to, ok := c.restoreSpan(r)
		at := [2]int64{r.LastCommon, r.Differ}
		if !ok || seen[at] || to.Before(c.evidenceBegins()) {
			continue
		}
		seen[at] = true
		gone := c.hist.Stores()[r.Other].Last
		out = append(out, &episode{
			kind: "restore-rewind", start: from, end: to, members: c.ownersOf([]int{r.Store}, m), cites: c.rewindCites(r),
			text: fmt.Sprintf("etcd was restored to a state of revision %d: revisions %d to %d of %s are not in %s, which used their numbers again",
				r.LastCommon, r.LastCommon+1, gone, c.storeLabel(r.Other), c.storeLabel(r.Store)),
			why: fmt.Sprintf("what was written after revision %d is gone, and clients may still hold newer revisions than the store", r.LastCommon),
		})
	}
	return out
}

// passOverRestores drops the silences that go over a restore: what a writer wrote
// in that time is in the line of history that was given up, or it had no etcd to
// write to.
func passOverRestores(pulses []*pulse, eps []*episode) {
	for _, e := range eps {
		if e.kind != "restore-rewind" {
			continue
		}
		for _, p := range pulses {
			p.gaps = slices.DeleteFunc(p.gaps, func(s *silence) bool {
				return s.from.Before(e.end) && !s.open() && !s.to.Before(e.end)
			})
		}
	}
}

// withRestore adds a restore in the middle of a stall to what may be behind it, if
// nothing else is.
func (j *judge) withRestore(s *stall, r ruling) ruling {
	for _, e := range j.eps {
		if e.kind == "restore-rewind" && r.main == nil && e.end.After(s.from) && e.start.Before(s.to) {
			r.candidates = slices.Concat(r.candidates, []Candidate{{e.kind, Possible}})
			return r
		}
	}
	return r
}

// evidenceBegins is when the history becomes complete or the first log begins,
// whichever is earlier; zero if neither is known.
func (c *Case) evidenceBegins() time.Time {
	begin := c.clock.AtOrAfter(c.hist.CompactRevision() + 1)
	for _, l := range c.logs {
		if l != nil && !l.first.IsZero() && (begin.IsZero() || l.first.Before(begin)) {
			begin = l.first
		}
	}
	return begin
}

// rewindCites cites the last revision that both lines have, and the first of each
// that the other does not.
func (c *Case) rewindCites(r snapshot.Rewind) []*cite {
	var out []*cite
	n := sort.Search(c.hist.Len(), func(i int) bool { return c.hist.At(i).Main >= r.LastCommon })
	if n < c.hist.Len() && c.hist.At(n).Main == r.LastCommon {
		out = append(out, revCite(n, "the last revision that both have"))
	}
	for _, x := range c.hist.Conflicts() {
		if x.Main != r.Differ || x.StoreB != r.Store && x.StoreB != r.Other {
			continue
		}
		other := x.Key
		if x.OtherKey != "" {
			other = x.OtherKey
		}
		out = append(out, c.partedCite(x.StoreA, x.Key, r), c.partedCite(x.StoreB, other, r))
		break
	}
	return out
}

// partedCite cites the first revision of one line that the other does not have.
func (c *Case) partedCite(store int, key string, r snapshot.Rewind) *cite {
	what := "written after the restore"
	if store == r.Other {
		what = "written before the restore, and gone"
	}
	return storeCite(store, r.Differ, key, "%s: revision %d of %s", what, r.Differ, c.storeLabel(store))
}

// dayTime writes a moment that can be of another day.
func dayTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// rewindNote is a sentence about a restore.
func (c *Case) rewindNote(r snapshot.Rewind) string {
	stores := c.hist.Stores()
	name := func(k int) string { return join(stores[k].Input, stores[k].Path) }
	if r.Other < 0 {
		return fmt.Sprintf("%s was restored to an earlier state (revision %d, raft index %d) at a time that it does not tell: times and ages from before may mislead", name(r.Store), r.Revision, r.ConsistentIndex)
	}
	text := fmt.Sprintf("%s and %s are equal up to revision %d and differ from revision %d on: the first was restored from a snapshot of what the second goes on from", name(r.Store), name(r.Other), r.LastCommon, r.Differ)
	if from, to, ok := c.restoreSpan(r); ok {
		return text + fmt.Sprintf(", between %s and %s", dayTime(from), dayTime(to))
	}
	return text + ". Both were written to at the same time, or when is not known, so they may be two clusters"
}
