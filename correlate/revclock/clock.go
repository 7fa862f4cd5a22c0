package revclock

import (
	"context"
	"slices"
	"sort"
	"time"

	"etcd-autopsy/snapshot"
)

// Clock places revisions on the wall clock. etcd stores no time; what objects,
// leases and audit lines say of the moment they were written holds every
// revision between two bounds.
//
// A stamp is written before its revision is committed, so the highest stamp at or
// below a revision is a lower bound; the answer to a request comes after, so the
// lowest answer at or above it is an upper bound. Writers whose clock disagrees
// with the API servers' by more than skewLimit hold nothing and are listed.
type Clock struct {
	// mains are the distinct main revisions in order; the slices run beside it.
	mains []int64
	// puts says which of them stored a value: deletions pass where puts do not.
	puts         []bool
	lower, upper []time.Time
	estimate     []time.Time
	skewed       []Skew
	outliers     int
	// stamps are those that the last fit used; quiet are the times in which etcd
	// committed nothing, by its own logs.
	stamps []stamp
	quiet  [][2]time.Time
}

// Skew is a writer whose stamps were not used, and how far its clock is from the
// API servers': positive when it is ahead.
type Skew struct {
	Writer string
	Offset time.Duration
}

// A stamp bounds one revision: its writer's clock showed at just before commit.
type stamp struct {
	rev    int64
	at     time.Time
	writer string
	// tight stamps are taken just before the write (a Lease renewal): the commit
	// follows within milliseconds when etcd is well.
	tight bool
	// soft stamps are whole seconds set while the write was handled: the commit is
	// about half a second after them.
	soft bool
	// until is when the write was surely done, zero if nothing shows that.
	until time.Time
	// answered stamps are audited requests: until is when the answer went out.
	answered bool
}

const (
	// skewLimit is the offset from which a writer's stamps are not used.
	skewLimit = time.Second
	// tightLag is how long after a tight stamp the commit usually is.
	tightLag = 12 * time.Millisecond
	// looseLimit and looseSamples are what it takes to call a clock wrong by whole
	// seconds alone: those are set before webhooks are asked, which may take long.
	looseLimit   = 5 * time.Second
	looseSamples = 4
	// softLag is how long after a stamp in whole seconds the commit is on average.
	softLag = 500 * time.Millisecond
	// softLimit is how long after a stamp in whole seconds the commit is at most,
	// while etcd is well.
	softLimit = 3 * time.Second
	// answerLead is how long before its answer a write usually is committed.
	answerLead = 5 * time.Millisecond
)

// New builds the clock of a history: stored stamps first, then the requests that
// can be joined to a revision, and once more with those. The Revision of each
// joined request is set. The error is only ever that of a cancelled context.
func New(ctx context.Context, h *snapshot.History, requests []*Request) (*Clock, error) {
	k := &Clock{}
	for i := range h.Len() {
		r := h.At(i)
		if n := len(k.mains); n == 0 || k.mains[n-1] != r.Main {
			k.mains, k.puts = append(k.mains, r.Main), append(k.puts, false)
		}
		k.puts[len(k.puts)-1] = k.puts[len(k.puts)-1] || !r.Tombstone
	}
	if len(k.mains) == 0 {
		return k, nil
	}
	stamps, err := storedStamps(ctx, h)
	if err != nil {
		return nil, err
	}
	j := newJoiner(h, requests)
	joined := j.byPredecessor(stamps)
	joined, stamps = k.dropOutliers(joined, stamps)
	k.fit(append(joined, stamps...))
	k.dropSkewed(append(joined, stamps...))
	stamps = k.without(stamps)
	k.fit(append(joined, stamps...))
	joined = append(joined, j.byTime(k)...)
	k.fit(append(joined, stamps...))
	k.stamps = append(joined, stamps...)
	return k, nil
}

// Outliers is how many stamps were not used because most others contradict them.
func (k *Clock) Outliers() int { return k.outliers }

// Skewed lists the writers whose stamps were not used, in order of name.
func (k *Clock) Skewed() []Skew { return k.skewed }

