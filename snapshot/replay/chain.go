package replay

import (
	"cmp"
	"crypto/sha256"
	"slices"
)

// anchor says which revision was the current one after a step.
type anchor struct {
	step     int
	revision int64
	source   anchorSource
	// pinned is set if a point says it (too).
	pinned bool
	// needs is the last step before that may have put the same key without
	// comparing its mod_revision, -1 for none. A fromCompare is good only if that
	// one is known to have made expected, or something before.
	needs    int
	expected int64
}

// anchorSource says what names the revision of an anchor.
type anchorSource uint8

const (
	// fromPoint is a point: the step may have made the revision, or not.
	fromPoint anchorSource = iota
	// fromCompare is a later compare: the step made the revision, if that is not
	// older than the log.
	fromCompare
	// fromRecord is a record: the step made the revision, if that is neither older
	// nor newer than the log.
	fromRecord
)

// made says whether the step is said to have made the revision.
func (a anchor) made() bool { return a.source != fromPoint }

// anchors finds the steps whose revision something names, in order.
func (p *placer) anchors() []anchor {
	found := map[int]anchor{}
	p.compared(found)
	p.recorded(found)
	p.pointed(found)
	var anchors []anchor
	for _, a := range found {
		anchors = append(anchors, a)
	}
	slices.SortFunc(anchors, func(a, b anchor) int { return cmp.Compare(a.step, b.step) })
	return anchors
}

// compared finds the revisions that later compares name.
func (p *placer) compared(found map[int]anchor) {
	for key, steps := range p.byKey {
		needs := -1
		for at, i := range steps {
			s := &p.steps[i]
			if r := p.namedLater(key, steps, at); r != 0 {
				found[i] = anchor{step: i, revision: r, source: fromCompare, needs: needs, expected: s.expected}
			}
			if s.kind == stepOther || !s.del && s.pre != SameModRevision {
				needs = i
			}
		}
	}
}

// maxLook is how many later writes of a key are looked at for one that names a
// revision.
const maxLook = 1000

// namedLater returns the revision of a put that a later compare names: the first
// one after that which the put expected, if no other write can have made it.
func (p *placer) namedLater(key string, steps []int, at int) int64 {
	s := &p.steps[steps[at]]
	if s.kind != stepWrite || s.del || s.repeat {
		return 0
	}
	switch s.pre {
	case MustNotExist:
		if at > 0 { // what is named may be from an earlier lifetime
			return 0
		}
	case SameModRevision:
		if p.contenders[expectation{key, s.expected}] > 1 {
			return 0
		}
	default:
		return 0
	}
	for _, j := range steps[at+1 : min(at+1+maxLook, len(steps))] {
		later := &p.steps[j]
		if later.kind != stepWrite || later.pre != SameModRevision {
			return 0
		}
		if later.expected > s.expected {
			if !plausible(later.expected) {
				return 0
			}
			if s.pre == SameModRevision && p.facts.next(key, s.expected) != later.expected {
				return 0
			}
			return later.expected
		}
	}
	return 0
}

// recorded finds the records that have the value of one put only, among keys that
// no other step puts.
func (p *placer) recorded(found map[int]anchor) {
	type write struct {
		key string
		sum [sha256.Size]byte
	}
	puts := map[write][]int{}
	for i := range p.steps {
		if s := &p.steps[i]; s.kind == stepWrite && !s.del && p.facts.recorded[s.key] {
			w := write{s.key, s.sum}
			puts[w] = append(puts[w], i)
		}
	}
	times := map[write]int{}
	for _, r := range p.known.Records {
		times[write{r.Key, r.Sum}]++
	}
	for _, r := range p.known.Records {
		w := write{r.Key, r.Sum}
		steps := puts[w]
		if r.Tombstone || !plausible(r.Main) || len(steps) != 1 || times[w] != 1 || p.mixed[r.Key] {
			continue
		}
		s := &p.steps[steps[0]]
		if s.pre != SameModRevision || p.facts.next(s.key, s.expected) == r.Main {
			found[steps[0]] = anchor{step: steps[0], revision: r.Main, source: fromRecord}
		}
	}
}

// pointed finds the steps of points. What else names their revision says that they
// made it; if it names another one, it is wrong.
func (p *placer) pointed(found map[int]anchor) {
	for _, point := range p.known.Points {
		i, ok := p.stepOf(point)
		if !ok {
			continue
		}
		a := found[i]
		if a.revision != point.Revision {
			a = anchor{step: i, revision: point.Revision}
		}
		a.pinned = true
		found[i] = a
	}
}

