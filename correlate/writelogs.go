package correlate

import (
	"strings"
	"time"

	"etcd-autopsy/logparse"
)

// slowApply is etcd's word that applying a write took long: it has the ID of the
// raft request.
type slowApply struct {
	note
	id   uint64
	took time.Duration
	err  string
}

// tracedWrite is a write request that an API server's log followed, because it was
// slow or was given up.
type tracedWrite struct {
	note
	auditID                                 string
	verb                                    string
	group, resource, sub, namespace, object string
	from, to                                time.Time
	// message is the error of the storage call, "" if the block has none.
	message string
}

// takeWrite keeps what a log says of a write request.
func (l *logFile) takeWrite(rec *logparse.Record) {
	switch l.id.Component {
	case logparse.ComponentEtcd:
		if s, ok := logparse.SlowApplyOf(*rec); ok && s.RequestID != 0 && !l.tooMany(len(l.slow), "slow requests") {
			l.slow = append(l.slow, &slowApply{note: l.note(rec), id: s.RequestID, took: s.Took, err: strings.Clone(s.Error)})
		}
	case logparse.ComponentAPIServer:
		if t, ok := logparse.APITraceOf(*rec); ok {
			l.takeTrace(rec, &t)
		} else if rec.Message == "Timeout or abort while handling" {
			l.takeAbort(rec)
		}
	}
}

// methodVerbs are the audit verbs of HTTP methods that write.
var methodVerbs = map[string]string{"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete",
	"APPLY": "patch"}

// takeTrace keeps the block of a request that writes.
func (l *logFile) takeTrace(rec *logparse.Record, t *logparse.APITrace) {
	verb := methodVerbs[t.Fields.Get("verb")]
	if verb == "" || t.Start.IsZero() || l.tooMany(len(l.traces), "traced requests") {
		return
	}
	w := &tracedWrite{note: l.note(rec), auditID: t.Fields.Get("audit-id"), verb: verb, group: t.Fields.Get("api-group"),
		resource: t.Fields.Get("resource"), sub: t.Fields.Get("subresource"), namespace: t.Fields.Get("namespace"), object: t.Fields.Get("name"),
		from: t.Start, to: t.Start.Add(t.Total)}
	for _, s := range t.Steps {
		if _, err, ok := strings.Cut(s.Detail, "err:"); ok && strings.HasSuffix(s.Name, "failed") {
			w.message = err
		}
	}
	w.detach()
	l.traces = append(l.traces, w)
}

// detach gives what a request says of itself memory of its own.
func (w *tracedWrite) detach() {
	for _, s := range [...]*string{&w.auditID, &w.group, &w.resource, &w.sub, &w.namespace, &w.object, &w.message} {
		*s = strings.Clone(*s)
	}
}

// takeAbort keeps the line that an API server prints when it gives a request up.
func (l *logFile) takeAbort(rec *logparse.Record) {
	verb := methodVerbs[rec.Fields.Get("method")]
	if verb == "" || l.tooMany(len(l.traces), "traced requests") {
		return
	}
	w := &tracedWrite{note: l.note(rec), auditID: rec.Fields.Get("auditID"), verb: verb, to: rec.Time, message: "timeout or abort while handling"}
	w.parseURI(rec.Fields.Get("URI"))
	w.detach()
	l.traces = append(l.traces, w)
}

// parseURI reads the object off a request's path: /api/v1/namespaces/NS/RESOURCE/NAME
// or /apis/GROUP/VERSION/…, with or without a namespace and a subresource.
func (w *tracedWrite) parseURI(uri string) {
	path, _, _ := strings.Cut(uri, "?")
	p := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(p) > 2 && p[0] == "api":
		p = p[2:]
	case len(p) > 3 && p[0] == "apis":
		w.group, p = p[1], p[3:]
	default:
		return
	}
	if len(p) > 2 && p[0] == "namespaces" {
		w.namespace, p = p[1], p[2:]
	}
	for i, field := range []*string{&w.resource, &w.object, &w.sub} {
		if i < len(p) {
			*field = p[i]
		}
	}
}
