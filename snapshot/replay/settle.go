package replay

// close ends a stretch at a step after which a revision was the current one.
func (f *filler) close(last int, revision int64) {
	sure, open := 0, 0
	for _, v := range f.verdicts {
		switch v {
		case yes:
			sure++
		case maybe:
			open++
		}
	}
	if need := revision - f.before - int64(sure); f.before != 0 {
		switch {
		case need < 0 || need > int64(open):
			f.breakOff(last)
			return
		case need == 0:
			f.decide(no)
		case need == int64(open):
			f.decide(yes)
		}
	}
	f.count(last, revision)
	f.resettle(last + 1)
	f.begin(last+1, revision)
}

// breakOff forgets a stretch that does not go together with its anchor.
func (f *filler) breakOff(last int) {
	f.broken++
	f.abandon(f.first, last+1)
	f.keys.forget()
	f.begin(last+1, 0)
}

// decide makes one verdict of all that are open.
func (f *filler) decide(v verdict) {
	for i := range f.verdicts {
		if f.verdicts[i] == maybe {
			f.verdicts[i] = v
		}
	}
}

// count places steps from the end of a stretch on, back to the first one that is
// open, and from its beginning.
func (f *filler) count(last int, revision int64) {
	for i := last; i >= f.first && f.verdicts[i-f.first] != maybe; i-- {
		v := f.verdicts[i-f.first]
		f.place(i, v, revision)
		if v == yes {
			revision--
		}
	}
	f.forward()
}

// forward places the steps of a stretch up to the first one that is open.
func (f *filler) forward() {
	revision := f.before
	for n, v := range f.verdicts {
		if v == maybe {
			return
		}
		if v == yes && revision != 0 {
			revision++
		}
		if v == no || revision != 0 {
			f.place(f.first+n, v, revision)
		}
	}
}

// place notes what is known of a step: the revision it made.
func (f *filler) place(i int, v verdict, revision int64) {
	switch v {
	case yes:
		f.placed[i] = Placed{Status: Exact, Revision: revision}
	case no:
		f.placed[i] = Placed{Status: None}
	}
}

// abandon forgets what was thought of steps.
func (f *filler) abandon(from, to int) {
	for i := from; i < to; i++ {
		f.placed[i] = Placed{}
		if f.steps[i].kind <= stepGrant {
			f.placed[i].Status = None
		}
	}
}

// end ends a stretch that no anchor closes.
func (f *filler) end(to int) {
	for n, v := range f.verdicts {
		if v == no {
			f.place(f.first+n, no, 0)
		}
	}
	f.forward()
	f.resettle(to)
}

// resettle takes note of what the steps of a stretch did, as far as that is known
// now.
func (f *filler) resettle(to int) {
	for i := f.first + f.settled; i < to; i++ {
		switch p := f.placed[i]; p.Status {
		case Exact:
			f.settle(i, yes, p.Revision)
		case None:
			f.settle(i, no, 0)
		default:
			f.blur(&f.steps[i])
		}
	}
}

// blur forgets what a step may have changed.
func (f *filler) blur(s *step) {
	if s.wide() {
		f.keys.forget()
		return
	}
	for _, key := range f.touches(s) {
		f.keys.blur(key)
	}
	f.keys.doubt(s)
}

// settle takes note of what a step did.
func (f *filler) settle(i int, v verdict, revision int64) {
	s := &f.steps[i]
	switch {
	case s.kind == stepGrant:
		f.keys.grant(s.lease)
	case s.kind == stepRevoke:
		f.keys.revoke(s.lease, v == yes)
	case v != yes:
	case s.kind == stepOther:
		f.blur(s)
	case s.del:
		f.keys.delete(s.key)
	default:
		f.keys.put(s, revision)
	}
}