// Has says whether the history holds a main revision.
func (k *Clock) Has(main int64) bool { return k.index(main) >= 0 }

// index finds the position of a main revision, -1 if the history lacks it.
func (k *Clock) index(main int64) int {
	i := sort.Search(len(k.mains), func(i int) bool { return k.mains[i] >= main })
	if i == len(k.mains) || k.mains[i] != main {
		return -1
	}
	return i
}

// At returns the best estimate of a revision's commit and the interval that holds
// it; zero times where nothing bounds it.
func (k *Clock) At(main int64) (est, earliest, latest time.Time) {
	i := k.index(main)
	if i < 0 {
		return
	}
	return k.estimate[i], k.lower[i], k.upper[i]
}

// Time is the best estimate of a revision's commit, zero if unknown.
func (k *Clock) Time(main int64) time.Time {
	t, _, _ := k.At(main)
	return t
}

// AtOrAfter is the time of a revision, or of the next one that the history has;
// zero past its end.
func (k *Clock) AtOrAfter(main int64) time.Time {
	i := sort.Search(len(k.mains), func(i int) bool { return k.mains[i] >= main })
	if i == len(k.mains) {
		return time.Time{}
	}
	return k.estimate[i]
}

// LastBefore is the estimate of the last revision before a moment, zero if there
// is none.
func (k *Clock) LastBefore(t time.Time) time.Time {
	i := sort.Search(len(k.estimate), func(i int) bool { return !k.estimate[i].Before(t) })
	if i == 0 {
		return time.Time{}
	}
	return k.estimate[i-1]
}

// Pauses are the pauses of at least limit between two consecutive puts that touch
// an interval, and the one from the last put to end, which is when the state of
// the store is last known.
func (k *Clock) Pauses(from, to time.Time, limit time.Duration, end time.Time) [][2]time.Time {
	var out [][2]time.Time
	add := func(a, b time.Time) {
		if b.Sub(a) >= limit && a.Before(to) && b.After(from) {
			out = append(out, [2]time.Time{a, b})
		}
	}
	last := -1
	for i, put := range k.puts {
		if !put {
			continue
		}
		if last >= 0 {
			add(k.estimate[last], k.estimate[i])
		}
		last = i
	}
	if last >= 0 {
		add(k.estimate[last], end)
	}
	return out
}

// LastPut is the estimate of the newest put, zero without one.
func (k *Clock) LastPut() time.Time {
	for i := len(k.puts) - 1; i >= 0; i-- {
		if k.puts[i] {
			return k.estimate[i]
		}
	}
	return time.Time{}
}

// FirstPutAfter is the estimate of the first put after a moment, zero if none came.
func (k *Clock) FirstPutAfter(t time.Time) time.Time {
	for i, put := range k.puts {
		if put && k.estimate[i].After(t) {
			return k.estimate[i]
		}
	}
	return time.Time{}
}

// Last is the estimate of the newest revision, zero without a store.
func (k *Clock) Last() time.Time {
	if len(k.estimate) == 0 {
		return time.Time{}
	}
	return k.estimate[len(k.estimate)-1]
}

// fit computes bounds and estimates from the stamps.
func (k *Clock) fit(stamps []stamp) {
	n := len(k.mains)
	k.lower, k.upper, k.estimate = make([]time.Time, n), make([]time.Time, n), make([]time.Time, n)
	guess, soft := make([]time.Time, n), make([]time.Time, n)
	for _, s := range stamps {
		i := k.index(s.rev)
		if i < 0 {
			continue
		}
		if s.at.After(k.lower[i]) {
			k.lower[i] = s.at
		}
		if !s.until.IsZero() && (k.upper[i].IsZero() || s.until.Before(k.upper[i])) {
			k.upper[i] = s.until
		}
		if g := s.guess(); !g.IsZero() && (guess[i].IsZero() || s.answered) {
			guess[i] = g
		}
		if s.soft && s.at.After(soft[i]) {
			soft[i] = s.at
		}
	}
	k.propagate()
	k.interpolate(guess, soft)
}

