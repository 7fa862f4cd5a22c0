package report

import (
	"fmt"
	"time"

	"etcd-autopsy/correlate"
)

// rolloutBlock is all about one rollout.
type rolloutBlock struct {
	Anchor, Title string
	// Main is true for the rollout that the document is about; the others fold.
	Main     bool
	Trigger  []labelled
	Stages   table
	Stalls   table
	Points   table
	Findings []findingView
}

// maxPoints is how many stored writes of one rollout are shown.
const maxPoints = 120

func (b *builder) blocks() []rolloutBlock {
	var out []rolloutBlock
	for _, r := range b.detailed() {
		block := rolloutBlock{
			Anchor:  b.rolloutAt[r.ID],
			Title:   name(r.ID) + " – " + effect(r),
			Main:    r == b.focus.shown,
			Trigger: b.trigger(r),
			Stages:  b.stageTable(r),
			Stalls:  b.stallTable(r),
			Points:  b.pointTable(r),
		}
		if r != b.focus.rollout {
			block.Findings = b.findings(r, correlate.RoleCause, correlate.RoleContributing, correlate.RoleRejected)
		}
		out = append(out, block)
	}
	return out
}

func (b *builder) trigger(r *correlate.Rollout) []labelled {
	t := r.Trigger
	out := []labelled{
		{"When", text(b.clock.stamp(rolloutStart(r)) + b.triggerRevision(t))},
		{"Who", textOr(t.Actor, "not known: no input names the writer")},
		{"What", textOr(t.Change, "not known")},
		{"Request", b.request(t.Request)},
	}
	if r.End != nil {
		out = append(out, labelled{"End", text(b.clock.stamp(r.End) + ", " + between(rolloutStart(r), r.End) + " after the start")})
	}
	return out
}

func (b *builder) triggerRevision(t correlate.Trigger) string {
	if t.Revision == nil {
		return ", no stored revision"
	}
	return fmt.Sprintf(", revision %d", *t.Revision)
}

// request shows the audited request; without one it says whether an audit log
// could have held it.
func (b *builder) request(q *correlate.Request) phrase {
	if q == nil {
		if b.hasAudit() {
			return text("not in the audit log that was given")
		}
		return text("no audit log was given")
	}
	out := join(text("audit ID"), codeName(q.AuditID), text(fmt.Sprintf("answered %d", q.Code)))
	if q.Message != "" {
		out = join(out, code(q.Message))
	}
	return out
}

func (b *builder) stageTable(r *correlate.Rollout) table {
	t := table{
		Class: "stack stages",
		Cols: []column{{"Stage", ""}, {"State", ""}, {"Start", "time"}, {"First through", "time"}, {"Last through", "time"},
			{"Usual", "num"}, {"Pods", "num"}, {"Revisions", "num"}, {"Evidence", "cites"}},
		Empty: text("The analysis holds no stages of this rollout."),
	}
	var all []*time.Time
	for _, s := range r.Stages {
		all = append(all, s.Start, s.Reached, s.End)
	}
	when := b.clock.column(all)
	for _, s := range r.Stages {
		t.Rows = append(t.Rows, row{Class: "stage-" + stateClass(s.State), Cells: b.stageCells(s, when)})
	}
	return t
}

func (b *builder) stageCells(s correlate.Stage, when func(*time.Time) string) []cell {
	title := join(strong(fmt.Sprintf("%d %s", s.Number, name(s.Name))), note(factOf(s.Number).zh))
	if s.Note != "" {
		title = join(title, note(s.Note))
	}
	return cells(
		title,
		stateMark(s.State),
		text(when(s.Start)),
		join(text(when(s.Reached)), noteIf(after(s.Start, s.Reached))),
		join(text(when(s.End)), noteIf(after(s.Start, s.End))),
		text(factOf(s.Number).usual()),
		text(podCount(s)),
		text(revisionSpan(s.FirstRevision, s.LastRevision)),
		b.cite(s.Evidence),
	)
}

func after(from, to *time.Time) string {
	if from == nil || to == nil {
		return ""
	}
	return "after " + duration(to.Sub(*from))
}

func podCount(s correlate.Stage) string {
	if s.Desired == 0 || s.State == correlate.StageNoEvidence {
		return "–"
	}
	return fmt.Sprintf("%d of %d", s.Through, s.Desired)
}

func stateClass(s correlate.StageState) string {
	if _, ok := stateWords[s]; ok {
		return string(s)
	}
	return string(correlate.StageNoEvidence)
}

func (b *builder) stallTable(r *correlate.Rollout) table {
	t := table{
		Class: "stack",
		Cols: []column{{"Stage", ""}, {"From", "time"}, {"To", "time"}, {"Length", "num"}, {"Whose wait", "wide"},
			{"Cause", ""}, {"Confidence", ""}, {"Evidence", "cites"}},
		Empty: text("No stage of this rollout was seen to outlast its budget."),
	}
	var all []*time.Time
	for _, s := range r.Stalls {
		all = append(all, s.From, s.To)
	}
	when := b.clock.column(all)
	for _, s := range r.Stalls {
		t.Rows = append(t.Rows, row{Cells: b.stallCells(s, when)})
	}
	return t
}

func (b *builder) stallCells(s correlate.Stall, when func(*time.Time) string) []cell {
	to := text("open when the evidence ended")
	if s.To != nil {
		to = text(when(s.To))
	}
	if s.To != nil && s.Recovered {
		to = join(to, note("recovered"))
	}
	cause := text("undecided")
	if s.Cause != nil {
		cause = codeName(*s.Cause)
	}
	length := between(s.From, s.To)
	if s.To == nil && s.From != nil && b.focus.last.After(*s.From) {
		length = "at least " + duration(b.focus.last.Sub(*s.From))
	}
	return cells(
		strong(fmt.Sprintf("%d %s", s.Stage, correlate.StageName(s.Stage))),
		text(when(s.From)), to, text(length),
		textOr(s.Object, "–"), cause, textOr(string(s.Confidence), "–"), b.cite(s.Evidence),
	)
}

func (b *builder) pointTable(r *correlate.Rollout) table {
	t := table{
		Class: "stack points",
		Cols: []column{{"Revision", "num"}, {"Step", "num"}, {"Time", "time"}, {"Interval", "time"}, {"Since last", "num"},
			{"Object", ""}, {"Change", "wide"}},
		Empty: text("No stored write of this rollout is in the inputs."),
	}
	points := b.pointsOf(r)
	shown := points[:min(len(points), maxPoints)]
	when := b.clock.column(times(shown, func(p correlate.Point) *time.Time { return p.Time }))
	for i, p := range shown {
		step, since := "", ""
		if i > 0 {
			step, since = fmt.Sprintf("+%d", p.Revision-shown[i-1].Revision), between(shown[i-1].Time, p.Time)
		}
		t.Rows = append(t.Rows, row{Cells: cells(
			text(fmt.Sprint(p.Revision)),
			textOr(step, "–"),
			text(when(p.Time)),
			textOr(spread(p.Time, p.Earliest, p.Latest), "–"),
			textOr(since, "–"),
			join(text(p.Kind), codeName(p.Name)),
			text(p.Text),
		)})
	}
	if n := len(points) - len(shown); n > 0 {
		t.Note = text(plural(n, "later write") + " left out here; the JSON report has them.")
	}
	return t
}

func (b *builder) pointsOf(r *correlate.Rollout) []correlate.Point {
	var out []correlate.Point
	for _, p := range b.a.Points {
		if p.Rollout == r.ID {
			out = append(out, p)
		}
	}
	return out
}
