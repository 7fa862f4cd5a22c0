package correlate

import (
	"fmt"
	"time"
)

// silences turns the gaps of writers into episodes and hangs each on its root: the
// fault of etcd, or of an API server, that began before the writer fell silent
// and lasted long enough to cost it its Lease.
func (c *Case) silences(pulses []*pulse, eps []*episode) []*episode {
	var out []*episode
	for _, p := range pulses {
		for _, s := range p.gaps {
			s.root = rootOf(s, eps)
			if s.root != nil && s.handover() && p.kind != "kubelet-down" && p.kind != "apiserver-down" {
				s.root.lost = append(s.root.lost, s)
			}
			if s.length() < p.lost && !s.open() {
				continue
			}
			if s.open() && s.length() < p.limit {
				continue
			}
			out = append(out, c.silenceEpisode(s))
		}
	}
	return out
}

// rootOf finds the fault behind a silence. The fault must have begun by the first
// renewal that is missing, and must reach past the renew deadline or, for a
// shorter silence, to its end. A silence that follows another with one beat
// between (a renewal that was queued in the fault and stored when it ended) has
// the root of the first.
func rootOf(s *silence, eps []*episode) *episode {
	var best *episode
	for _, e := range eps {
		if !e.reach {
			continue
		}
		started := !e.start.After(s.from.Add(renewDeadline / 2))
		reaches := e.end.After(s.from.Add(renewDeadline-2*time.Second)) || !s.open() && e.end.After(s.to.Add(-5*time.Second))
		if started && reaches && e.end.After(s.from) && (best == nil || better(e, best)) {
			best = e
		}
	}
	if best == nil && s.after != nil && s.after.length() >= renewDeadline {
		return s.after.root
	}
	return best
}

func better(a, b *episode) bool {
	if rank[a.kind] != rank[b.kind] {
		return rank[a.kind] < rank[b.kind]
	}
	return a.start.Before(b.start)
}

// silenceEpisode describes a writer that fell silent for as long as others take
// for its end.
func (c *Case) silenceEpisode(s *silence) *episode {
	p := s.pulse
	e := &episode{kind: p.kind, start: s.from, end: s.to, open: s.open(), names: []string{p.name}, reach: false}
	e.cites = append(e.cites, revCite(s.last.idx, "Lease %s renewed by %s, the last time for %s", leaseName(p.key), holderText(s.last.holder), seconds(s.length())))
	switch {
	case s.next == nil:
		e.text = fmt.Sprintf("The Lease of %s was not renewed after %s, %s before the stored history ends", p.role(), clockTime(s.from), seconds(s.length()))
	default:
		e.text = fmt.Sprintf("The Lease of %s was not renewed for %s", p.role(), seconds(s.length()))
		e.cites = append(e.cites, revCite(s.next.idx, "Lease %s renewed by %s", leaseName(p.key), holderText(s.next.holder)))
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
	for _, sig := range []string{"lease-renew-failed", "leaderelection-lost", "lease-acquired"} {
		for _, b := range c.bursts(sig) {
			if string(b.first.file.id.Component) != s.pulse.name {
				continue
			}
			if t := b.first.at; t.After(s.from) && !t.After(s.to.Add(2*time.Second)) {
				out = append(out, lineCite(b.first))
			}
		}
	}
	return out
}

// leaseName is "kube-system/kube-scheduler" for a Lease's key.
func leaseName(key string) string {
	r, _ := parseKey(key)
	return r.Namespace + "/" + r.Name
}

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
