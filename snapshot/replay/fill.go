package replay

import "math"

// filler places all steps between anchors. What it knows of keys is from steps
// whose revision is exact.
type filler struct {
	*placer
	anchors map[int]anchor // by step
	placed  []Placed       // for each step
	keys    knownKeys
	broken  int

	// The stretch since the last anchor: its first step, the revision before it,
	// which is 0 if it is not known, and what is thought of its steps so far.
	first    int
	before   int64
	verdicts []verdict
	// low and high are the least and the most that the revision after the last
	// step can be.
	low, high int64
	// touched are the keys that steps of unsettled revision may have changed.
	touched map[string]touch
	// leased are the keys that unsettled steps may have put under each lease.
	leased map[int64][]string
	// wideAt is the last step that may have changed any key, -1 for none.
	wideAt int
	// settled is how many steps of the stretch, from its first, have been settled.
	settled int
}

// touch is what the unsettled steps of a stretch may have made of a key.
type touch struct {
	at        int   // the last step that touched it
	low, high int64 // revisions that it may have
	sure      bool  // the last step that touched it made a revision
	live      bool  // and put it
}

func newFiller(p *placer, chain []anchor) *filler {
	f := &filler{placer: p, anchors: map[int]anchor{}, placed: make([]Placed, len(p.steps)), wideAt: -1, keys: newKnownKeys(p)}
	for _, a := range chain {
		f.anchors[a.step] = a
	}
	f.begin(0, 0)
	return f
}

// begin starts a stretch at a step; revision is the one before it, 0 for unknown.
func (f *filler) begin(first int, revision int64) {
	f.first, f.before, f.settled = first, revision, 0
	f.verdicts, f.touched = f.verdicts[:0], map[string]touch{}
	f.leased = map[int64][]string{}
	f.low, f.high = revision, revision
	if revision == 0 {
		f.high = math.MaxInt64 / 2
	}
}

// run places all steps.
func (f *filler) run() {
	for i := range f.steps {
		a, anchored := f.anchors[i]
		v := f.judgeStep(i)
		if anchored && a.made() {
			if v == no {
				f.breakOff(i)
				continue
			}
			v = yes
		}
		f.follow(i, v)
		if anchored {
			f.close(i, a.revision)
		}
	}
	f.end(len(f.steps))
}

// follow takes note of a step. As long as all is exact, it is settled at once.
func (f *filler) follow(i int, v verdict) {
	exact := f.low == f.high && len(f.touched) == 0
	f.verdicts = append(f.verdicts, v)
	if v != no {
		f.high++
	}
	if v == yes {
		f.low++
	}
	if exact && v != maybe {
		f.settle(i, v, f.low)
		f.settled++
		return
	}
	f.touch(i, v)
}

// touch takes note of what an unsettled step may have done.
func (f *filler) touch(i int, v verdict) {
	s := &f.steps[i]
	if v == no {
		if s.kind == stepGrant {
			f.keys.grant(s.lease)
		}
		return
	}
	if s.wide() {
		f.wideAt = i
		f.keys.forget()
		return
	}
	t := touch{at: i, low: f.low, high: f.high, sure: v == yes && s.kind == stepWrite, live: !s.del}
	for _, key := range f.touches(s) {
		f.touched[key] = t
	}
	switch {
	case s.kind == stepRevoke:
		for _, key := range f.leased[s.lease] {
			f.touched[key] = t
		}
		delete(f.leased, s.lease)
	case s.kind == stepWrite && s.lease != 0:
		f.leased[s.lease] = append(f.leased[s.lease], s.key)
	}
}

// touches returns the keys that a step may change, save one that is wide.
func (f *filler) touches(s *step) []string {
	switch s.kind {
	case stepWrite:
		return []string{s.key}
	case stepRevoke:
		keys, _ := f.keys.attached(s.lease)
		return keys
	}
	var keys []string
	for _, t := range s.spans {
		keys = append(keys, t.key)
	}
	return keys
}
