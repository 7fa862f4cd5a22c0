package report

import (
	"fmt"

	"etcd-autopsy/correlate"
)

// document is the view that the templates lay out: every decision is made and
// every string is printable, though not yet escaped for a format.
type document struct {
	Title    string
	Facts    []phrase
	Verdict  verdictView
	Unseen   unseenView
	Strip    stripView
	Timeline timelineView
	Order    table
	Rollouts table
	Blocks   []rolloutBlock
	Chain    chainView
	Rejected table
	Writes   table
	Episodes table
	Leaders  table
	Unknown  table
	Evidence table
	Inputs   table
	Method   []phrase
}

// builder holds what the parts of a document share.
type builder struct {
	a       *correlate.Analysis
	focus   focus
	clock   clock
	anchors anchors
	// refs and refAnchors lead to evidence by ID and by place.
	refs       map[string]reference
	refAnchors []string
	// episodeAt and rolloutAt are the anchors of episodes and rollouts by ID.
	episodeAt, rolloutAt map[string]string
}

func newDocument(a *correlate.Analysis, opts Options) document {
	f := focusOf(a)
	b := &builder{a: a, focus: f, clock: newClock(opts.Location, f.from), anchors: newAnchors()}
	b.references()
	b.places()
	return document{
		Title:    b.title(),
		Facts:    b.facts(),
		Verdict:  b.verdict(),
		Unseen:   b.unseen(),
		Strip:    b.strip(),
		Timeline: b.timeline(),
		Order:    b.order(),
		Rollouts: b.overview(),
		Blocks:   b.blocks(),
		Chain:    b.chain(),
		Rejected: b.rejected(),
		Writes:   b.writes(),
		Episodes: b.episodes(),
		Leaders:  b.leaders(),
		Unknown:  b.unknown(),
		Evidence: b.evidence(),
		Inputs:   b.inputs(),
		Method:   b.method(),
	}
}

// places gives episodes and the rollouts that get a block their anchors.
func (b *builder) places() {
	b.episodeAt = make(map[string]string, len(b.a.Episodes))
	for _, e := range b.a.Episodes {
		if _, ok := b.episodeAt[e.ID]; !ok {
			b.episodeAt[e.ID] = b.anchors.claim(e.ID, "episode")
		}
	}
	b.rolloutAt = map[string]string{}
	for _, r := range b.detailed() {
		b.rolloutAt[r.ID] = b.anchors.claim(fmt.Sprintf("rollout-%d", len(b.rolloutAt)+1), "rollout")
	}
}
