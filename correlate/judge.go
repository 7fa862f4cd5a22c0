package correlate

import (
	"fmt"
	"slices"
	"time"

	"etcd-autopsy/logparse"
)

// A judge holds what a ruling needs: the objects, the faults and the pulses.
type judge struct {
	c       *Case
	w       *objects
	eps     []*episode
	pulses  []*pulse
	members *members
}

const (
	// fullCover is the share of a stall that silences and outages must cover before
	// they explain it.
	fullCover = 0.75
	// catchUp is how long a writer that is back may take to do what was due: it
	// lists and syncs its caches first.
	catchUp = 5 * time.Second
	// holeLimit is the pause in the whole store's revisions that is no coincidence
	// while leaders renew Leases every two seconds.
	holeLimit = 5 * time.Second
)

// rule judges one stall. A cause that an object states wins where it still held
// when the stall ended and the faults of the control plane do not cover the
// stall; else the first link of the chain of faults; else nobody.
func (j *judge) rule(a *attempt, s *stall) ruling {
	direct := j.direct(a, s)
	chain := j.chain(a, s)
	switch {
	case direct != nil && (s.open || chain == nil || chain.cover < fullCover):
		return ruling{main: direct}
	case chain != nil && chain.cover >= fullCover:
		return chain.ruling(j, s)
	case direct != nil:
		return ruling{main: direct}
	}
	return j.undecided(a, s, chain)
}

// direct tries the local rules.
func (j *judge) direct(a *attempt, s *stall) *suspect {
	for _, r := range localRules {
		if !slices.Contains(r.stages, s.stage) {
			continue
		}
		if x := r.judge(j, a, s); x != nil {
			x.rule, x.role = r.id, RoleCause
			if x.cause == "" {
				x.cause = r.cause
			}
			x.cites = append(x.cites, j.support(a, s)...)
			return x
		}
	}
	return nil
}

// A chain is what kept the next expected writer of a stage from writing: its own
// silence and the faults of etcd, with the share of the stall they cover.
type chain struct {
	silences []*silence
	outages  []*episode
	cover    float64
	// main is the outage or silence that covers most.
	outage  *episode
	silence *silence
}

// chain looks for silences of the expected writers and for outages within a stall.
func (j *judge) chain(a *attempt, s *stall) *chain {
	ch := &chain{}
	var spans [][2]time.Time
	best := time.Duration(0)
	for _, p := range j.writers(a, s) {
		for _, x := range p.silent(s.from, s.to) {
			if x.root == nil && !x.lost() {
				continue // late, but nobody took it for gone
			}
			ch.silences = append(ch.silences, x)
			span := [2]time.Time{x.from, x.to}
			if x.handover() {
				span[1] = x.to.Add(catchUp)
			}
			spans = append(spans, span)
			if d := overlap(x.from, x.to, s); d > best || ch.silence == nil {
				best, ch.silence = d, x
			}
		}
	}
	for _, e := range j.eps {
		if !stopsWrites[e.kind] || !e.reach || !e.overlaps(s.from, s.to) {
			continue
		}
		ch.outages = append(ch.outages, e)
		stopped := j.stopped(e)
		spans = append(spans, stopped...)
		if n := len(stopped); n > 0 {
			spans = append(spans, [2]time.Time{stopped[n-1][1], stopped[n-1][1].Add(catchUp)})
		}
		if 2*j.stoppedWithin(e, s) >= s.length() && (ch.outage == nil || better(e, ch.outage)) {
			ch.outage = e
		}
	}
	if len(spans) == 0 {
		return nil
	}
	ch.cover = covered(s.from, s.to, spans)
	return ch
}

// stopsWrites are the faults that hold up every write by themselves.
var stopsWrites = map[string]bool{"quorum-loss": true, "leader-loss": true, "nospace": true, "slow-disk": true, "defrag": true}

// stopped are the times of an outage in which no put was stored. A fault in etcd's
// log during which the store went on has stopped nothing.
func (j *judge) stopped(e *episode) [][2]time.Time {
	if j.c.hist.Len() == 0 {
		return [][2]time.Time{{e.start, e.end}}
	}
	var out [][2]time.Time
	for _, p := range j.c.pauses(e.start, e.end, stopLimit) {
		if e.start.After(p[0].Add(holeLimit)) {
			continue // it had begun long before
		}
		out = append(out, p)
	}
	return out
}

func (j *judge) stoppedWithin(e *episode, s *stall) time.Duration {
	var sum time.Duration
	for _, x := range j.stopped(e) {
		sum += overlap(x[0], x[1], s)
	}
	return sum
}

