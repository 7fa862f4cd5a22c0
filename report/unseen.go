package report

import (
	"fmt"

	"etcd-autopsy/correlate"
)

// unseenView says what the evidence does not hold, before anything is concluded.
type unseenView struct {
	Span  phrase
	Items []phrase
	// Collect is what is missing and could still be had.
	Collect []phrase
	// Rule is the sentence that keeps absence and denial apart.
	Rule phrase
}

// maxProblems is how many problems of one input stand on the first page.
const maxProblems = 3

func (b *builder) unseen() unseenView {
	v := unseenView{
		Span: text(b.span()),
		Rule: text("“Not seen” says only that the inputs do not show it; it does not say that it did not happen."),
	}
	for _, n := range b.a.Coverage.Notes {
		v.Items = append(v.Items, text(sentence(n)))
	}
	for _, in := range b.a.Inputs {
		if len(in.Problems) > 0 {
			v.Items = append(v.Items, inputProblems(in))
		}
	}
	v.Collect = b.toCollect()
	if len(v.Items) == 0 {
		v.Items = []phrase{text("The analysis notes no gap in these inputs, and none of them had a problem.")}
	}
	return v
}

// maxCollect is how much of what could be collected stands on the first page.
const maxCollect = 6

// toCollect lists what is missing with the command that gets it.
func (b *builder) toCollect() []phrase {
	var out []phrase
	for i, c := range b.a.Coverage.Collect {
		if i == maxCollect {
			return append(out, text(fmt.Sprintf("%s more: the JSON report lists them, `explain collect` says how.", plural(len(b.a.Coverage.Collect)-i, "item"))))
		}
		what := text(c.What + ":")
		if c.Decides {
			what = join(strong(c.What), text("(bears on the verdict):"))
		}
		out = append(out, join(what, code(c.Command)))
	}
	return out
}

func (b *builder) span() string {
	c := b.a.Coverage
	switch {
	case c.LastRevision == 0:
		return "No store was among the inputs that could be read: there is no stored history to compare the logs with."
	case c.CompactRevision > 0:
		return fmt.Sprintf("The history spans revisions %d to %d; at and below the compaction at %d, records are missing where no input still held them.",
			c.FirstRevision, c.LastRevision, c.CompactRevision)
	}
	return fmt.Sprintf("The history spans revisions %d to %d; no compaction is recorded.", c.FirstRevision, c.LastRevision)
}

func inputProblems(in correlate.Input) phrase {
	out := codeName(inputName(in))
	for i, p := range in.Problems {
		if i == maxProblems {
			return join(out, text(fmt.Sprintf("and %s more, listed with the inputs.", plural(len(in.Problems)-i, "problem"))))
		}
		out = join(out, text(sentence(p)))
	}
	return out
}

// inputName names an input file as its evidence does.
func inputName(in correlate.Input) string {
	if in.Path == "" || in.Path == in.Label {
		return in.Label
	}
	if in.Label == "" {
		return in.Path
	}
	return in.Label + ": " + in.Path
}
