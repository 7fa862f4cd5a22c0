package correlate

import (
	"fmt"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// unleasedKubelet is the pulse of a kubelet whose Lease is not in the stores: its
// writes are its Events, its reports on pods and on the node. They come when there
// is something to say, so a pause alone is no silence; it is one where the node
// controller set the node's Ready condition to Unknown for want of reports
// (pkg/controller/nodelifecycle: NodeStatusUnknown).
func (c *Case) unleasedKubelet(w *objects, name string) *pulse {
	node := w.nodes[name]
	p := &pulse{kind: "kubelet-down", name: name, key: node.key, limit: 25 * time.Second, lost: nodeLease}
	add := func(idx int, rev int64, format string, args ...any) {
		p.beats = append(p.beats, beat{idx: idx, rev: rev, at: c.clock.Time(rev), holder: name, what: fmt.Sprintf(format, args...)})
	}
	var heard time.Time
	for _, v := range node.versions {
		if k := readyCondition(v.obj); k != nil && k.LastHeartbeatTime.After(heard) && k.Status != corev1.ConditionUnknown {
			heard = k.LastHeartbeatTime.UTC()
			add(v.idx, v.rev, "Node %s: status reported by its kubelet", name)
		}
	}
	for _, events := range w.events {
		for _, l := range events {
			for _, v := range l.versions {
				if v.obj.Source.Component == "kubelet" && v.obj.Source.Host == name {
					add(v.idx, v.rev, "Event %s reported by the kubelet of %s", v.obj.Reason, name)
				}
			}
		}
	}
	for _, pods := range w.pods {
		for _, l := range pods {
			c.podReports(l, name, add)
		}
	}
	sort.SliceStable(p.beats, func(i, j int) bool { return p.beats[i].idx < p.beats[j].idx })
	if len(p.beats) == 0 {
		return p
	}
	p.findGaps(c.stateEnd())
	kept := p.gaps[:0]
	for _, s := range p.gaps {
		if c.saidUnknown(node, s) {
			kept = append(kept, s)
		}
	}
	p.gaps = kept
	return p
}

// podReports adds the status writes of a pod that its kubelet made.
func (c *Case) podReports(l *life[*corev1.Pod], node string, add func(int, int64, string, ...any)) {
	var last time.Time
	for _, v := range l.versions {
		if v.obj.Spec.NodeName != node {
			continue
		}
		for _, f := range v.obj.ManagedFields {
			if f.Manager == "kubelet" && f.Time != nil && f.Time.After(last) {
				last = f.Time.Time
				add(v.idx, v.rev, "Pod %s/%s: status reported by the kubelet of %s", v.obj.Namespace, v.obj.Name, node)
			}
		}
	}
}

func readyCondition(n *corev1.Node) *corev1.NodeCondition {
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == corev1.NodeReady {
			return &n.Status.Conditions[i]
		}
	}
	return nil
}

// unknownAt finds the version in which a node's Ready condition is Unknown, written
// within an interval.
func (c *Case) unknownAt(node *life[*corev1.Node], from, to time.Time) *version[*corev1.Node] {
	for i, v := range node.versions {
		t := c.clock.Time(v.rev)
		if k := readyCondition(v.obj); k != nil && k.Status == corev1.ConditionUnknown && !t.Before(from) && !t.After(to) {
			return &node.versions[i]
		}
	}
	return nil
}

// saidUnknown says whether the node controller missed the kubelet in a silence, and
// lets the silence cite it.
func (c *Case) saidUnknown(node *life[*corev1.Node], s *silence) bool {
	v := c.unknownAt(node, s.from, s.to)
	if v == nil {
		return false
	}
	k := readyCondition(v.obj)
	s.missed = revCite(v.idx, "Node %s: Ready=Unknown, %s: %s", v.obj.Name, k.Reason, k.Message)
	return true
}
