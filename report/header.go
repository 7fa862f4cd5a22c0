package report

import (
	"fmt"
	"strings"

	"etcd-autopsy/correlate"
)

// object names the workload of a rollout; the kind only where it is no Deployment.
func object(r *correlate.Rollout) string {
	o := r.Workload.Namespace + "/" + r.Workload.Name
	if r.Workload.Namespace == "" {
		o = r.Workload.Name
	}
	if r.Workload.Kind != "" && r.Workload.Kind != "Deployment" {
		o = r.Workload.Kind + " " + o
	}
	return name(o)
}

// attempt names a rollout among those of its workload: "rollout #2", or
// "update attempt" for one that left no revision.
func attempt(r *correlate.Rollout) string {
	i := strings.LastIndexAny(r.ID, "#@")
	if i < 0 || r.ID[i] == '@' {
		return "update attempt"
	}
	return "rollout " + name(r.ID[i:])
}

// effects say how a rollout ended, for a title.
var effects = map[correlate.Outcome]string{
	correlate.Complete:   "completed",
	correlate.Stalled:    "stalled",
	correlate.InProgress: "was in progress when the evidence ended",
	correlate.Superseded: "was superseded",
	correlate.Deleted:    "ended with the deletion of the workload",
	correlate.Refused:    "was refused",
}

// effect says what happened to a rollout in a few words.
func effect(r *correlate.Rollout) string {
	e, ok := effects[r.Outcome]
	if !ok {
		e = "ended as " + name(string(r.Outcome))
	}
	switch waited := longestStall(r); {
	case r.StalledStage != nil:
		return e + " in " + stageName(*r.StalledStage)
	case r.Outcome == correlate.Refused:
		return e + " in " + stageName(3)
	case waited != nil && waited.Recovered:
		return e + " after a wait in " + stageName(waited.Stage)
	}
	return e
}

// longestStall is the stall that lasted longest; an open one outlasts all.
func longestStall(r *correlate.Rollout) *correlate.Stall {
	var best *correlate.Stall
	for i := range r.Stalls {
		if s := &r.Stalls[i]; best == nil || outlasts(s, best) {
			best = s
		}
	}
	return best
}

func outlasts(a, b *correlate.Stall) bool {
	if (a.To == nil) != (b.To == nil) {
		return a.To == nil
	}
	if a.To == nil || a.From == nil || b.From == nil {
		return false
	}
	return a.To.Sub(*a.From) > b.To.Sub(*b.From)
}

func (b *builder) title() string {
	what := "No stalled rollout was seen"
	switch f := b.focus; {
	case f.rollout != nil:
		what = object(f.rollout) + " " + attempt(f.rollout) + " " + effect(f.rollout)
	case f.episode != nil:
		what = "Control plane: " + name(f.episode.Kind)
		if len(f.episode.Members) > 0 {
			what += " (" + name(strings.Join(f.episode.Members, ", ")) + ")"
		}
	case f.shown != nil && b.a.Verdict.Cause != nil:
		what = object(f.shown) + " " + attempt(f.shown) + " " + effect(f.shown)
	}
	if b.focus.from.IsZero() {
		return what
	}
	return what + ", " + b.clock.window(b.focus.from, b.focus.to)
}

func (b *builder) facts() []phrase {
	var out []phrase
	if tool := prose(b.a.Tool.Name + " " + b.a.Tool.Version); tool != "" {
		out = append(out, text(tool))
	}
	out = append(out,
		text("draft generated from evidence"),
		text(plural(len(b.a.Inputs), "input")),
		text(b.revisionRange()))
	if b.clock.day == "" {
		return append(out, text("no time is known"))
	}
	return append(out, text(fmt.Sprintf("times are %s on %s", b.clock.zone, b.clock.day)))
}

func (b *builder) revisionRange() string {
	c := b.a.Coverage
	if c.LastRevision == 0 {
		return "no stored revision"
	}
	return fmt.Sprintf("revisions %d–%d", c.FirstRevision, c.LastRevision)
}
