package correlate

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Analyze judges a case: rollouts with their stages, stalls and causes, the faults
// of the control plane, the writes that failed, and a verdict. It may be called
// more than once; the result is the same each time.
func (c *Case) Analyze(ctx context.Context) (*Analysis, error) {
	w, err := c.objects(ctx)
	if err != nil {
		return nil, err
	}
	eps, pulses, ts, m := c.findEpisodes(w)
	j := &judge{c: c, w: w, eps: eps, pulses: pulses, members: m}
	as := c.attempts(w)
	refused := c.refusals(as)
	for _, a := range as {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a.expects = c.expectedServices(a.life, w)
		a.pods = c.passages(a, w)
		a.buildStages()
		a.findStalls()
		for _, s := range a.stalls {
			s.verdict = j.withRestore(s, j.withInconsistency(a, s, j.rule(a, s)))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := c.assemble(j, as, refused, ts)
	newRedactor().all(reflect.ValueOf(out))
	return out, nil
}

// assemble writes the judged case down, in the order in which a reader meets it:
// evidence gets its numbers on the way.
func (c *Case) assemble(j *judge, as []*attempt, refused []*refusal, ts []*tenure) *Analysis {
	b := newBook(c)
	out := &Analysis{
		SchemaVersion: SchemaVersion,
		Tool:          Tool{Name: "etcd-autopsy", Version: c.opts.Version},
		Inputs:        slices.Clone(c.inputs),
		Rollouts:      []Rollout{}, Episodes: []Episode{}, Points: []Point{},
	}
	for _, a := range as {
		out.Rollouts = append(out.Rollouts, *a.write(j, b))
	}
	for _, r := range refused {
		out.Rollouts = append(out.Rollouts, *j.refusedRollout(r, b))
	}
	sortRollouts(out.Rollouts)
	for i := range out.Rollouts {
		j.rejectRivals(&out.Rollouts[i], b)
	}
	out.Episodes = j.writeEpisodes(out.Rollouts, b)
	for _, a := range as {
		out.Points = append(out.Points, c.points(a, j.w)...)
	}
	out.Writes = c.failedWrites(b)
	out.Signals = c.signals()
	out.Terms = c.terms(ts, c.raftEvents(), j.members)
	out.Verdict = writeVerdict(out, j.w.bad["deployments"] != nil && len(j.w.deployments) == 0)
	leaveOpen(&out.Verdict, as)
	out.UnknownMessages = c.unknownMessages(out, b)
	out.Evidence = b.list
	if out.Evidence == nil {
		out.Evidence = []Evidence{}
	}
	c.castDoubt(out)
	out.Coverage = c.coverage(j, out)
	return out
}

// write turns a judged attempt into its rollout.
func (a *attempt) write(j *judge, b *book) *Rollout {
	meta := a.life.meta()
	out := &Rollout{
		ID:       a.id(),
		Workload: Workload{Kind: "Deployment", Namespace: a.namespace(), Name: a.name(), UID: string(meta.GetUID())},
		Stages:   []Stage{}, Stalls: []Stall{}, Findings: []Finding{},
	}
	a.out = out
	a.writeTrigger(out)
	a.citeStages(b)
	finishStalls(out, a.stalls, j, b)
	a.markStages()
	for n := stageBuild; n <= stageConverge; n++ {
		out.Stages = append(out.Stages, a.stages[n])
	}
	a.writeOutcome(out, b)
	return out
}

// writeTrigger says what began the rollout and who asked for it.
func (a *attempt) writeTrigger(out *Rollout) {
	t := a.trigger()
	out.Trigger.Change = a.change()
	if a.untold {
		// What is left tells only that it began by the creation of its ReplicaSet.
		if a.set != nil {
			at := a.set.meta().GetCreationTimestamp().UTC()
			out.Trigger.Time, out.Start = timePtr(at), timePtr(at)
		}
		return
	}
	rev := t.rev
	at := a.c.clock.Time(rev)
	out.Trigger.Revision, out.Trigger.Time, out.Start = &rev, timePtr(at), timePtr(at)
	manager, user := a.lastManager(), ""
	if r := a.request; r != nil {
		user = r.User
		out.Trigger.Request = &Request{AuditID: r.AuditID, Code: r.Code, Message: r.Message}
		out.Start = timePtr(r.Received)
	}
	out.Trigger.Actor = actor(manager, user)
}

// lastManager is the field manager that wrote the trigger, as it claims: the one
// with the newest time that is not of a controller's status.
func (a *attempt) lastManager() string {
	best, name := time.Time{}, ""
	for _, f := range a.trigger().obj.ManagedFields {
		if f.Time != nil && f.Subresource == "" && f.Manager != "kube-controller-manager" && !f.Time.UTC().Before(best) {
			best, name = f.Time.UTC(), f.Manager
		}
	}
	return name
}

// markStages sets the state of each stage from its stalls.
func (a *attempt) markStages() {
	for n := stageUpdate; n <= stageConverge; n++ {
		st := &a.stages[n]
		for _, s := range a.stalls {
			if s.stage != n {
				continue
			}
			if s.open {
				st.State = StageStalled
			} else if st.State == StageReached {
				st.State = StageDelayed
			}
		}
	}
	// A stage that pods have entered and that is within its budget is in progress.
	if a.next != nil || a.life.deleted >= 0 {
		return
	}
	for n := stageReplicaSet; n <= stageConverge; n++ {
		if st := &a.stages[n]; st.State == StageNotReached && st.Start != nil {
			st.State = StageInProgress
			break
		}
	}
}

// writeOutcome decides how the rollout ended (contract.md 1).
func (a *attempt) writeOutcome(out *Rollout, b *book) {
	done := a.c.completeMark(a)
	for _, s := range out.Stalls {
		if s.To == nil {
			n := s.Stage
			if out.StalledStage == nil || n < *out.StalledStage {
				out.StalledStage = &n
			}
		}
	}
	switch {
	case out.StalledStage != nil:
		out.Outcome = Stalled
	case done.ok:
		out.Outcome, out.End = Complete, timePtr(done.at)
	case a.next != nil:
		out.Outcome, out.End = Superseded, timePtr(a.end)
	case a.life.deleted >= 0:
		out.Outcome, out.End = Deleted, timePtr(a.end)
		out.Findings = append(out.Findings, Finding{Cause: "deleted", Role: RoleCause, Confidence: Proven, Rule: "R-deleted",
			Text:     fmt.Sprintf("The Deployment was deleted at revision %d, before the rollout was complete", a.life.deletedRev),
			Evidence: b.add([]*cite{revCite(a.life.deleted, "Deployment %s/%s deleted", a.namespace(), a.name())}),
			NextStep: "Find who deleted it: the audit log names the user."})
	default:
		out.Outcome = InProgress
	}
	out.Onset = onset(out)
}

// onset is when the open stall, or else the longest recovered one, began.
func onset(out *Rollout) *time.Time {
	var best *Stall
	for i := range out.Stalls {
		s := &out.Stalls[i]
		if out.StalledStage != nil {
			if s.To == nil && s.Stage == *out.StalledStage {
				return s.From
			}
			continue
		}
		if best == nil || stallLength(s) > stallLength(best) {
			best = s
		}
	}
	if best == nil {
		return nil
	}
	return best.From
}

func stallLength(s *Stall) time.Duration {
	if s.From == nil || s.To == nil {
		return 0
	}
	return s.To.Sub(*s.From)
}

// finishStalls writes the stalls of a rollout and the findings that explain them;
// one finding a cause.
func finishStalls(out *Rollout, stalls []*stall, j *judge, b *book) {
	for _, s := range stalls {
		x := Stall{Stage: s.stage, From: timePtr(s.from), Recovered: !s.open, Evidence: []string{}, Object: s.object}
		if !s.open {
			x.To = timePtr(s.to)
		}
		r := s.verdict
		if m := r.main; m != nil {
			cause := m.cause
			x.Cause, x.Confidence, x.Evidence = &cause, m.confidence, b.add(m.cites)
			addFinding(out, m, s, j, b)
		}
		for _, m := range r.more {
			addFinding(out, m, s, j, b)
		}
		out.Stalls = append(out.Stalls, x)
	}
}

// addFinding adds a suspect as a finding: a cause once for each stage it held up,
// a contributing link once, and none for what is a cause already.
func addFinding(out *Rollout, x *suspect, s *stall, j *judge, b *book) {
	if x.episode != nil {
		if e := j.known(x.episode); e != nil && !slices.Contains(e.held, out.ID) {
			e.held = append(e.held, out.ID)
		}
	}
	f := Finding{Cause: x.cause, Role: x.role, Confidence: x.confidence, Text: x.text, Rule: x.rule, Evidence: b.add(x.cites), NextStep: nextSteps[x.cause], Stage: s.stage}
	for i := range out.Findings {
		old := &out.Findings[i]
		if old.Cause != x.cause || old.Role == RoleRejected || old.Role == RoleCause && x.role == RoleCause && old.Stage != s.stage {
			continue
		}
		if old.Role == RoleContributing && x.role == RoleCause {
			*old = f
		}
		return
	}
	out.Findings = append(out.Findings, f)
	slices.SortStableFunc(out.Findings, func(p, q Finding) int { return roleOrder[p.Role] - roleOrder[q.Role] })
}

var roleOrder = map[Role]int{RoleCause: 0, RoleContributing: 1, RoleRejected: 2}

// known finds the listed episode that an episode stands for.
func (j *judge) known(e *episode) *episode {
	for _, x := range j.eps {
		if x == e {
			return x
		}
	}
	return nil
}
