package replay

// verdict is whether a step made a revision.
type verdict uint8

const (
	maybe verdict = iota
	yes
	no
)

// judgeStep says whether a step makes a revision, from what is known before it.
func (f *filler) judgeStep(i int) verdict {
	s := &f.steps[i]
	switch s.kind {
	case stepNone, stepGrant:
		return no
	case stepRevoke:
		return f.judgeRevoke(s)
	case stepOther:
		return maybe
	}
	v := f.judgeWrite(s)
	if v == yes && (s.doubtful || !s.del && s.lease != 0 && !f.keys.leaseLives(s.lease, i)) {
		return maybe
	}
	return v
}

// judgeWrite says whether a write of one key makes a revision.
func (f *filler) judgeWrite(s *step) verdict {
	if s.repeat {
		return no
	}
	if s.pre == NoPrecondition && !s.del {
		return yes
	}
	v := maybe
	if t, ok := f.touched[s.key]; ok && t.at > f.wideAt {
		v = t.judge(s)
	} else if k, ok := f.keys.live(s.key); ok {
		v = k.judge(s)
	}
	if v == maybe && f.refuted(s) {
		return no
	}
	return v
}

// refuted says whether what is known of revisions forbids that a write succeeded.
func (f *filler) refuted(s *step) bool {
	if f.low == f.high && f.facts.foreign(f.low+1, s.key) {
		return true
	}
	if s.pre != SameModRevision {
		return false
	}
	next := f.facts.next(s.key, s.expected)
	return s.expected > f.high || next != 0 && next <= f.low
}

// judge says whether a write makes a revision of a key in a state that is known.
func (k knownKey) judge(s *step) verdict {
	switch s.pre {
	case NoPrecondition:
		return verdictOf(k.mod != 0)
	case MustNotExist:
		return verdictOf(k.mod == 0 && !s.del)
	case SameModRevision:
		return verdictOf(k.mod == s.expected)
	}
	switch {
	case k.mod == 0:
		return no
	case k.version == 0:
		return maybe
	}
	return verdictOf(k.version == s.expected)
}

// judge says what can be said of a write of a key that was touched.
func (t touch) judge(s *step) verdict {
	switch {
	case !t.sure:
		return maybe
	case s.pre == NoPrecondition:
		return verdictOf(t.live)
	case s.pre == MustNotExist:
		return verdictOf(!t.live && !s.del)
	case !t.live, s.pre == SameModRevision && (s.expected < t.low || s.expected > t.high):
		return no
	}
	return maybe
}

func verdictOf(made bool) verdict {
	if made {
		return yes
	}
	return no
}

// judgeRevoke says whether the end of a lease deletes something.
func (f *filler) judgeRevoke(s *step) verdict {
	keys, whole := f.keys.attached(s.lease)
	for _, key := range keys {
		if _, ok := f.touched[key]; !ok {
			return yes
		}
		whole = false
	}
	if whole && len(f.touched) == 0 {
		return no
	}
	return maybe
}
