package correlate

import (
	"fmt"
	"time"
)

// writeVerdict chooses the headline (contract.md 4): an open stall, a refused
// attempt or a deletion first; then recovered stalls; longer before shorter; with
// no rollout affected the worst episode that is not harmless. unseen says that
// workloads are stored which could not be decoded: then nothing found means nothing.
func writeVerdict(a *Analysis, unseen bool) Verdict {
	v := Verdict{Candidates: []Candidate{}}
	if r := worstRollout(a); r != nil {
		return rolloutVerdict(v, r)
	}
	if e := worstEpisode(a.Episodes); e != nil {
		id, cause := e.ID, e.Kind
		v.Episode, v.Cause, v.Confidence = &id, &cause, Likely
		v.Text = fmt.Sprintf("No rollout stalled in what was given. The control plane had a fault: %s.", e.Text)
		if !hasStore(a) {
			v.Text = fmt.Sprintf("Rollouts were not seen: there is no readable store among the inputs. The control plane had a fault: %s.", e.Text)
			v.Confidence, v.WouldSettle = Possible, "an etcd snapshot or a member's database: it shows whether a rollout waited for this"
		}
		return v
	}
	v.Text = noneText(a)
	if !unseen {
		none := "none"
		v.Cause = &none
		return v
	}
	v.Text = "Rollouts could not be judged: workloads are stored, but their values could not be decoded (see what was not seen)."
	v.WouldSettle = "the values in readable form: the encryption configuration of the API servers, or a store that is not encrypted"
	return v
}

// noneText says what "nothing found" rests on.
func noneText(a *Analysis) string {
	switch n := len(a.Rollouts); {
	case n == 0 && a.Coverage.LastRevision == 0 && !hasStore(a):
		return "No rollout was found: there is no readable store among the inputs, so rollouts could not be seen."
	case n == 0:
		return "No rollout was found in the stored history."
	case n == 1:
		return "The one rollout in the evidence outlasted no stage's budget; no stall was seen."
	default:
		return fmt.Sprintf("None of the %d rollouts in the evidence outlasted a stage's budget; no stall was seen.", n)
	}
}

func hasStore(a *Analysis) bool {
	for _, in := range a.Inputs {
		if (in.Kind == kindSnapshot || in.Kind == kindMember) && in.Records > 0 {
			return true
		}
	}
	return false
}

// worstRollout is the rollout that matters most, nil if none stalled.
func worstRollout(a *Analysis) *Rollout {
	var best *Rollout
	for i := range a.Rollouts {
		r := &a.Rollouts[i]
		if weight(r) == 0 {
			continue
		}
		if best == nil || weight(r) > weight(best) || weight(r) == weight(best) && worstWait(r, a) > worstWait(best, a) {
			best = r
		}
	}
	return best
}

// weight orders rollouts by how bad their end is; 0 is no concern.
func weight(r *Rollout) int {
	switch {
	case r.StalledStage != nil, r.Outcome == Deleted:
		return 3
	case len(r.Stalls) > 0:
		return 2
	}
	for _, f := range r.Findings {
		if f.Role == RoleCause {
			return 1
		}
	}
	return 0
}

// worstWait is the longest wait of a rollout; an open one lasts to the end of the
// evidence.
func worstWait(r *Rollout, a *Analysis) time.Duration {
	var best time.Duration
	for i := range r.Stalls {
		s := &r.Stalls[i]
		d := stallLength(s)
		if s.To == nil && s.From != nil {
			d = lastTime(a).Sub(*s.From)
		}
		best = max(best, d)
	}
	return best
}

// lastTime is the newest time of any input that is used.
func lastTime(a *Analysis) time.Time {
	var t time.Time
	for _, in := range a.Inputs {
		if in.Last != nil && !in.Foreign && in.Last.After(t) {
			t = *in.Last
		}
	}
	return t
}

// rolloutVerdict is the headline about a rollout.
func rolloutVerdict(v Verdict, r *Rollout) Verdict {
	id := r.ID
	v.Rollout = &id
	if r.Outcome == Deleted && len(r.Stalls) == 0 {
		cause := "deleted"
		v.Cause, v.Confidence = &cause, Proven
		v.Text = fmt.Sprintf("Rollout %s did not finish: its Deployment was deleted.", r.ID)
		return v
	}
	s := headlineStall(r)
	if s == nil {
		f := r.Findings[0]
		v.Cause, v.Confidence = &f.Cause, f.Confidence
		v.Text = fmt.Sprintf("Rollout %s did not stall. %s.", r.ID, f.Text)
		return v
	}
	stage := s.Stage
	v.Stage = &stage
	v.Text = headline(r, s)
	if s.Cause != nil {
		v.Cause, v.Confidence = s.Cause, s.Confidence
		for _, f := range r.Findings {
			if f.Cause == *s.Cause && f.Role == RoleCause && f.Stage == s.Stage {
				v.Text += " " + f.Text + "."
				break
			}
		}
		return v
	}
	v.Text += " The evidence does not decide why."
	return v
}

// leaveOpen gives a verdict that names no cause what may be behind the stall, and
// what would settle it.
func leaveOpen(v *Verdict, as []*attempt) {
	if v.Rollout == nil || v.Stage == nil || v.Cause != nil {
		return
	}
	for _, a := range as {
		if a.out.ID != *v.Rollout {
			continue
		}
		for _, s := range a.stalls {
			if s.stage == *v.Stage && s.verdict.main == nil {
				v.Candidates, v.WouldSettle = append(v.Candidates, s.verdict.candidates...), s.verdict.settle
				return
			}
		}
	}
}

// headlineStall is the stall the verdict's stage names: the open one, else the
// longest recovered one, stage 9 only if nothing else waited.
func headlineStall(r *Rollout) *Stall {
	var best *Stall
	for i := range r.Stalls {
		s := &r.Stalls[i]
		if r.StalledStage != nil {
			if s.To == nil && s.Stage == *r.StalledStage {
				return s
			}
			continue
		}
		if best == nil || best.Stage == stageConverge && s.Stage != stageConverge ||
			(best.Stage == stageConverge) == (s.Stage == stageConverge) && stallLength(s) > stallLength(best) {
			best = s
		}
	}
	return best
}

// headline says where and how long a rollout waited.
func headline(r *Rollout, s *Stall) string {
	where := fmt.Sprintf("stage %d (%s)", s.Stage, stageNames[s.Stage])
	switch {
	case r.Outcome == Refused:
		return fmt.Sprintf("The update of %s/%s was refused in %s.", r.Workload.Namespace, r.Workload.Name, where)
	case s.To == nil:
		return fmt.Sprintf("Rollout %s stalled in %s at %s and had not moved when the evidence ended.", r.ID, where, clockTime(*s.From))
	}
	return fmt.Sprintf("Rollout %s waited %s in %s and then went on (outcome: %s).", r.ID, seconds(stallLength(s)), where, r.Outcome)
}

// worstEpisode is the longest fault that is not harmless, nil for none.
func worstEpisode(eps []Episode) *Episode {
	var best *Episode
	length := func(e *Episode) time.Duration {
		if e.End == nil {
			return time.Duration(1<<63 - 1)
		}
		return e.End.Sub(*e.Start)
	}
	for i := range eps {
		e := &eps[i]
		if e.Harmless || e.Start == nil {
			continue
		}
		if best == nil || length(e) > length(best) {
			best = e
		}
	}
	return best
}
