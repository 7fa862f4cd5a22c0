package report

import (
	"fmt"
	"strings"

	"etcd-autopsy/correlate"
)

// verdictView is the box on the first screen.
type verdictView struct {
	// Tone is open, recovered, undecided or clear; it sets the box's edge.
	Tone string
	Lead phrase
	Rows []labelled
}

// labelled is a line of a box: a word and what it is about.
type labelled struct {
	Label string
	Body  phrase
}

// noStall is the cause of a verdict that found nothing to explain.
const noStall = "none"

// undecided reports a verdict without a decided cause.
func undecided(v correlate.Verdict) bool { return v.Cause == nil }

func healthy(v correlate.Verdict) bool { return v.Cause != nil && *v.Cause == noStall }

func (b *builder) verdict() verdictView {
	v := b.a.Verdict
	out := verdictView{Tone: b.tone(), Lead: text(b.lead())}
	out.add(standingLabel(out.Tone), b.standing())
	if healthy(v) {
		out.add("Looked at", b.lookedAt())
		out.add("Seen", text("No stage outlasted its usual time by enough to be a stall, and no control-plane fault held up a write that was due. "+b.harmlessCount()))
		return out
	}
	out.add("Cause", b.causeLine())
	out.add("Confidence", b.confidenceLine())
	out.add("Would settle it", text(v.WouldSettle))
	out.add("First thing to do", b.firstStep())
	return out
}

// lead is the verdict's text without the cause, which has a line and its evidence
// of its own below.
func (b *builder) lead() string {
	lead := b.a.Verdict.Text
	if f := b.causeFinding(); f != nil {
		lead = strings.TrimSpace(strings.Replace(lead, f.Text+".", "", 1))
	}
	if lead == "" {
		return b.title() + "."
	}
	return lead
}

func (v *verdictView) add(label string, body phrase) {
	if len(body) > 0 && body[0].Text != "" {
		v.Rows = append(v.Rows, labelled{label, body})
	}
}

func (b *builder) tone() string {
	v := b.a.Verdict
	switch {
	case healthy(v):
		return "clear"
	case undecided(v):
		return "undecided"
	case b.focus.rollout != nil && b.focus.rollout.StalledStage == nil && b.focus.rollout.Outcome != correlate.Refused:
		return "recovered"
	}
	return "open"
}

func standingLabel(tone string) string {
	if tone == "recovered" {
		return "Where it waited"
	}
	return "Where it stands"
}

// standing says in which stage the rollout is, or was, held up.
func (b *builder) standing() phrase {
	r := b.focus.rollout
	if r == nil || b.a.Verdict.Stage == nil {
		return nil
	}
	n := *b.a.Verdict.Stage
	words := fmt.Sprintf("Stage %d of 9, %s (%s)", n, correlate.StageName(n), factOf(n).zh)
	stall := stallOf(r, n)
	if stall == nil {
		return text(words + ".")
	}
	return b.said(words+": "+b.stallWords(r, stall)+".", stall.Evidence)
}

func stallOf(r *correlate.Rollout, stage int) *correlate.Stall {
	var best *correlate.Stall
	for i := range r.Stalls {
		if s := &r.Stalls[i]; s.Stage == stage && (best == nil || outlasts(s, best)) {
			best = s
		}
	}
	return best
}

// stallWords says from when to when a stall lasted and how many pods it held.
func (b *builder) stallWords(r *correlate.Rollout, s *correlate.Stall) string {
	if r.Outcome == correlate.Refused && s.To == nil {
		return "refused at " + b.clock.stamp(s.From) + "; no later attempt was seen to make it good"
	}
	words := "held up since " + b.clock.stamp(s.From) + ", still open when the evidence ended"
	if s.To != nil {
		words = fmt.Sprintf("held up from %s to %s (%s), then recovered", b.clock.stamp(s.From), b.clock.stamp(s.To), between(s.From, s.To))
		if !s.Recovered {
			words = strings.Replace(words, ", then recovered", ", ended without recovery", 1)
		}
	}
	if g := stageOf(r, s.Stage); g != nil && s.To == nil && g.Desired > 0 && s.Stage > 3 {
		words += fmt.Sprintf("; %d of %s through", g.Through, plural(g.Desired, "pod"))
	}
	return words
}

