package correlate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"etcd-autopsy/internal/source"
	"etcd-autopsy/logparse"
	"etcd-autopsy/logparse/template"
)

// A note is one log record that is kept: where it stands and what it says.
type note struct {
	file  *logFile
	line  int
	at    time.Time
	level logparse.Level
	text  string
	// msg is the start of the record's message, as it is quoted.
	msg string
	// assumed is set while nothing shows the zone of at.
	assumed bool
}

// A burst is a run of records of one file with the same signature (and the same
// peer or address): its first and last record, how many, and the longest and
// summed duration they report.
type burst struct {
	burstKey
	first, last note
	count       int
	longest     time.Duration
	sum         time.Duration
}

// burstKey is what the records of a burst have in common.
type burstKey struct {
	sig string
	// about tells bursts of one signature apart: a peer's ID, an address, "".
	about string
}

// raftFact is a raft state change, repeats of the same one folded.
type raftFact struct {
	ev          logparse.RaftEvent
	first, last note
	count       int
}

// logFile is what is kept of one log: facts, never the lines.
type logFile struct {
	input int
	file  *source.File
	id    logparse.Identity

	records     int
	first, last time.Time
	// inferred is set when the year of the stamps had to be supplied.
	inferred bool
	bursts   []*burst
	raft     []*raftFact
	audits   []*auditEvent
	limited  []*limited
	slow     []*slowApply
	traces   []*tracedWrite
	hashes   []storedHash
	// starts are the first lines of each run of the program.
	starts []note
	// flags are the command-line flags that the program printed and this tool uses.
	flags map[string]string

	// begins is the time of the first record, as its first block shows it.
	begins time.Time
	// seen knows what other files of the same program hold; nil if there are none.
	seen *seenBefore
	// duplicates are the records, counted from 0 without noise, that they do hold.
	duplicates []uint32

	// active are the steps of activeStep in which it has records, as they come.
	active []int64

	// programs are those whose lines it has: several in the log of k3s.
	programs map[logparse.Component]bool

	// told is what the program said about objects; nil if nothing.
	told map[mention][]told

	// container is set for a log of a container that a path names.
	container *containerLog

	// unknown groups the messages that no signature knows; nil if there are none.
	unknown *template.Miner

	// tail is the last record, signature or not.
	tail *note

	// zones is what the log shows of the zone of its stamps, steps where they step
	// back.
	zones zoneFacts
	steps stepWatch
	// supplied is set when a record's zone had to be supplied.
	supplied bool
	// problems is how many its input had before it was read.
	problems int

	// leap is a stamp far after all before it, until a second one agrees with it.
	leap time.Time

	words   vocabulary
	open    map[burstKey]*burst
	openRaf map[logparse.RaftEvent]*raftFact
	inFlags bool
	broken  int
	// left counts what was not kept, by what it is.
	left map[string]int
}

// maxOpenBursts and maxBursts bound what is kept of one log: beyond them, records
// about different things, or far apart, are counted together.
const (
	maxOpenBursts = 2000
	maxBursts     = 50000
	manyAbout     = "(many)"
)

// maxKept is how many raft events, slow requests and traces of one log are kept, of
// each. What comes behind them is counted, and the count is told.
const maxKept = 200_000

// burstGap ends a burst: records further apart are two.
const burstGap = 10 * time.Second

// read reads the whole file into facts; it touches only its own input.
func (l *logFile) read(ctx context.Context, c *Case, ref time.Time, p *progress) {
	in := &c.inputs[l.input]
	l.problems = len(in.Problems)
	r, err := l.file.Open()
	if err != nil {
		in.Problems = append(in.Problems, plainError(err))
		return
	}
	defer func() { _ = r.Close() }()
	l.words = vocabulary{}
	l.open, l.openRaf, l.flags = map[burstKey]*burst{}, map[logparse.RaftEvent]*raftFact{}, map[string]string{}
	for rec, err := range records(ctx, &counted{Reader: r, p: p, file: l.file.Path}, l.options(c, ref)) {
		if err != nil {
			if ctx.Err() == nil {
				in.Problems = append(in.Problems, fmt.Sprintf("reading stopped after %d records: %s", l.records, plainError(err)))
			}
			break
		}
		l.take(rec, in)
	}
	l.settle()
	if l.container != nil {
		l.container.end()
	}
	if l.broken > maxListedProblems {
		in.Problems = append(in.Problems, fmt.Sprintf("%d more records could not be read", l.broken-maxListedProblems))
	}
	for _, what := range slices.Sorted(maps.Keys(l.left)) {
		in.Problems = append(in.Problems, fmt.Sprintf("%d %s behind the first %d were not kept", l.left[what], what, maxKept))
	}
	in.Records = l.records
	in.First, in.Last = timePtr(l.first), timePtr(l.last)
}

