package replay

import (
	"crypto/sha256"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// stepKind says what a step may do to revisions.
type stepKind uint8

const (
	stepNone   stepKind = iota // makes no revision
	stepGrant                  // makes a lease, no revision
	stepWrite                  // writes one key
	stepRevoke                 // ends a lease and deletes its keys
	stepOther                  // may make a revision
)

// step is what is kept of an entry.
type step struct {
	index uint64
	kind  stepKind
	// key is that of a write, del whether it deletes it.
	key      string
	del      bool
	pre      Precondition
	expected int64
	lease    int64 // of a put, a grant or a revoke
	// repeat is set for a write that cannot succeed as an earlier one had the same
	// precondition, which is good for one write only.
	repeat bool
	// doubtful is set while an alarm may be in force that was raised before the log
	// begins.
	doubtful bool
	// sum is that of the value of a put of a key of which there are records.
	sum [sha256.Size]byte
	// spans are what an other step touches; of one that touches anything there are
	// none.
	spans []span
}

// span is a key, or a range of keys, as Op writes it.
type span struct{ key, rangeEnd string }

// made says whether the step made a record, as far as that can be seen.
func (s *step) made(r Record) bool {
	switch s.kind {
	case stepWrite:
		return s.key == r.Key && s.del == r.Tombstone && (s.del || s.sum == r.Sum)
	case stepRevoke:
		return r.Tombstone
	case stepOther:
		return s.covers(r.Key)
	}
	return false
}

// wide says whether an other step may change keys that it does not name.
func (s *step) wide() bool {
	return s.kind == stepOther && (len(s.spans) == 0 || slices.ContainsFunc(s.spans, func(t span) bool { return t.rangeEnd != "" }))
}

// covers says whether an other step may change a key.
func (s *step) covers(key string) bool {
	return len(s.spans) == 0 || slices.ContainsFunc(s.spans, func(t span) bool { return t.covers(key) })
}

// covers says whether a key is in the span.
func (s span) covers(key string) bool {
	switch s.rangeEnd {
	case "":
		return key == s.key
	case "\x00":
		return key >= s.key
	}
	return key >= s.key && key < s.rangeEnd
}

// reader takes steps of entries.
type reader struct {
	*placer
	names  map[string]string
	alarms *Machine       // follows the alarms
	seen   map[Alarm]bool // those raised or disarmed
	// request is used again for each entry.
	request Request
}

func newReader(known Known) *reader {
	p := &placer{known: known, facts: newFacts(known.Records), byKey: map[string][]int{}, mixed: map[string]bool{}}
	return &reader{placer: p, names: map[string]string{}, alarms: New(Options{Rules: known.Rules}), seen: map[Alarm]bool{}}
}

// read takes the step of an entry.
func (p *reader) read(e Entry) {
	s := step{index: e.Index}
	r := &p.request
	if err := r.decode(e); err != nil && r.Kind == KindUnknown {
		s.kind = stepOther
	} else if p.alarms.alarmed(r) == NotRejected {
		p.take(&s, r, p.names)
	}
	if r.Kind == KindAlarm {
		if r.Alarm.Action != pb.AlarmRequest_GET && !p.seen[r.Alarm.Alarm] {
			p.period = len(p.steps)
			p.seen[r.Alarm.Alarm] = true
		}
		p.alarms.setAlarm(r.Alarm)
	}
	p.steps = append(p.steps, s)
	p.index(len(p.steps) - 1)
}

// follows says whether an entry comes right after those read.
func (p *reader) follows(e Entry) bool {
	return len(p.steps) == 0 || e.Index == p.steps[len(p.steps)-1].index+1
}

// done returns the log that was read.
func (p *reader) done() *placer {
	if len(p.seen) == 0 {
		p.period = len(p.steps)
	}
	return p.placer
}

// take makes a step of a request.
func (p *placer) take(s *step, r *Request, names map[string]string) {
	switch r.Kind {
	case KindLeaseGrant:
		s.kind, s.lease = stepGrant, r.Lease.ID
	case KindLeaseRevoke:
		s.kind, s.lease = stepRevoke, r.Lease.ID
	case KindPut, KindDeleteRange, KindTxn:
		w, ok := r.Write()
		if !ok {
			s.other(r)
			return
		}
		s.kind, s.del = stepWrite, w.Verb == VerbDelete
		s.pre, s.expected, s.lease = w.Precondition, w.Expected, w.Lease
		s.key = intern(names, w.Key)
		if w.Precondition == SameModRevision {
			p.facts.add(w.Expected, s.key)
		}
		if !s.del && p.facts.recorded[s.key] {
			s.sum = sha256.Sum256(w.Value)
		}
	}
}

// intern returns a key as a string, the same one for the same key.
func intern(names map[string]string, key []byte) string {
	if s, ok := names[string(key)]; ok {
		return s
	}
	s := string(key)
	names[s] = s
	return s
}

// other makes a step of a request that is no write of one key.
func (s *step) other(r *Request) {
	if r.Kind != KindTxn {
		s.spans = []span{{string(r.Op.Key), string(r.Op.RangeEnd)}}
	} else {
		s.spans = r.Txn.spans(nil)
	}
	if len(s.spans) > 0 {
		s.kind = stepOther
	}
}

// spans appends what the puts and deletes of a txn touch.
func (t *Txn) spans(spans []span) []span {
	for _, ops := range [][]Op{t.Success, t.Failure} {
		for i := range ops {
			switch op := &ops[i]; op.Kind {
			case OpPut, OpDeleteRange:
				spans = append(spans, span{string(op.Key), string(op.RangeEnd)})
			case OpTxn:
				spans = op.Txn.spans(spans)
			}
		}
	}
	return spans
}

// index files a step under the keys that it may put.
func (p *placer) index(i int) {
	s := &p.steps[i]
	if s.kind == stepWrite {
		p.byKey[s.key] = append(p.byKey[s.key], i)
	}
	for _, t := range s.spans {
		if t.rangeEnd == "" {
			p.byKey[t.key] = append(p.byKey[t.key], i)
			p.mixed[t.key] = true
		}
	}
}

// expectation is what a write expects of a key.
type expectation struct {
	key string
	mod int64
}

// putsToTrust is how many puts have to be known to have been made in the period in
// which an alarm may be in force from before the log: then none was.
const putsToTrust = 8

// noAlarm says whether no alarm was in force at the beginning of the log.
func (p *placer) noAlarm(chain []anchor) bool {
	puts := 0
	for _, a := range chain {
		if s := &p.steps[a.step]; a.made() && a.step < p.period && s.kind == stepWrite && !s.del {
			puts++
		}
	}
	return puts >= putsToTrust
}

// markRepeats finds the writes that had to fail, as an earlier one expected the
// same mod_revision: if it was the key's then, the earlier one has changed it.
// It counts the others.
func (p *placer) markRepeats(doubtful bool) {
	for i := range p.period {
		p.steps[i].doubtful = doubtful
	}
	seen := map[expectation]bool{}
	p.contenders = map[expectation]int{}
	for i := range p.steps {
		s := &p.steps[i]
		if s.kind != stepWrite || s.pre != SameModRevision {
			continue
		}
		e := expectation{s.key, s.expected}
		s.repeat = seen[e]
		if !s.repeat {
			p.contenders[e]++
		}
		if s.lease == 0 && !s.doubtful {
			seen[e] = true
		}
	}
}
