package correlate

import (
	"fmt"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"time"

	"etcd-autopsy/correlate/fate"
)

// workloadResources are the resources whose writes are attempts at a rollout.
var workloadResources = map[string]bool{"deployments": true}

// A refusal is an attempt at a rollout that left no revision: a write to the
// workload itself that was answered with an error, its client's retries with it.
type refusal struct {
	requests []*auditEvent
	// mended is when a later write made it good, zero if none did.
	mended time.Time
}

func (r *refusal) first() *auditEvent { return r.requests[0] }

// retryGap joins the attempts of one client; a later one is another attempt.
const retryGap = 5 * time.Minute

// isAttempt says whether a request is an attempt at a rollout: a write to the
// workload itself (no subresource) by anyone but its controllers.
func isAttempt(a *auditEvent) bool {
	if !workloadResources[a.Resource] || a.Subresource != "" || a.Name == "" {
		return false
	}
	if a.Verb != "create" && a.Verb != "update" && a.Verb != "patch" {
		return false
	}
	return !strings.HasPrefix(a.User, "system:serviceaccount:kube-system:") && a.User != "system:kube-controller-manager"
}

// refusals splits the attempts of the audit logs: those that made a revision are
// hung on their rollout, those answered with an error that landed all the same
// too; the rest are refusals.
func (c *Case) refusals(as []*attempt) []*refusal {
	for _, a := range as {
		if a.untold {
			continue
		}
		for _, r := range c.audits {
			if isAttempt(r) && r.Revision == a.trigger().rev {
				a.request, a.refused = r, !r.OK()
			}
		}
	}
	var out []*refusal
	open := map[string]*refusal{}
	for _, r := range c.audits {
		if !isAttempt(r) || !c.selected("Deployment", r.Namespace, r.Name) {
			continue
		}
		key := objectPath(r.Resource, r.Namespace, r.Name) + "\x00" + r.User + "\x00" + r.UserAgent
		cur := open[key]
		switch {
		case r.OK() || r.Revision != 0:
			delete(open, key)
		case r.Code == 404:
			// Nothing of that name: no workload was to be rolled out.
		case cur != nil && r.Received.Sub(cur.last().Received) < retryGap:
			cur.requests = append(cur.requests, r)
		default:
			cur = &refusal{requests: []*auditEvent{r}}
			open[key] = cur
			out = append(out, cur)
		}
	}
	for _, r := range out {
		r.mended = c.mendedAt(r, as)
	}
	return withoutConflicts(out)
}

