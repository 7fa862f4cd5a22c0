package correlate

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// A pulse is a writer that renews a Lease: as long as it beats, its writer was
// alive and its writes were stored.
type pulse struct {
	// kind is the cause that its silence is: controller-down, scheduler-down,
	// kubelet-down, apiserver-down.
	kind string
	// name is the component, or the node.
	name string
	key  string
	// limit is the gap from which it counts as silent; lost the gap from which
	// others take it for gone (the lease duration).
	limit, lost time.Duration
	beats       []beat
	// acts are other stored writes by the same program: a stale Lease alone does
	// not say that it is gone.
	acts []beat
	gaps []*silence
}

// beat is one stored sign of life: a renewal of the Lease, or for a kubelet any
// write of its own.
type beat struct {
	idx    int
	rev    int64
	at     time.Time
	holder string
	// version is the Lease's, to tell whether the next beat is the next renewal; 0
	// for other writes.
	version int64
	what    string
}

// silence is a gap between two beats. Its root is the fault behind it.
type silence struct {
	pulse    *pulse
	from, to time.Time
	// last and next are the beats around it; next is nil if it never ended.
	last beat
	next *beat
	root *episode
	// after is the silence that ended with the beat this one begins with.
	after *silence
	// missed cites who took the writer for gone, nil if nobody did.
	missed *cite
}

func (s *silence) open() bool            { return s.next == nil }
func (s *silence) length() time.Duration { return s.to.Sub(s.from) }

// handover says whether the Lease was lost: another holder took it, or the same
// program had to take it again.
func (s *silence) handover() bool {
	return s.next == nil || s.next.holder != s.last.holder
}

// lost says whether the silence was long enough to be taken for an end.
func (s *silence) lost() bool {
	return s.handover() && s.length() >= s.pulse.limit || s.length() >= s.pulse.lost
}

// known says whether no renewal between the two beats was compacted away.
func (s *silence) known() bool {
	return s.next == nil || s.last.version == 0 || s.next.version == s.last.version+1
}

// When a Lease is lost (Kubernetes 1.34: client-go leaderelection defaults 15/10/2 s;
// pkg/kubelet nodeLease 40 s, renewed every quarter of it).
const (
	renewDeadline = 10 * time.Second
	leaderLease   = 15 * time.Second
	nodeLease     = 40 * time.Second
)

// leaderLeases map the Leases of the components that a rollout waits for.
var leaderLeases = map[string]string{
	"kube-controller-manager": "controller-down",
	"kube-scheduler":          "scheduler-down",
}

// pulses reads every Lease that a rollout may wait for, and the kubelets' other
// writes.
func (c *Case) pulses(w *objects) []*pulse {
	var out []*pulse
	leased := map[string]bool{}
	for _, l := range lives[*coordinationv1.Lease](context.Background(), c.hist, "leases", w.bad) {
		p := pulseOf(l.last().obj)
		if p == nil {
			continue
		}
		p.key = l.key
		for _, v := range l.versions {
			b := beat{idx: v.idx, rev: v.rev, at: c.clock.Time(v.rev), version: c.hist.At(v.idx).Version}
			if h := v.obj.Spec.HolderIdentity; h != nil {
				b.holder = *h
			}
			b.what = fmt.Sprintf("Lease %s/%s renewed by %s", l.meta().GetNamespace(), l.meta().GetName(), holderText(b.holder))
			p.beats = append(p.beats, b)
		}
		leased[p.name] = leased[p.name] || p.kind == "kubelet-down"
		p.setLimits(l.last().obj)
		p.acts = c.acts(w, p)
		p.findGaps(c.stateEnd())
		c.dropBusy(p)
		out = append(out, p)
	}
	for _, name := range sortedKeys(w.nodes) {
		if !leased[name] {
			out = append(out, c.unleasedKubelet(w, name))
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].key < out[j].key })
	return out
}

// setLimits takes the Lease's own duration, and the period at which it was really
// renewed: components may be set to other values than the defaults.
func (p *pulse) setLimits(l *coordinationv1.Lease) {
	if d := l.Spec.LeaseDurationSeconds; d != nil && *d > 0 && p.kind != "apiserver-down" {
		p.lost = time.Duration(*d) * time.Second
	}
	var gaps []time.Duration
	for i := 1; i < len(p.beats); i++ {
		if p.beats[i].version == p.beats[i-1].version+1 {
			gaps = append(gaps, p.beats[i].at.Sub(p.beats[i-1].at))
		}
	}
	if len(gaps) >= 3 {
		slices.Sort(gaps)
		p.limit = max(p.limit, gaps[len(gaps)/2]*5/2)
	}
}

// pulseOf tells whose pulse a Lease is, nil for one that no rollout waits for.
func pulseOf(l *coordinationv1.Lease) *pulse {
	switch {
	case l.Namespace == "kube-node-lease":
		return &pulse{kind: "kubelet-down", name: l.Name, limit: 25 * time.Second, lost: nodeLease}
	case l.Labels["apiserver.kubernetes.io/identity"] == "kube-apiserver":
		return &pulse{kind: "apiserver-down", name: l.Name, limit: 25 * time.Second, lost: nodeLease}
	case l.Namespace == "kube-system" && leaderLeases[l.Name] != "":
		return &pulse{kind: leaderLeases[l.Name], name: l.Name, limit: 6 * time.Second, lost: leaderLease}
	}
	return nil
}

// findGaps lists the silences. A released Lease (no holder) is silent until it is
// taken again.
func (p *pulse) findGaps(end time.Time) {
	var prev *silence
	for i, b := range p.beats {
		var next *beat
		to := end
		if i+1 < len(p.beats) {
			next = &p.beats[i+1]
			to = next.at
		}
		released := b.holder == "" && p.kind != "kubelet-down" && p.kind != "apiserver-down"
		if to.Sub(b.at) < p.limit && !(released && to.Sub(b.at) > time.Second) {
			prev = nil
			continue
		}
		s := &silence{pulse: p, from: b.at, to: to, last: b, next: next, after: prev}
		if !s.known() {
			prev = nil
			continue
		}
		p.gaps = append(p.gaps, s)
		prev = s
	}
}

// silent returns the silences that touch an interval.
func (p *pulse) silent(from, to time.Time) []*silence {
	var out []*silence
	for _, s := range p.gaps {
		if s.from.Before(to) && s.to.After(from) {
			out = append(out, s)
		}
	}
	return out
}

// role is how a sentence names the writer.
func (p *pulse) role() string {
	switch p.kind {
	case "kubelet-down":
		return "the kubelet of " + p.name
	case "apiserver-down":
		return "API server " + shortIdentity(p.name)
	}
	return p.name
}

// shortIdentity keeps what tells API server identities apart.
func shortIdentity(name string) string {
	if id, ok := strings.CutPrefix(name, "apiserver-"); ok && len(id) > 8 {
		return id[:8] + "…"
	}
	return name
}

// covered is the share of [from, to] that a set of intervals covers, 0 to 1.
func covered(from, to time.Time, spans [][2]time.Time) float64 {
	if !to.After(from) {
		return 0
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i][0].Before(spans[j][0]) })
	var sum time.Duration
	at := from
	for _, s := range spans {
		a, b := latest(s[0], at), s[1]
		if b.After(to) {
			b = to
		}
		if b.After(a) {
			sum += b.Sub(a)
			at = b
		}
	}
	return sum.Seconds() / to.Sub(from).Seconds()
}
