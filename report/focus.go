package report

import (
	"time"

	"etcd-autopsy/correlate"
)

// focus is what the document is about.
type focus struct {
	// rollout is the verdict's; nil if the verdict is about none.
	rollout *correlate.Rollout
	episode *correlate.Episode
	// shown is the rollout of the pictures: the verdict's, else the latest.
	shown *correlate.Rollout
	// from and to bound what happened, zero if no time is known; open is true
	// when it had not ended where the evidence ends.
	from, to time.Time
	open     bool
	// last is the latest time in the evidence.
	last time.Time
}

func focusOf(a *correlate.Analysis) focus {
	f := focus{last: evidenceEnd(a)}
	if id := a.Verdict.Rollout; id != nil {
		f.rollout = find(a.Rollouts, func(r correlate.Rollout) bool { return r.ID == *id })
	}
	if id := a.Verdict.Episode; id != nil && f.rollout == nil {
		f.episode = find(a.Episodes, func(e correlate.Episode) bool { return e.ID == *id })
	}
	f.shown = f.rollout
	if f.shown == nil && len(a.Rollouts) > 0 {
		f.shown = &a.Rollouts[len(a.Rollouts)-1]
	}
	switch {
	case f.episode != nil:
		f.bound(f.episode.Start, f.episode.End)
	case f.shown != nil && f.shown.End == nil && f.shown.Outcome == correlate.Refused:
		f.bound(rolloutStart(f.shown), rolloutStart(f.shown))
	case f.shown != nil:
		f.bound(rolloutStart(f.shown), f.shown.End)
	default:
		f.bound(evidenceStart(a), &f.last)
	}
	return f
}

// bound sets the window; without an end it reaches to the end of the evidence.
func (f *focus) bound(from, to *time.Time) {
	if from == nil {
		return
	}
	f.from = *from
	if to == nil {
		f.open = true
		to = &f.last
	}
	if to.After(f.from) {
		f.to = *to
		return
	}
	f.to = f.from
}

func rolloutStart(r *correlate.Rollout) *time.Time {
	if r.Start != nil {
		return r.Start
	}
	return r.Trigger.Time
}

func find[T any](list []T, is func(T) bool) *T {
	for i := range list {
		if is(list[i]) {
			return &list[i]
		}
	}
	return nil
}

// evidenceEnd is the latest time that anything in the analysis has.
func evidenceEnd(a *correlate.Analysis) time.Time {
	var end time.Time
	later := func(t *time.Time) {
		if t != nil && t.After(end) {
			end = *t
		}
	}
	for _, in := range a.Inputs {
		if !in.Foreign {
			later(in.Last)
		}
	}
	for _, e := range a.Evidence {
		later(e.Time)
	}
	for _, s := range a.Signals {
		later(s.End)
	}
	for _, p := range a.Points {
		later(p.Time)
	}
	for _, r := range a.Rollouts {
		later(r.End)
	}
	for _, e := range a.Episodes {
		later(e.End)
	}
	return end
}

// evidenceStart is the earliest first record of an input, nil if none has a time.
func evidenceStart(a *correlate.Analysis) *time.Time {
	var start *time.Time
	for _, in := range a.Inputs {
		if in.First != nil && (start == nil || in.First.Before(*start)) {
			start = in.First
		}
	}
	return start
}
