package correlate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// rivalWindow is how long before a rollout a fault may have ended and still be
// suspected by a reader: it is then listed as rejected, with the reason.
const rivalWindow = 2 * time.Minute

// rejectRivals lists the faults near a rollout that are not its cause, each with
// the fact that excludes it.
func (j *judge) rejectRivals(r *Rollout, b *book) {
	from, to := r.Start, j.rolloutEnd(r)
	if from == nil {
		return
	}
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if f.Role != RoleRejected {
			seen[f.Cause] = true
		}
	}
	for _, e := range j.eps {
		if integrityKind(e.kind) {
			continue // no time in which a write was held up: nothing excludes it, nor blames it
		}
		if leaseKind(e.kind) && !e.start.Add(renewDeadline).Before(to) {
			continue // the writer was still renewing, or due to, when the rollout ended
		}
		if seen[e.kind] || !e.overlaps(from.Add(-rivalWindow), to) {
			continue
		}
		if len(r.Stalls) == 0 && !e.overlaps(*from, to) {
			continue
		}
		seen[e.kind] = true
		r.Findings = append(r.Findings, Finding{
			Cause: e.kind, Role: RoleRejected, Rule: "N-" + e.kind, Text: e.text + ". " + j.excludes(e, r),
			Evidence: b.add(e.cites),
		})
	}
}

// rolloutEnd is when a rollout's evidence ends.
func (j *judge) rolloutEnd(r *Rollout) time.Time {
	if r.End != nil {
		return *r.End
	}
	return j.c.stateEnd()
}

// excludes is the fact that rules a fault out as the cause of a rollout's stalls.
func (j *judge) excludes(e *episode, r *Rollout) string {
	if len(r.Stalls) == 0 {
		if r.Outcome == Complete {
			return "Excluded: no stage of this rollout outlasted its budget"
		}
		return "Excluded: no stage of this rollout has outlasted its budget"
	}
	s := mainStall(r)
	switch {
	case s.From != nil && !e.open && e.end.Before(*s.From):
		return fmt.Sprintf("Excluded: it was over at %s, %s before the stalled stage began", clockTime(e.end), seconds(s.From.Sub(e.end)))
	case s.To != nil && e.start.After(*s.To):
		return "Excluded: it began after the stall had ended"
	case !e.reach && e.why != "":
		return "Excluded: " + e.why
	case !e.open && s.To == nil && s.Cause != nil:
		return fmt.Sprintf("Excluded: it ended at %s and the stall went on for %s with the same cause stated; it lies inside the stall and changed nothing",
			clockTime(e.end), seconds(j.c.stateEnd().Sub(e.end)))
	case leaseKind(e.kind) && !dueIn[e.kind][s.Stage]:
		return fmt.Sprintf("Excluded: stage %d (%s) did not wait for it", s.Stage, stageNames[s.Stage])
	case s.Cause != nil && stated(r, s):
		return "Excluded: the cause above is stated by the object that waited"
	}
	return "Excluded: it does not cover the time that the stage waited"
}

// dueIn says in which stages a silent writer's write was due (incidents.md 1.1).
var dueIn = map[string]map[int]bool{
	"controller-down": {stageReplicaSet: true, stageServe: true, stageConverge: true},
	"scheduler-down":  {stageSchedule: true},
	"kubelet-down":    {stagePrepare: true, stageStart: true, stageServe: true},
	"apiserver-down":  {stageUpdate: true},
}

// stated says whether a stall's cause stands in an object or an answer, not in the
// absence of a writer.
func stated(r *Rollout, s *Stall) bool {
	for _, f := range r.Findings {
		if f.Cause == *s.Cause && f.Stage == s.Stage && strings.HasPrefix(f.Rule, "S") {
			return true
		}
	}
	return false
}

// mainStall is the open stall of the lowest stage, else the longest one.
func mainStall(r *Rollout) *Stall {
	var best *Stall
	for i := range r.Stalls {
		s := &r.Stalls[i]
		if r.StalledStage != nil && s.To == nil && s.Stage == *r.StalledStage {
			return s
		}
		if best == nil || stallLength(s) > stallLength(best) {
			best = s
		}
	}
	return best
}

// writeEpisodes lists every fault, each called harmless or not, with the reason.
func (j *judge) writeEpisodes(rollouts []Rollout, b *book) []Episode {
	out := []Episode{}
	for i, e := range j.eps {
		x := Episode{
			ID: fmt.Sprintf("P%d", i+1), Kind: e.kind, Start: timePtr(e.start), Text: e.text,
			Members: []string{}, AffectedRollouts: []string{}, Evidence: b.add(e.cites),
		}
		if !e.open {
			x.End = timePtr(e.end)
		}
		x.Members = append(append(x.Members, nameAll(e.members, j.members)...), e.names...)
		for _, r := range rollouts {
			for _, h := range e.held {
				if h == r.ID {
					x.AffectedRollouts = append(x.AffectedRollouts, r.ID)
				}
			}
		}
		x.Harmless, x.Because = j.harm(e, len(x.AffectedRollouts))
		out = append(out, x)
	}
	return out
}

// harm says whether a fault held up anything that was due, and why that is known.
func (j *judge) harm(e *episode, rollouts int) (harmless bool, because string) {
	switch {
	case rollouts > 0:
		return false, "it held up " + count(rollouts, "rollout")
	case e.kind == "nospace", integrityKind(e.kind):
		return false, e.why
	case len(e.lost) > 0:
		var who []string
		for _, s := range e.lost {
			who = append(who, s.pulse.role())
		}
		return false, "it cost " + list(slices.Compact(who)) + " the Lease"
	case leaseKind(e.kind):
		return j.silenceHarm(e)
	case e.reach && e.length() >= renewDeadline:
		return false, e.why
	case e.why != "":
		return true, e.why + "; no rollout waited and no Lease was lost"
	}
	return true, "no rollout waited and no Lease was lost"
}

func leaseKind(kind string) bool {
	return kind == "controller-down" || kind == "scheduler-down" || kind == "kubelet-down" || kind == "apiserver-down"
}

// silenceHarm: a writer that was silent past its Lease's duration was missing,
// whether or not a rollout waited for it; an API server's identity Lease alone
// says little.
func (j *judge) silenceHarm(e *episode) (bool, string) {
	if e.kind == "apiserver-down" {
		return true, "no rollout waited for it; another API server may have served"
	}
	return false, "it was silent for longer than its Lease lasts"
}