// overlap is how much of a stall an interval covers.
func overlap(from, to time.Time, s *stall) time.Duration {
	from = latest(from, s.from)
	if to.After(s.to) {
		to = s.to
	}
	return max(0, to.Sub(from))
}

// writers are the pulses whose write was due next (incidents.md 1.1).
func (j *judge) writers(a *attempt, s *stall) []*pulse {
	want := map[string]bool{}
	switch s.stage {
	case stageReplicaSet, stageConverge:
		want["kube-controller-manager"] = true
	case stageSchedule:
		for _, w := range s.waits {
			if byDefaultScheduler(w.p.pod.last().obj) {
				want["kube-scheduler"] = true
			}
		}
	case stagePrepare, stageStart:
		for _, w := range s.waits {
			want[w.p.pod.last().obj.Spec.NodeName] = true
		}
	case stageServe:
		for _, w := range s.waits {
			if ready := j.c.firstVersion(w.p.pod, isTrue("Ready"), nil); ready.ok && !ready.at.After(w.from.Add(catchUp)) {
				want["kube-controller-manager"] = true
			} else {
				want[w.p.pod.last().obj.Spec.NodeName] = true
				want["kube-controller-manager"] = true
			}
		}
	}
	var out []*pulse
	for _, p := range j.pulses {
		if want[p.name] && p.kind != "apiserver-down" {
			out = append(out, p)
		}
	}
	return out
}

// ruling names the first link of a chain as the cause and the later ones as
// contributing.
func (ch *chain) ruling(j *judge, s *stall) ruling {
	if ch.outage != nil {
		r := ruling{main: j.episodeSuspect(ch.outage, s, RoleCause)}
		for _, x := range ch.silences {
			// A silence that outlasts the outage has its own part in the stall.
			if x.root == ch.outage && x.to.Sub(ch.outage.end) > 3*time.Second && x.pulse.kind != "kubelet-down" {
				r.more = append(r.more, j.silenceSuspect(x, s, RoleContributing))
			}
		}
		return r
	}
	x := ch.silence
	if x == nil {
		return ruling{candidates: stopCandidates, settle: stopSettle}
	}
	if x.root != nil {
		r := ruling{main: j.episodeSuspect(x.root, s, RoleCause)}
		link := j.silenceSuspect(x, s, RoleContributing)
		r.main.text += "; in it " + x.pulse.role() + " lost its Lease, " + backText(x)
		r.main.cites = append(slices.Clone(r.main.cites), link.cites...)
		r.more = append(r.more, link)
		return r
	}
	if j.c.globalStop(x) {
		return ruling{candidates: stopCandidates, settle: stopSettle}
	}
	return ruling{main: j.silenceSuspect(x, s, RoleCause)}
}

// stopCandidates are the causes that stop every write, when no log of etcd says which.
var stopCandidates = []Candidate{{"quorum-loss", Possible}, {"leader-loss", Possible}, {"slow-disk", Possible}, {"nospace", Possible}}

const stopSettle = "every writer fell silent at once, so etcd stopped taking writes; the etcd members' logs of that time would say why"

// episodeSuspect makes a fault of etcd a suspect of a stall.
func (j *judge) episodeSuspect(e *episode, s *stall, role Role) *suspect {
	conf := Likely
	if e.logged && !e.guess && (e.overlaps(s.from, s.to) || len(e.lost) > 0) {
		conf = Proven
	}
	text := fmt.Sprintf("%s (%s to %s)", e.text, clockTime(e.start), endText(e))
	return &suspect{cause: e.kind, role: role, rule: "C-" + e.kind, confidence: conf, text: text, cites: e.cites, episode: e}
}

// backText says when a silent writer came back.
func backText(x *silence) string {
	if x.open() {
		return "and was not back when the evidence ended"
	}
	return "and was back at " + clockTime(x.to)
}

func endText(e *episode) string {
	if e.open {
		return "the end of the evidence"
	}
	return clockTime(e.end)
}

