package correlate

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"etcd-autopsy/logparse"
)

// refOf says by what other evidence a record can be dated, nil for by none.
func refOf(rec *logparse.Record) (*zoneHow, string) {
	if rec.Format != logparse.FormatKlog {
		return nil, ""
	}
	switch rec.Message {
	case "HTTP": // apiserver/pkg/server/httplog, printed when the request is answered
		if id := rec.Fields.Get("audit-ID"); id != "" {
			return howAudit, id
		}
	case "Successfully bound pod to node": // pkg/scheduler/schedule_one.go
		if pod := rec.Fields.Get("pod"); pod != "" {
			return howBound, pod
		}
	case "Event occurred": // client-go/tools/record/event.go, as the Event is recorded
		f := rec.Fields
		return howEvent, eventID(f.Get("kind"), f.Get("object"), f.Get("reason"), f.Get("message"))
	case "SyncLoop (PLEG): event for pod": // pkg/kubelet/kubelet.go
		return containerRef(rec.Fields.Get("event"))
	}
	return nil, ""
}

// containerRef reads the kubelet's event of a container that began or ended.
func containerRef(event string) (*zoneHow, string) {
	var e struct{ Type, Data string }
	if json.Unmarshal([]byte(event), &e) != nil || e.Data == "" {
		return nil, ""
	}
	switch e.Type {
	case "ContainerStarted", "ContainerDied":
		return howContainer, e.Type + " " + e.Data
	}
	return nil, ""
}

// eventID tells Events apart by what a log line shows of them.
func eventID(kind, object, reason, message string) string {
	return "Event " + kind + " " + object + " " + reason + " " + message
}

// zoneIndex dates what logs without a zone mention. Each part is built when it is
// asked for first.
type zoneIndex struct {
	c       *Case
	audits  map[string]time.Time
	stored  map[string]time.Time // of howBound, howContainer and howEvent; zero if it is ambiguous
	leaders map[string]time.Time
}

// strong are the pairs of a log's own lines, and those with other logs.
func (x *zoneIndex) strong(l *logFile) []zonePair {
	out := slices.Clone(l.zones.pairs.list)
	for _, r := range l.zones.refs.list {
		if at := x.audit(r.id); r.how == howAudit && !at.IsZero() {
			out = append(out, zonePair{how: r.how, line: r.line, key: r.id, wall: r.wall, at: at})
		}
	}
	for _, t := range l.traces {
		if !t.assumed || t.from.IsZero() {
			continue // given up, and answered nobody knows when
		}
		if at := x.audit(t.auditID); !at.IsZero() {
			out = append(out, zonePair{how: howAudit, line: t.line, key: t.auditID, wall: t.at, at: at})
		}
	}
	for key, n := range leaderNotes(l) {
		if at, ok := x.leaders[key]; ok && n.assumed {
			out = append(out, zonePair{how: howLeader, line: n.line, key: key, wall: n.at, at: at})
		}
	}
	return out
}

// weak are the pairs of a log with the store.
func (x *zoneIndex) weak(l *logFile) []zonePair {
	var out []zonePair
	for _, r := range l.zones.refs.list {
		if !r.how.weak {
			continue
		}
		if at := x.inStore(r.id); !at.IsZero() {
			out = append(out, zonePair{how: r.how, line: r.line, key: r.id, wall: r.wall, at: at})
		}
	}
	return out
}

// audit is when a write was answered, by its audit ID. A server that gives a request
// up answers long before the request ends, so those do not count.
func (x *zoneIndex) audit(id string) time.Time {
	if id == "" {
		return time.Time{}
	}
	if x.audits == nil {
		x.audits = map[string]time.Time{}
		for _, l := range x.c.logs {
			if l == nil {
				continue
			}
			for _, a := range l.audits {
				if a.Code > 0 && a.Code < 500 {
					x.audits[a.AuditID] = a.Completed
				}
			}
		}
	}
	return x.audits[id]
}

