package correlate

import (
	"context"
	"fmt"
	"time"

	"etcd-autopsy/logparse"
)

const (
	// minStep is how far back a stamp must be to be a step: threads print a little
	// out of order.
	minStep = 2 * time.Second
	// maxSteps is how many steps of one log are listed.
	maxSteps = 100
	// stepProof is how many records of a step are compared to tell a repetition.
	stepProof = 3
)

// stepWatch looks for stamps that step back, by what printed them.
type stepWatch struct {
	// from is the source of the last record and at its time; others holds those of
	// the sources before it.
	from   logSource
	at     time.Time
	others map[logSource]time.Time

	steps []*stepBack
	more  int
}

// logSource is what wrote a record, as far as the lines around tell programs apart.
type logSource struct {
	host, pod, container string
	// zoneless stamps are not compared with others: their zone may not be known.
	zoneless bool
}

func sourceIn(rec *logparse.Record) logSource {
	return logSource{rec.Host, rec.Pod, rec.Container, rec.Inferred&logparse.InferredZone != 0}
}

// maxSources bounds the memory for odd logs.
const maxSources = 1000

// stepBack is a step with the records from it on, as hashes.
type stepBack struct {
	ClockStep
	from  logSource
	proof []uint64
	// copied is the line of the same records further up, 0 if there are none.
	copied int
	// fits is how many of the last records are as the proof begins, from line begun on.
	fits, begun int
}

// takeClock looks at the time of the next record that has one.
func (l *logFile) takeClock(rec *logparse.Record) {
	l.supplied = l.supplied || rec.Inferred&logparse.InferredZone != 0
	assumed := rec.Inferred&logparse.AssumedZone != 0
	if assumed {
		l.zones.take(rec)
	}
	if rec.Audit != nil {
		return // in order of their answers, stamped when they came
	}
	from := sourceIn(rec)
	for _, p := range l.zones.around.take(rec, from) {
		l.zones.pairs.add(p)
	}
	w := &l.steps
	last := w.next(from, rec.Time)
	if last.IsZero() {
		return
	}
	d := rec.Time.Sub(last)
	if assumed && d.Abs() >= minJump {
		l.zones.jumps.add(stampJump{rec.Line, d})
	}
	w.prove(from, rec)
	if d > -minStep {
		return
	}
	if len(w.steps) == maxSteps {
		w.more++
		return
	}
	w.steps = append(w.steps, &stepBack{ClockStep: ClockStep{Line: rec.Line, From: last, To: rec.Time}, from: from, proof: []uint64{recordHash(rec)}})
}

// next takes the time of a source's next record and returns that of its last one,
// zero for none.
func (w *stepWatch) next(from logSource, at time.Time) time.Time {
	if from != w.from {
		if w.others == nil {
			w.others = map[logSource]time.Time{}
		}
		if len(w.others) < maxSources {
			w.others[w.from] = w.at
		}
		w.from, w.at = from, w.others[from]
	}
	last := w.at
	w.at = at
	return last
}

// prove adds a record to the proof of the last step.
func (w *stepWatch) prove(from logSource, rec *logparse.Record) {
	if n := len(w.steps); n > 0 {
		if s := w.steps[n-1]; len(s.proof) < stepProof && s.from == from {
			s.proof = append(s.proof, recordHash(rec))
		}
	}
}

// listSteps writes the steps of a log to its input. Lines that the file holds twice
// step back too: those are no steps, and are told by reading it once more.
func (c *Case) listSteps(ctx context.Context, l *logFile, ref time.Time) {
	if l == nil || len(l.steps.steps) == 0 {
		return
	}
	in := &c.inputs[l.input]
	l.findCopies(ctx, c, ref)
	for _, s := range l.steps.steps {
		if s.copied > 0 {
			c.problem(l.input, fmt.Sprintf("line %d: from here on the file repeats its lines from line %d on", s.Line, s.copied))
			continue
		}
		in.Steps = append(in.Steps, s.ClockStep)
	}
	if l.steps.more > 0 {
		c.problem(l.input, fmt.Sprintf("the stamps step back at %d more places", l.steps.more))
	}
}

// findCopies looks for the records of each step among those further up.
func (l *logFile) findCopies(ctx context.Context, c *Case, ref time.Time) {
	steps := l.steps.steps
	r, err := l.file.Open()
	if err != nil {
		return // it could be read a moment ago; the steps stand
	}
	defer func() { _ = r.Close() }()
	end := steps[len(steps)-1].Line
	for rec, err := range records(ctx, r, l.options(c, ref)) {
		if err != nil || rec.Line >= end {
			return
		}
		if rec.Time.IsZero() || rec.Audit != nil {
			continue
		}
		from := sourceIn(rec)
		hash := recordHash(rec)
		for _, s := range steps {
			if rec.Line < s.Line && s.copied == 0 && s.from == from {
				s.compare(hash, rec.Line)
			}
		}
	}
}

// compare follows the proof of a step through the records of its source.
func (s *stepBack) compare(hash uint64, line int) {
	if hash != s.proof[s.fits] {
		s.fits = 0
	}
	if hash == s.proof[s.fits] {
		if s.fits == 0 {
			s.begun = line
		}
		s.fits++
	}
	if s.fits == len(s.proof) {
		s.copied = s.begun
	}
}
