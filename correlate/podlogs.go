package correlate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"etcd-autopsy/logparse"
)

// containerLog is a log of a container: whose it is, and its last words before each
// exit.
type containerLog struct {
	podPlace
	// pods are the UIDs of the pods that it can be of: one, if the path says it or
	// only one pod has had the name.
	pods []types.UID
	// application is true for one that is no part of this cluster's control plane:
	// what it says of etcd and of the API is a client's view.
	application bool

	exits []*exit // ascending
	ring  []note
	next  int // of the exits
}

// application says whether the log is no part of this cluster's control plane.
func (l *logFile) application() bool { return l.container != nil && l.container.application }

// exit is the end of one run of a container, as its pod's status states it.
type exit struct {
	at  time.Time // whole seconds, as the API has it
	id  string    // of the container, without the runtime's name
	run int
	// words are the last records before it, none if the log does not reach so far.
	words []note
}

// keptWords is how many records are kept at hand for an exit.
const keptWords = 20

// placeLogs joins logs to the pods that the store knows, before they are read.
func (c *Case) placeLogs(ctx context.Context) error {
	var placed []*logFile
	for _, l := range c.logs {
		if l == nil {
			continue
		}
		if p := placeOf(l.file.Path); p != nil {
			l.container = &containerLog{podPlace: *p}
			placed = append(placed, l)
		}
	}
	if len(placed) == 0 {
		return nil
	}
	w, err := c.objects(ctx)
	if err != nil {
		return err
	}
	byName := map[string][]*life[*corev1.Pod]{}
	for _, l := range w.allPods {
		k := l.meta().GetNamespace() + "/" + l.meta().GetName()
		byName[k] = append(byName[k], l)
	}
	for _, l := range placed {
		l.container.join(byName[l.container.namespace+"/"+l.container.pod])
		if l.container.application {
			l.id.Component, c.inputs[l.input].Component = logparse.ComponentUnknown, ""
		}
	}
	return nil
}

// join finds the pod among those that have had the log's pod's name. Of a mirror pod
// the path has the hash of its manifest instead of the UID.
func (l *containerLog) join(named []*life[*corev1.Pod]) {
	for _, p := range named {
		m := p.last().obj
		uid, mirror := string(m.UID), m.Annotations[corev1.MirrorPodAnnotationKey]
		if l.uid != "" && !sameUID(l.uid, uid) && !sameUID(l.uid, mirror) {
			continue
		}
		l.pods = append(l.pods, m.UID)
		l.application = !l.controlPlane()
		for _, v := range p.versions {
			l.addExits(v.obj)
		}
	}
	slices.SortFunc(l.exits, func(a, b *exit) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
}

func sameUID(a, b string) bool {
	return a != "" && strings.ReplaceAll(a, "-", "") == strings.ReplaceAll(b, "-", "")
}

// addExits notes the ends of the log's container that a pod's status states.
func (l *containerLog) addExits(p *corev1.Pod) {
	for _, all := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses} {
		for i := range all {
			st := &all[i]
			if l.container != "" && st.Name != l.container {
				continue
			}
			l.addExit(st.State.Terminated, int(st.RestartCount))
			l.addExit(st.LastTerminationState.Terminated, int(st.RestartCount)-1)
		}
	}
}

func (l *containerLog) addExit(t *corev1.ContainerStateTerminated, run int) {
	if t == nil || t.FinishedAt.IsZero() || l.run >= 0 && run >= 0 && run != l.run {
		return
	}
	e := &exit{at: t.FinishedAt.UTC(), id: bareID(t.ContainerID), run: run}
	if l.id != "" && e.id != "" && l.id != e.id {
		return
	}
	if !slices.ContainsFunc(l.exits, func(x *exit) bool { return x.at.Equal(e.at) && x.id == e.id }) {
		l.exits = append(l.exits, e)
	}
}

// bareID drops the runtime's name from a container's ID ("containerd://...").
func bareID(id string) string {
	if _, bare, ok := strings.Cut(id, "://"); ok {
		return bare
	}
	return id
}

// hear keeps the last records, and gives them to the exits that lie behind them. The
// status has whole seconds, so a record within the second after is before the exit.
func (l *containerLog) hear(n note) {
	if len(l.exits) == 0 {
		return
	}
	for l.next < len(l.exits) && n.at.After(l.exits[l.next].at.Add(time.Second)) {
		l.settle()
	}
	if len(l.ring) == keptWords {
		l.ring = append(l.ring[:0], l.ring[1:]...)
	}
	l.ring = append(l.ring, n)
}

// settle gives the next exit the records at hand. The next run begins anew.
func (l *containerLog) settle() {
	words := slices.Clone(l.ring)
	for i := range words {
		words[i].keep()
	}
	l.exits[l.next].words = words
	l.ring = l.ring[:0]
	l.next++
}

// end gives the records at the end of the log to the exit after them. A log that
// ends long before its exit was collected before it.
func (l *containerLog) end() {
	if l.next < len(l.exits) && len(l.ring) > 0 {
		l.settle()
	}
	l.ring = nil
}