// options say how the log's stamps are to be read.
func (l *logFile) options(c *Case, ref time.Time) logparse.Options {
	return logparse.Options{
		Component: l.id.Component, Year: c.opts.LogYear, Location: c.opts.LogLocation, Reference: ref, Before: l.file.ModTime,
		Zones: l.zones.zones,
	}
}

// maxListedProblems is how many broken records of one file are listed one by one.
const maxListedProblems = 5

// take turns one record into facts.
func (l *logFile) take(rec *logparse.Record, in *Input) {
	if rec.Format == logparse.FormatNoise {
		in.SkippedLines += rec.Lines
		return
	}
	if l.seen.holds(rec) {
		l.duplicates = append(l.duplicates, uint32(l.records+in.Duplicates))
		in.Duplicates++
		return
	}
	rec.Classify()
	l.records++
	if rec.Problem != "" {
		if l.broken++; l.broken <= maxListedProblems {
			in.Problems = append(in.Problems, fmt.Sprintf("line %d: %s", rec.Line, rec.Problem))
		}
	}
	if l.wild(rec.Time) {
		if l.broken++; l.broken <= maxListedProblems {
			in.Problems = append(in.Problems, fmt.Sprintf("line %d: its time is far from that of the lines before and is not used", rec.Line))
		}
		rec.Time = time.Time{}
	}
	if !rec.Time.IsZero() {
		if l.first.IsZero() || rec.Time.Before(l.first) {
			l.first = rec.Time
		}
		if rec.Time.After(l.last) {
			l.last = rec.Time
			if l.tail == nil {
				l.tail = new(note)
			}
			*l.tail = l.passing(rec)
		}
		l.inferred = l.inferred || rec.Inferred&logparse.InferredYear != 0
		l.takeClock(rec)
	}
	if rec.Audit != nil {
		l.takeAudit(rec)
		return
	}
	if l.container != nil {
		l.container.hear(l.passing(rec))
	}
	if !l.application() {
		l.takeFacts(rec)
	}
	if len(rec.Signatures) > 0 {
		l.takeSignature(rec)
	}
	l.takeUnknown(rec)
}

// takeFacts takes what the control plane says of itself.
func (l *logFile) takeFacts(rec *logparse.Record) {
	if c := rec.Component; c != logparse.ComponentUnknown && !l.programs[c] {
		if l.programs == nil {
			l.programs = map[logparse.Component]bool{}
		}
		l.programs[c] = true
	}
	l.takeActive(rec.Time)
	l.takeFlags(rec)
	l.takeTold(rec)
	l.takeWrite(rec)
	l.takeHash(rec)
	if ev, ok := logparse.RaftEventOf(*rec); ok && (rec.Component == logparse.ComponentEtcd || l.id.Component == logparse.ComponentEtcd) {
		l.takeRaft(rec, ev)
	}
}

// maxLeap is how far a stamp may be from those before it in the same log before a
// second one has to agree.
const maxLeap = 24 * time.Hour

// wild says whether a stamp is not to be believed: outside the years that can be
// written down, or a day and more after everything before it and alone there.
func (l *logFile) wild(t time.Time) bool {
	if t.IsZero() {
		return false
	}
	if y := t.Year(); y < 1970 || y > 9998 {
		return true
	}
	if l.last.IsZero() || t.Sub(l.last) <= maxLeap {
		return false
	}
	agreed := !l.leap.IsZero() && t.Sub(l.leap).Abs() <= maxLeap
	l.leap = t
	return !agreed
}

// note keeps a record.
func (l *logFile) note(rec *logparse.Record) note {
	n := l.passing(rec)
	n.keep()
	return n
}

// passing notes a record that most likely gives way to the next one like it.
func (l *logFile) passing(rec *logparse.Record) note {
	return note{file: l, line: rec.Line, at: rec.Time, level: rec.Level, text: rec.Text, msg: rec.Message, assumed: rec.Inferred&logparse.AssumedZone != 0}
}

// keep makes a note one that stays: its texts get memory of their own, and the bodies
// of requests that it quotes are cut.
func (n *note) keep() {
	n.text, n.msg = strings.Clone(cutBodies(n.text)), strings.Clone(cutWords(n.msg))
}

// tooMany says whether no more of something is kept, and counts what is not.
func (l *logFile) tooMany(have int, what string) bool {
	if have < maxKept {
		return false
	}
	if l.left == nil {
		l.left = map[string]int{}
	}
	l.left[what]++
	return true
}

// settle keeps what no further record takes the place of.
func (l *logFile) settle() {
	for _, b := range l.open {
		b.settle()
	}
	for _, f := range l.openRaf {
		f.settle()
	}
	if l.tail != nil {
		l.tail.keep()
	}
	if l.unknown != nil {
		l.unknown.Settle()
	}
	l.open, l.openRaf, l.seen, l.words = nil, nil, nil, nil
}

