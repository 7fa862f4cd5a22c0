package correlate

import (
	"fmt"
	"time"
)

// silences turns the gaps of writers into episodes and hangs each on its root: the
// fault of etcd, or of an API server, that began before the writer fell silent
// and lasted long enough to cost it its Lease. A writer that only waited for etcd
// (as everybody did) and then went on makes no episode of its own.
func (c *Case) silences(pulses []*pulse, eps []*episode) []*episode {
	var out []*episode
	for _, p := range pulses {
		for _, s := range p.gaps {
			s.root = c.rootOf(s, eps)
			elected := p.kind == "controller-down" || p.kind == "scheduler-down"
			if s.root != nil && s.handover() && elected {
				s.root.lost = append(s.root.lost, s)
			}
			if (s.root != nil || c.globalStop(s)) && !(elected && s.handover()) {
				continue
			}
			if s.length() < p.lost && !s.open() {
				continue
			}
			out = append(out, c.silenceEpisode(s))
		}
	}
	return out
}

// rootOf finds the fault behind a silence. The fault must have begun by the first
// renewal that is missing, and must reach past the renew deadline or, for a
// shorter silence, to its end; and writes must really have stopped then, or the
// writer's API server must have lost its only member. A silence that follows
// another with one beat between (a renewal that was queued in the fault and
// stored when it ended) has the root of the first.
func (c *Case) rootOf(s *silence, eps []*episode) *episode {
	var best *episode
	for _, e := range eps {
		if !e.reach || !e.end.After(s.from) {
			continue
		}
		started := !e.start.After(s.from.Add(max(renewDeadline/2, s.pulse.limit/2)))
		reaches := e.end.After(s.from.Add(renewDeadline-2*time.Second)) || !s.open() && e.end.After(s.to.Add(-5*time.Second))
		if started && reaches && (best == nil || better(e, best)) && (!stopsWrites[e.kind] || c.stoppedFor(s)) {
			best = e
		}
	}
	if best == nil && s.after != nil && s.after.length() >= renewDeadline {
		return s.after.root
	}
	return best
}

// stoppedFor says whether no put was stored for most of the time in which a silent
// writer could have kept its Lease.
func (c *Case) stoppedFor(s *silence) bool {
	to := s.from.Add(min(s.length(), max(renewDeadline, s.pulse.limit)))
	return covered(s.from, to, c.pauses(s.from, to, stopLimit)) >= 0.6
}

func better(a, b *episode) bool {
	if rank[a.kind] != rank[b.kind] {
		return rank[a.kind] < rank[b.kind]
	}
	return a.start.Before(b.start)
}

// globalStop says whether a silence was everybody's: it began with a pause of the
// whole store that cost everybody's Leases, or most of it, or of the one before it,
// nothing at all was stored. Then its writer is not to blame.
func (c *Case) globalStop(x *silence) bool {
	if x.after != nil && x.after.length() >= renewDeadline && c.globalStop(x.after) {
		return true
	}
	span := &stall{from: x.from, to: x.to}
	var sum time.Duration
	for _, h := range c.pauses(x.from, x.to, holeLimit) {
		sum += overlap(h[0], h[1], span)
		if h[1].Sub(h[0]) >= renewDeadline-2*time.Second && h[0].Before(x.from.Add(x.pulse.limit/2)) {
			return true
		}
	}
	return 2*sum > x.length()
}

// silenceEpisode describes a writer that fell silent for as long as others take
// for its end.
func (c *Case) silenceEpisode(s *silence) *episode {
	p := s.pulse
	e := &episode{kind: p.kind, start: s.from, end: s.to, open: s.open(), names: []string{p.name}, reach: false}
	e.cites = append(e.cites, revCite(s.last.idx, "%s, the last write of %s for %s", s.last.what, p.role(), seconds(s.length())))
	what := "The Lease of " + p.role() + " was not renewed"
	if s.last.version == 0 {
		what = "Nothing was stored by " + p.role()
	}
	if s.next == nil {
		e.text = fmt.Sprintf("%s after %s, %s before the stored history ends", what, clockTime(s.from), seconds(s.length()))
	} else {
		e.text = fmt.Sprintf("%s for %s", what, seconds(s.length()))
		e.cites = append(e.cites, revCite(s.next.idx, "%s, the next write of %s", s.next.what, p.role()))
	}
	if s.missed != nil {
		e.cites = append(e.cites, s.missed)
	}
	e.cites = append(e.cites, c.lostLines(s)...)
	e.logged = len(e.cites) > 2 || s.next == nil && len(e.cites) > 1
	if s.root != nil {
		e.why = "it follows from " + causeWords[s.root.kind]
	}
	return e
}

// lostLines cites what the silent writer's own log says of its Lease.
func (c *Case) lostLines(s *silence) []*cite {
	var out []*cite
	since := s.from
	if s.after != nil {
		since = s.after.from // one absence, broken by a renewal that was stored late
	}
	for _, sig := range []string{"lease-renew-failed", "leaderelection-lost", "lease-acquired"} {
		for _, b := range c.bursts(sig) {
			if string(b.first.file.id.Component) != s.pulse.name {
				continue
			}
			if t := b.first.at; t.After(since) && !t.After(s.to.Add(2*time.Second)) {
				out = append(out, lineCite(b.first))
			}
		}
	}
	return out
}

// holderText names a Lease's holder.
func holderText(h string) string {
	if h == "" {
		return "nobody (released)"
	}
	return h
}

// causeWords name causes inside a sentence.
var causeWords = map[string]string{
	"nospace": "the NOSPACE alarm", "quorum-loss": "the lost quorum", "slow-disk": "the slow disks", "member-down": "the lost etcd member",
	"leader-loss": "the lost leader", "apiserver-down": "the silent API server", "controller-down": "the missing controller manager",
	"scheduler-down": "the missing scheduler", "kubelet-down": "the silent kubelet",
}