// inStore is when the store says that a pod was bound, that a container began or
// ended, or that an Event was recorded. The stamps are of full seconds.
func (x *zoneIndex) inStore(id string) time.Time {
	if x.stored == nil {
		x.stored = map[string]time.Time{}
		x.readStore("pods", func(o runtime.Object) {
			if p, ok := o.(*corev1.Pod); ok {
				x.takePod(p)
			}
		})
		x.takeEvents()
	}
	return x.stored[id]
}

// readStore calls f for the revisions of a resource's objects.
func (x *zoneIndex) readStore(resource string, f func(runtime.Object)) {
	h := x.c.hist
	for _, key := range h.KeysOf(resource) {
		for _, i := range h.Key(key) {
			if o, err := h.Object(i); err == nil {
				f(o)
			}
		}
	}
}

// takeEvents notes the Events that were recorded once.
func (x *zoneIndex) takeEvents() {
	of := map[string]types.UID{}
	x.readStore("events", func(o runtime.Object) {
		e, ok := o.(*corev1.Event)
		if !ok {
			return
		}
		object := e.InvolvedObject.Name
		if e.InvolvedObject.Namespace != "" {
			object = e.InvolvedObject.Namespace + "/" + object
		}
		id := eventID(e.InvolvedObject.Kind, object, e.Reason, e.Message)
		if uid, have := of[id]; have && uid != e.UID || e.Count > 1 {
			x.stored[id] = time.Time{}
			of[id] = "" // no UID is empty: it stays ambiguous
			return
		}
		of[id], x.stored[id] = e.UID, e.FirstTimestamp.UTC()
	})
}

// takePod notes the first time that a pod's status gives for each of its turns.
func (x *zoneIndex) takePod(p *corev1.Pod) {
	note := func(id string, at time.Time) {
		if _, have := x.stored[id]; !have && !at.IsZero() {
			x.stored[id] = at.UTC()
		}
	}
	if p.GenerateName != "" { // the name is used once
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
				note(p.Namespace+"/"+p.Name, c.LastTransitionTime.Time)
			}
		}
	}
	for _, s := range p.Status.ContainerStatuses {
		for _, state := range []corev1.ContainerState{s.State, s.LastTerminationState} {
			if r := state.Running; r != nil {
				note("ContainerStarted "+bareID(s.ContainerID), r.StartedAt.Time)
			}
			if t := state.Terminated; t != nil {
				note("ContainerStarted "+bareID(t.ContainerID), t.StartedAt.Time)
				note("ContainerDied "+bareID(t.ContainerID), t.FinishedAt.Time)
			}
		}
	}
}

// leaderNotes are the first records of a log that name the leader of a term.
func leaderNotes(l *logFile) map[string]note {
	out := map[string]note{}
	for _, f := range l.raft {
		leader := f.ev.Leader
		switch f.ev.Kind {
		case logparse.RaftBecameLeader:
			leader = f.ev.Member
		case logparse.RaftElectedLeader, logparse.RaftChangedLeader:
		default:
			continue
		}
		key := fmt.Sprintf("%s of term %d", leader, f.ev.Term)
		if have, ok := out[key]; leader != "" && f.ev.Term != 0 && !f.first.at.IsZero() && (!ok || f.first.at.Before(have.at)) {
			out[key] = f.first
		}
	}
	return out
}

// learnLeaders takes in the leaders that logs with a known zone name; the earliest
// word of each counts.
func (x *zoneIndex) learnLeaders() {
	x.leaders = map[string]time.Time{}
	for _, l := range x.c.logs {
		if l == nil {
			continue
		}
		for key, n := range leaderNotes(l) {
			at := n.at
			switch {
			case n.assumed && l.zones.name == "":
				continue
			case n.assumed:
				at = l.zones.instant(n.line, at)
			}
			if have, ok := x.leaders[key]; !ok || at.Before(have) {
				x.leaders[key] = at
			}
		}
	}
}