func (b *burst) settle() {
	if b != nil && b.count > 1 {
		b.last.keep()
	}
}

func (f *raftFact) settle() {
	if f != nil && f.count > 1 {
		f.last.keep()
	}
}

// takeRaft folds repeats of one raft event (a member that campaigns for ever).
func (l *logFile) takeRaft(rec *logparse.Record, ev logparse.RaftEvent) {
	old := l.openRaf[ev]
	if old != nil && rec.Time.Sub(old.last.at) < burstGap {
		old.last = l.passing(rec)
		old.count++
		return
	}
	old.settle()
	for _, s := range [...]*string{&ev.Member, &ev.Leader, &ev.Former} {
		*s = strings.Clone(*s)
	}
	if l.tooMany(len(l.raft), "raft events") {
		return
	}
	n := l.note(rec)
	f := &raftFact{ev: ev, first: n, last: n, count: 1}
	l.openRaf[ev] = f
	l.raft = append(l.raft, f)
}

// takeSignature adds a record to the burst of each signature it carries.
func (l *logFile) takeSignature(rec *logparse.Record) {
	for _, sig := range rec.Signatures {
		d := reportedDuration(sig, rec)
		key := burstKey{sig, aboutOf(sig, rec)}
		b := l.open[key]
		if b == nil && len(l.open) >= maxOpenBursts {
			key.about = manyAbout
			b = l.open[key]
		}
		full := b != nil && len(l.bursts) >= maxBursts
		if b == nil || !full && (rec.Time.Sub(b.last.at) > burstGap || rec.Time.Before(b.first.at)) {
			b.settle()
			key.about = strings.Clone(key.about)
			n := l.note(rec)
			b = &burst{burstKey: key, first: n, last: n}
			l.open[key] = b
			l.bursts = append(l.bursts, b)
		} else {
			b.last = l.passing(rec)
		}
		b.count++
		b.sum += d
		b.longest = max(b.longest, d)
		if sig == "etcd-start" && b.count == 1 {
			l.starts = append(l.starts, b.first)
		}
	}
}

// aboutFields name, by signature, the field that tells whom a record is about.
var aboutFields = map[string]string{
	"etcd-peer-active":          "peer-id",
	"etcd-peer-inactive":        "peer-id",
	"etcd-peer-stream-lost":     "remote-peer-id",
	"etcd-peer-stream-up":       "remote-peer-id",
	"etcd-peer-probe-unhealthy": "remote-peer-id",
	"etcd-peer-url-unreachable": "remote-member-id",
	"etcd-raft-drop-send":       "remote-peer-id",
	"etcd-alarm-raised":         "alarm",
	"etcd-apply-slow":           "prefix",
}

// aboutOf returns what a record is about: a peer, an address, or "".
func aboutOf(sig string, rec *logparse.Record) string {
	if f, ok := aboutFields[sig]; ok {
		return rec.Fields.Get(f)
	}
	if sig == "grpc-createtransport" {
		_, rest, _ := strings.Cut(rec.Message, `Addr: "`)
		addr, _, _ := strings.Cut(rest, `"`)
		return addr
	}
	return ""
}

// durationFields are the values in which etcd reports how long something took.
var durationFields = []string{"took", "time spent", "exceeded-duration", "duration"}

// reportedDuration is the duration that a record states, 0 if it states none.
func reportedDuration(sig string, rec *logparse.Record) time.Duration {
	for _, name := range durationFields {
		if d, ok := rec.Fields.Duration(name); ok {
			return d
		}
	}
	if len(rec.Fields) > 0 {
		return 0
	}
	s, _ := logparse.LookupSignature(sig)
	for _, v := range s.Values(rec) {
		if slices.Contains(durationFields, v.Name) {
			return v.Duration
		}
	}
	return 0
}

// keptFlags are the flags of Kubernetes components that say who talks to whom.
var keptFlags = map[string]bool{"etcd-servers": true, "hostname-override": true, "master": true, "leader-elect": true}

// takeFlags keeps what a component prints of its flags when it starts, and the
// start itself.
func (l *logFile) takeFlags(rec *logparse.Record) {
	rest, ok := strings.CutPrefix(rec.Message, "FLAG: --")
	if !ok {
		l.inFlags = false
		return
	}
	if !l.inFlags {
		l.starts = append(l.starts, l.note(rec))
	}
	l.inFlags = true
	if name, value, ok := strings.Cut(rest, "="); ok && keptFlags[name] {
		l.flags[name] = strings.Clone(strings.Trim(value, `"[]`))
	}
}

// timePtr returns nil for the zero time and for one that RFC 3339 cannot write.
func timePtr(t time.Time) *time.Time {
	t = t.UTC()
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return nil
	}
	return &t
}