// silenceSuspect makes a silent writer a suspect of a stall. Its confidence is
// proven only when others wrote on in that time and its own log agrees.
func (j *judge) silenceSuspect(x *silence, s *stall, role Role) *suspect {
	e := j.c.silenceEpisode(x)
	for _, known := range j.eps {
		if known.kind == e.kind && known.start.Equal(e.start) && slices.Equal(known.names, e.names) {
			e = known
		}
	}
	conf := Likely
	cites := slices.Clone(e.cites)
	if others := j.freshOthers(x); len(others) > 0 {
		if n := j.ownLogEnds(x); n != nil {
			conf = Proven
			cites = append(cites, lineCite(*n))
		} else if e.logged {
			conf = Proven
		}
		cites = append(cites, others[0])
	}
	if conf == Likely && j.sharedLoss(x) {
		conf = Possible
	}
	due := map[int]string{stageReplicaSet: "create the first pod of the new template", stageSchedule: "bind the pod", stagePrepare: "report on the pod",
		stageStart: "report on the pod", stageServe: "put the pod into its EndpointSlice", stageConverge: "move the counts on"}[s.stage]
	text := fmt.Sprintf("%s; it was to %s", e.text, due)
	if role == RoleCause && len(cites) > len(e.cites) {
		text += ", while other writers went on"
	}
	return &suspect{cause: e.kind, role: role, rule: "P-" + e.kind, confidence: conf, text: text, cites: cites, episode: e}
}

// sharedLoss says whether another leader lost its Lease within a silence and no log of
// etcd tells whether etcd was behind both: two that fail at once may have one reason.
func (j *judge) sharedLoss(x *silence) bool {
	if slices.ContainsFunc(j.c.logs, func(l *logFile) bool {
		return l != nil && l.id.Component == logparse.ComponentEtcd && !l.first.IsZero() && l.first.Before(x.from) && l.last.After(x.from)
	}) {
		return false
	}
	for _, p := range j.pulses {
		if p == x.pulse || leaderLeases[p.name] == "" {
			continue
		}
		for _, other := range p.gaps {
			if other.lost() && other.from.Before(x.to) && other.to.After(x.from) {
				return true
			}
		}
	}
	return false
}

// freshOthers cites a renewal of another Lease in the last part of a silence: the
// store took writes, only this writer made none.
func (j *judge) freshOthers(x *silence) []*cite {
	middle := x.from.Add(x.length() / 2)
	for _, p := range j.pulses {
		if p == x.pulse {
			continue
		}
		for k := len(p.beats) - 1; k >= 0; k-- {
			if b := p.beats[k]; b.at.After(middle) && b.at.Before(x.to) {
				return []*cite{revCite(b.idx, "%s meanwhile", b.what)}
			}
		}
	}
	return nil
}

// ownLogEnds finds the last record of the silent component's own log when it ends
// with the silence: the process stopped writing both.
func (j *judge) ownLogEnds(x *silence) *note {
	if !x.open() {
		return nil
	}
	for _, l := range j.c.logs {
		if l == nil || l.tail == nil || !l.isOf(x.pulse) {
			continue
		}
		if !l.last.After(x.from.Add(x.pulse.limit)) {
			return l.tail
		}
	}
	return nil
}

// isOf says whether a log is that of a pulse's writer.
func (l *logFile) isOf(p *pulse) bool {
	if p.kind == "kubelet-down" {
		return l.id.Component == "kubelet" && (l.id.Node == "" || l.id.Node == p.name)
	}
	return string(l.id.Component) == p.name
}

// undecided lists what may be and what would settle it, for a stall that no rule
// explains.
func (j *judge) undecided(_ *attempt, s *stall, ch *chain) ruling {
	r := ruling{settle: settles[s.stage]}
	if ch == nil {
		return r
	}
	seen := map[string]bool{}
	for _, e := range ch.outages {
		if !seen[e.kind] {
			seen[e.kind] = true
			r.candidates = append(r.candidates, Candidate{e.kind, Possible})
		}
	}
	for _, x := range ch.silences {
		if !seen[x.pulse.kind] && !j.c.globalStop(x) {
			seen[x.pulse.kind] = true
			r.candidates = append(r.candidates, Candidate{x.pulse.kind, Possible})
		}
	}
	return r
}

// settles say, by stage, which observation would decide an undecided stall.
var settles = map[int]string{
	stageUpdate:     "the logs of the etcd members and of the API server that took the request",
	stageReplicaSet: "the controller manager's log of that time, and the Events of the Deployment and its ReplicaSet",
	stageSchedule:   "the scheduler's log of that time, and the Events of the pod",
	stagePrepare:    "the kubelet's and the container runtime's log of the pod's node, and the Events of the pod",
	stageStart:      "the log of the container, the kubelet's log of the pod's node, and the Events of the pod",
	stageServe:      "the controller manager's log of that time, and the EndpointSlices of the Service",
	stageConverge:   "the controller manager's log of that time",
}