func stageOf(r *correlate.Rollout, n int) *correlate.Stage {
	return find(r.Stages, func(s correlate.Stage) bool { return s.Number == n })
}

// causeFinding is the finding that explains the verdict; nil if there is none.
func (b *builder) causeFinding() *correlate.Finding {
	v, r := b.a.Verdict, b.focus.rollout
	if r == nil || v.Cause == nil {
		return nil
	}
	is := func(f correlate.Finding) bool { return f.Role == correlate.RoleCause && f.Cause == *v.Cause }
	best := find(r.Findings, func(f correlate.Finding) bool { return is(f) && v.Stage != nil && f.Stage == *v.Stage })
	if best == nil {
		best = find(r.Findings, is)
	}
	return best
}

func (b *builder) causeLine() phrase {
	v := b.a.Verdict
	if undecided(v) {
		return b.candidates()
	}
	cause := codeName(*v.Cause)
	if f := b.causeFinding(); f != nil {
		return join(cause, b.said(f.Text, f.Evidence))
	}
	if e := b.focus.episode; e != nil {
		return join(cause, b.episodeLink(e.ID), b.said(e.Text, e.Evidence))
	}
	return cause
}

// candidates says that nothing is decided, and between what.
func (b *builder) candidates() phrase {
	list := b.a.Verdict.Candidates
	if len(list) == 0 {
		return text("Undecided: no cause fits the evidence.")
	}
	out := text("Undecided between")
	for i, c := range list {
		if i > 0 {
			out = join(out, text("and"))
		}
		out = join(out, candidate(c))
	}
	return out
}

func candidate(c correlate.Candidate) phrase {
	if c.Confidence == "" {
		return codeName(c.Cause)
	}
	return join(codeName(c.Cause), text("("+string(c.Confidence)+")"))
}

// whyNotHigher explains a confidence word.
var whyNotHigher = map[correlate.Confidence]string{
	correlate.Proven:   "the mechanism itself is in the evidence, and no rival is near.",
	correlate.Likely:   "the pattern fits better than any other; not higher, because the evidence does not name the mechanism itself.",
	correlate.Possible: "the pattern fits; not higher, because rivals remain that the evidence does not exclude.",
}

func (b *builder) confidenceLine() phrase {
	v := b.a.Verdict
	if undecided(v) || v.Confidence == "" {
		return text("None is claimed, since the evidence does not decide.")
	}
	out := join(mark(string(v.Confidence), "confidence"), text("– "+whyNotHigher[v.Confidence]))
	var rivals phrase
	for _, c := range v.Candidates {
		if c.Cause != *v.Cause {
			rivals = list(rivals, candidate(c))
		}
	}
	if len(rivals) > 0 {
		out = join(out, text("Other candidates:"), rivals)
	}
	return out
}

func (b *builder) firstStep() phrase {
	if f := b.causeFinding(); f != nil {
		return text(f.NextStep)
	}
	return nil
}

func (b *builder) lookedAt() phrase {
	looked := plural(len(b.a.Rollouts), "rollout")
	if len(b.a.Rollouts) == 0 {
		looked = "No rollout was found"
	}
	parts := []string{looked, plural(len(b.a.Inputs), "input"), b.revisionRange()}
	if start := evidenceStart(b.a); start != nil && !b.focus.last.IsZero() {
		parts = append(parts, "records from "+b.clock.stamp(start)+" to "+b.clock.stamp(&b.focus.last))
	}
	return text(strings.Join(parts, "; ") + ".")
}

func (b *builder) harmlessCount() string {
	n := 0
	for _, e := range b.a.Episodes {
		if e.Harmless {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s that held up nothing: see the suspects that were rejected.", plural(n, "control-plane episode"))
}