// guess is the most likely commit time of a stamp's revision, zero for a stamp
// that only bounds it.
func (s *stamp) guess() time.Time {
	switch {
	case s.answered:
		return s.until.Add(-min(answerLead, s.until.Sub(s.at)/3))
	case s.tight:
		return s.at.Add(tightLag)
	}
	return time.Time{}
}

// propagate carries lower bounds up and upper bounds down the revisions. Where
// they cross (a stamp lied), the upper bound gives way.
func (k *Clock) propagate() {
	for i := 1; i < len(k.mains); i++ {
		if k.lower[i-1].After(k.lower[i]) {
			k.lower[i] = k.lower[i-1]
		}
	}
	for i := len(k.mains) - 2; i >= 0; i-- {
		if u := k.upper[i+1]; !u.IsZero() && (k.upper[i].IsZero() || u.Before(k.upper[i])) {
			k.upper[i] = u
		}
	}
	for i := range k.mains {
		if !k.upper[i].IsZero() && k.upper[i].Before(k.lower[i]) {
			k.upper[i] = k.lower[i]
		}
	}
}

// interpolate fills the estimates: guesses clamped to the bounds and kept in
// order, the rest between their neighbours.
func (k *Clock) interpolate(guess, soft []time.Time) {
	last := -1
	for i := range k.mains {
		if guess[i].IsZero() {
			continue
		}
		e := k.clamp(i, k.afterQuiet(i, k.clamp(i, guess[i])))
		if last >= 0 && e.Before(k.estimate[last]) {
			e = k.estimate[last]
		}
		k.estimate[i] = e
		k.fillBetween(last, i, soft)
		last = i
	}
	k.fillTail(last, soft)
}

// fillBetween estimates the revisions between two guessed ones: those with a soft
// stamp half a second after it, the others on a line between their neighbours.
func (k *Clock) fillBetween(a, b int, soft []time.Time) {
	from := a
	for i := a + 1; i < b; i++ {
		if soft[i].IsZero() {
			continue
		}
		e := k.clamp(i, k.beforeQuiet(i, k.clamp(i, soft[i].Add(softLag))))
		if from >= 0 && e.Before(k.estimate[from]) {
			e = k.estimate[from]
		}
		if e.After(k.estimate[b]) {
			e = k.estimate[b]
		}
		k.estimate[i] = e
		k.line(from, i)
		from = i
	}
	k.line(from, b)
}

// line puts the revisions between two estimated ones on a line; those before the
// first one at its time.
func (k *Clock) line(a, b int) {
	if a < 0 {
		for i := b - 1; i >= 0; i-- {
			k.estimate[i] = k.clamp(i, k.estimate[b])
		}
		return
	}
	span := k.estimate[b].Sub(k.estimate[a])
	width := float64(k.mains[b] - k.mains[a])
	for i := a + 1; i < b; i++ {
		f := float64(k.mains[i]-k.mains[a]) / width
		e := k.clamp(i, k.afterQuiet(i, k.estimate[a].Add(time.Duration(f*float64(span)))))
		if e.Before(k.estimate[i-1]) {
			e = k.estimate[i-1]
		}
		k.estimate[i] = e
	}
}

// fillTail estimates what follows the last guess: after its soft stamp, else at
// its lower bound, which is all that is known.
func (k *Clock) fillTail(last int, soft []time.Time) {
	for i := last + 1; i < len(k.mains); i++ {
		e := k.lower[i]
		if !soft[i].IsZero() {
			e = k.clamp(i, soft[i].Add(softLag))
		}
		if i > 0 && e.Before(k.estimate[i-1]) {
			e = k.estimate[i-1]
		}
		k.estimate[i] = e
	}
}

// clamp keeps a time within the bounds of a revision.
func (k *Clock) clamp(i int, t time.Time) time.Time {
	if u := k.upper[i]; !u.IsZero() && t.After(u) {
		t = u
	}
	if t.Before(k.lower[i]) {
		t = k.lower[i]
	}
	return t
}