// mendedAt is when the workload's template was changed after a refusal, by anyone:
// the first later trigger. A later write that changes no template mends nothing.
func (c *Case) mendedAt(r *refusal, as []*attempt) time.Time {
	var first time.Time
	for _, a := range as {
		if a.untold || a.namespace() != r.first().Namespace || a.name() != r.first().Name {
			continue
		}
		if t := c.clock.Time(a.trigger().rev); t.After(r.last().Completed) && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

func (r *refusal) last() *auditEvent { return r.requests[len(r.requests)-1] }

// withoutConflicts drops attempts that only met conflicts and were made good at
// once: reading again and retrying is what clients do (incidents.md N-7).
func withoutConflicts(all []*refusal) []*refusal {
	var out []*refusal
	for _, r := range all {
		conflicts := true
		for _, q := range r.requests {
			conflicts = conflicts && q.Code == 409
		}
		if !conflicts || r.mended.IsZero() {
			out = append(out, r)
		}
	}
	return out
}

// ambiguous says whether an error answer leaves open what became of the write.
func ambiguous(a *auditEvent) bool { return fate.Ambiguous(a.Code, a.Message) }

// managerOf is the field manager of a request: the parameter, else what the API
// server takes for it, the user agent up to its first slash
// (apiserver/pkg/endpoints/handlers/create.go: managerOrUserAgent).
func managerOf(a *auditEvent) string {
	if _, query, ok := strings.Cut(a.RequestURI, "?"); ok {
		values, _ := url.ParseQuery(query) // what is broken is left out
		if m := values.Get("fieldManager"); m != "" {
			return m
		}
	}
	m, _, _ := strings.Cut(a.UserAgent, "/")
	return m
}

// answers classify the error answers to a write of a workload, the most specific
// first; code 0 matches any.
var answers = []struct {
	cause string
	code  int32
	match *regexp.Regexp
}{
	{"nospace", 0, regexp.MustCompile(`database space exceeded`)},
	{"unauthenticated", 401, regexp.MustCompile(``)},
	{"admission-webhook", 0, regexp.MustCompile(`failed calling webhook|admission webhook ".*" denied`)},
	{"quota", 403, regexp.MustCompile(`exceeded quota: `)},
	{"namespace-terminating", 403, regexp.MustCompile(`because it is being terminated`)},
	{"forbidden", 403, regexp.MustCompile(`is forbidden: User |cannot \w+ resource`)},
	{"admission-denied", 403, regexp.MustCompile(``)},
	{"object-too-large", 413, regexp.MustCompile(``)},
	{"object-too-large", 0, regexp.MustCompile(`request is too large|Request entity too large`)},
	{"invalid-object", 422, regexp.MustCompile(``)},
	{"invalid-object", 400, regexp.MustCompile(``)},
}

func classifyAnswer(a *auditEvent) string {
	for _, k := range answers {
		if (k.code == 0 || k.code == a.Code) && k.match.MatchString(a.Message) {
			return k.cause
		}
	}
	return ""
}

// judgeRefusal says why an attempt was refused: the answer states it, or a fault
// of etcd covers the request.
func (j *judge) judgeRefusal(r *refusal, s *stall) ruling {
	a := r.last()
	if cause := classifyAnswer(a); cause != "" {
		x := &suspect{cause: cause, role: RoleCause, rule: "S3-answer", confidence: Proven,
			text:  fmt.Sprintf("The API server answered %d to the %s of %s by %s: %s", a.Code, a.Verb, objectPath(a.Resource, a.Namespace, a.Name), a.User, cutText(a.Message)),
			cites: []*cite{auditCite(a)}}
		for _, e := range j.eps {
			if e.kind == cause && e.overlaps(s.from.Add(-time.Second), s.to.Add(time.Second)) {
				x.cites = append(x.cites, e.cites...)
				x.episode = e
			}
		}
		return ruling{main: x}
	}
	var best *episode
	for _, e := range j.eps {
		if e.reach && ambiguous(a) && e.overlaps(a.Received, a.Completed) && j.heldUp(a, e) && (best == nil || better(e, best)) {
			best = e
		}
	}
	if best != nil {
		x := j.episodeSuspect(best, s, RoleCause)
		x.cites = append([]*cite{auditCite(a)}, x.cites...)
		return ruling{main: x}
	}
	return ruling{settle: settles[stageUpdate]}
}

// heldUp says whether a fault of etcd was in the way of a request: no put was
// stored while it waited, or etcd itself names the fault in its answer.
func (j *judge) heldUp(a *auditEvent, e *episode) bool {
	if !stopsWrites[e.kind] {
		return false
	}
	if strings.Contains(a.Message, "etcdserver: ") && (e.kind == "quorum-loss" || e.kind == "leader-loss") {
		return true
	}
	if j.c.hist.Len() == 0 {
		return false
	}
	return covered(a.Received, a.Completed, j.c.pauses(a.Received, a.Completed, 2*time.Second)) >= 0.6
}

// refusedRollout builds the rollout of an attempt that left no revision.
func (j *judge) refusedRollout(r *refusal, b *book) *Rollout {
	a := r.first()
	last := r.last()
	s := &stall{stage: stageUpdate, from: a.Received, to: j.c.logEnd(), open: true,
		object: "Deployment " + a.Namespace + "/" + a.Name}
	out := &Rollout{
		ID:       fmt.Sprintf("deployment/%s/%s@%s", a.Namespace, a.Name, a.AuditID),
		Workload: Workload{Kind: "Deployment", Namespace: a.Namespace, Name: a.Name, UID: a.UID},
		Trigger: Trigger{Time: timePtr(a.Received), Actor: actor(managerOf(a), a.User), Change: a.Verb + " of the workload, refused",
			Request: &Request{AuditID: a.AuditID, Code: last.Code, Message: last.Message}},
		Outcome: Refused, Start: timePtr(a.Received), Onset: timePtr(a.Received),
		Stages: []Stage{}, Stalls: []Stall{}, Findings: []Finding{},
	}
	if !r.mended.IsZero() {
		s.to, s.open = r.mended, false
		out.Outcome, out.End = Superseded, timePtr(s.to)
	} else {
		n := stageUpdate
		out.StalledStage = &n
	}
	s.verdict = j.judgeRefusal(r, s)
	for n := stageBuild; n <= stageConverge; n++ {
		st := Stage{Number: n, Name: stageNames[n], State: StageNotReached, Evidence: []string{}}
		switch {
		case n < stageUpdate:
			st.State = StageNoEvidence
		case n == stageUpdate:
			st.Start, st.Desired = timePtr(a.Received), 1
			st.State = StageStalled
			if !s.open {
				st.State = StageDelayed
			}
			var cites []*cite
			for i, q := range r.requests {
				if i < 3 {
					cites = append(cites, auditCite(q))
				}
			}
			if w := last.write; w != nil {
				st.Note = fateNote(w)
				cites = append(cites, j.c.writeCites(w)...)
			}
			st.Evidence = b.add(cites)
		}
		out.Stages = append(out.Stages, st)
	}
	finishStalls(out, []*stall{s}, j, b)
	return out
}

// fateNote says what became of the last request of an attempt, where that needs
// saying: an answer by rule speaks for itself.
func fateNote(w *writeRequest) string {
	switch w.Fate {
	case FateLost, FateNotProposed:
		return string(w.Fate) + ": " + w.Why
	case FateUnknown:
		return "its fate is unknown: " + w.Why + "; would settle it: " + w.Settle
	}
	return ""
}

// actor joins a field manager and a user: "kubectl-set (ci-deployer)".
func actor(manager, user string) string {
	switch {
	case manager == "" || manager == user:
		return user
	case user == "":
		return manager
	}
	return manager + " (" + user + ")"
}

// sortRollouts puts rollouts in order of trigger time.
func sortRollouts(all []Rollout) {
	sort.SliceStable(all, func(i, j int) bool {
		x, y := all[i].Trigger.Time, all[j].Trigger.Time
		switch {
		case x == nil || y == nil:
			return x == nil && y != nil
		case !x.Equal(*y):
			return x.Before(*y)
		}
		return all[i].ID < all[j].ID
	})
}