// stepOf returns the step of a point; ok is false if the log does not have it.
func (p *placer) stepOf(point Point) (i int, ok bool) {
	i, ok = slices.BinarySearchFunc(p.steps, point.Index, func(s step, index uint64) int { return cmp.Compare(s.index, index) })
	return i, ok && plausible(point.Revision)
}

// bounds are how many revisions steps make, at least and at most: least[i] and
// most[i] are those of the first i steps.
type bounds struct {
	least, most []int64
	// unsure is most of the steps at the beginning that an alarm may have refused.
	unsure int64
}

func (p *placer) bounds() bounds {
	b := bounds{least: make([]int64, len(p.steps)+1), most: make([]int64, len(p.steps)+1)}
	for i := range p.steps {
		s := &p.steps[i]
		b.least[i+1], b.most[i+1] = b.least[i], b.most[i]
		if s.kind == stepWrite && s.pre == NoPrecondition && !s.del && s.lease == 0 && !s.doubtful {
			b.least[i+1]++
		}
		if s.kind >= stepWrite && !s.repeat {
			b.most[i+1]++
		}
		if s.doubtful {
			b.unsure = b.most[i+1]
		}
	}
	return b
}

// together says whether two anchors can both be right; x is the earlier one.
func (b bounds) together(x, y anchor) bool {
	made := y.revision - x.revision
	return made >= b.least[y.step+1]-b.least[x.step+1] && made <= b.most[y.step+1]-b.most[x.step+1] && (!y.made() || made > 0)
}

// chainStarts is how many anchors are tried as the one to begin with.
const chainStarts = 32

// trust is how many times more steps there have to be beyond an anchor than
// between it and the next one that is trusted. What an anchor names may be from
// beyond the end of the log; but then so many steps between the two have failed as
// others have not beyond it.
const trust = 3

// longestChain returns anchors that go together, and how many others there are.
func (p *placer) longestChain() (chain []anchor, dropped int) {
	b, anchors := p.bounds(), p.anchors()
	for n := range chainStarts {
		start := n * len(anchors) / chainStarts
		if start >= len(anchors) {
			break
		}
		if c := chainFrom(b, anchors, start); len(c) > len(chain) {
			chain = c
		}
	}
	chain = supported(chain)
	return chain, len(anchors) - len(chain)
}

// trimmed leaves out the ends of a chain that are not to be trusted. What a point
// says stays, but not that the step made it.
func trimmed(b bounds, chain []anchor) []anchor {
	first := len(chain) - 1
	for first > 0 && b.startTrusts(chain[first-1], chain[first]) {
		first--
	}
	if first < 0 {
		return nil
	}
	last := 0
	for i, a := range chain {
		if a.source != fromRecord || a.pinned {
			last = i
		}
	}
	for last < len(chain)-1 && b.endTrusts(chain[last], chain[last+1]) {
		last++
	}
	var out []anchor
	for i, a := range chain {
		switch {
		case i >= first && i <= last:
			out = append(out, a)
		case a.pinned:
			a.source = fromPoint
			out = append(out, a)
		}
	}
	return out
}

// startTrusts says whether x is not from before the log, if y is not.
func (b bounds) startTrusts(x, y anchor) bool {
	return trust*(b.most[y.step+1]-b.most[x.step+1]) < b.most[x.step]-b.unsure
}

// endTrusts says whether y is not from after the log, if x is not.
func (b bounds) endTrusts(x, y anchor) bool {
	return trust*(b.most[y.step+1]-b.most[x.step+1]) < b.most[len(b.most)-1]-b.most[y.step+1]
}

// supported returns the anchors of a chain that have what they need.
func supported(chain []anchor) []anchor {
	made := map[int]int64{}
	var out []anchor
	for _, a := range chain {
		if a.source == fromCompare && a.needs >= 0 {
			if r := made[a.needs]; r == 0 || r > a.expected {
				continue
			}
		}
		if a.made() {
			made[a.step] = a.revision
		}
		out = append(out, a)
	}
	return out
}

// chainFrom takes each anchor that goes together with the last one taken, from
// one on in both directions.
func chainFrom(b bounds, anchors []anchor, start int) []anchor {
	chain := []anchor{anchors[start]}
	for i := start - 1; i >= 0; i-- {
		if b.together(anchors[i], chain[len(chain)-1]) {
			chain = append(chain, anchors[i])
		}
	}
	slices.Reverse(chain)
	for _, a := range anchors[start+1:] {
		if b.together(chain[len(chain)-1], a) {
			chain = append(chain, a)
		}
	}
	return chain
}