// dropSkewed finds the writers whose stamps disagree with the API servers' by more
// than skewLimit in the median. With every writer's stamp a running maximum, one
// clock that is ahead drags the fit; so the bounds to compare with come from the
// API servers alone: their own stamps, and the requests they answered.
func (k *Clock) dropSkewed(stamps []stamp) {
	ref := &Clock{mains: k.mains}
	var own []stamp
	for _, s := range stamps {
		if s.writer != apiserverWriter {
			continue
		}
		if s.soft && s.until.IsZero() {
			// Good enough to find a clock that is off, not to bound a revision.
			s.until = s.at.Add(softLimit)
		}
		own = append(own, s)
	}
	if len(own) == 0 {
		return
	}
	answered := slices.ContainsFunc(own, func(s stamp) bool { return s.answered })
	ref.fit(own)
	offsets, tight := map[string][]float64{}, map[string]bool{}
	for _, s := range stamps {
		if s.writer == apiserverWriter {
			continue
		}
		tight[s.writer] = tight[s.writer] || s.tight
		offsets[s.writer] = append(offsets[s.writer], ref.outside(s).Seconds())
	}
	for w, off := range offsets {
		// A stamp that is not tight may be old, so only one from the future counts.
		m := median(off)
		if !answered && (len(off) < looseSamples || m < looseLimit.Seconds() && m > -looseLimit.Seconds()) {
			continue
		}
		if m > skewLimit.Seconds() || tight[w] && m < -skewLimit.Seconds() {
			k.skewed = append(k.skewed, Skew{w, time.Duration(m * float64(time.Second)).Round(100 * time.Millisecond)})
		}
	}
	sort.Slice(k.skewed, func(i, j int) bool { return k.skewed[i].Writer < k.skewed[j].Writer })
}

// outside is how far a stamp lies outside the bounds of its revision: positive
// when it is later than the write can have been, 0 inside.
func (k *Clock) outside(s stamp) time.Duration {
	i := k.index(s.rev)
	if i < 0 {
		return 0
	}
	if u := k.upper[i]; !u.IsZero() && s.at.After(u) {
		return s.at.Sub(u)
	}
	if s.at.Before(k.lower[i]) {
		return s.at.Sub(k.lower[i])
	}
	return 0
}

// without drops the stamps of skewed writers.
func (k *Clock) without(stamps []stamp) []stamp {
	bad := map[string]bool{}
	for _, s := range k.skewed {
		bad[s.Writer] = true
	}
	var out []stamp
	for _, s := range stamps {
		if !bad[s.writer] {
			out = append(out, s)
		}
	}
	return out
}

// A Bound says that a revision was committed after a moment.
type Bound struct {
	Revision int64
	After    time.Time
}

// Refit fits once more, with further bounds and knowing when etcd committed nothing.
func (k *Clock) Refit(more []Bound, quiet [][2]time.Time) {
	if len(k.mains) == 0 || len(more)+len(quiet) == 0 {
		return
	}
	for _, b := range more {
		k.stamps = append(k.stamps, stamp{rev: b.Revision, at: b.After, writer: apiserverWriter})
	}
	k.quiet = quiet
	k.fit(k.stamps)
}

// afterQuiet moves an estimate out of a quiet time to its end, as far as the upper
// bound allows. The bounds themselves stay, since the members' clocks may differ
// a little from the API servers'.
func (k *Clock) afterQuiet(i int, t time.Time) time.Time {
	for _, q := range k.quiet {
		if t.After(q[0]) && t.Before(q[1]) && (k.upper[i].IsZero() || !k.upper[i].Before(q[1])) {
			return q[1].Add(tightLag)
		}
	}
	return t
}

// beforeQuiet moves a loose estimate out of a quiet time: to its start where the
// revision may have been committed by then, else to its end.
func (k *Clock) beforeQuiet(i int, t time.Time) time.Time {
	for _, q := range k.quiet {
		if t.After(q[0]) && t.Before(q[1]) && k.lower[i].Before(q[0]) {
			return q[0]
		}
	}
	return k.afterQuiet(i, t)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func median(v []float64) float64 {
	sort.Float64s(v)
	return v[len(v)/2]
}
