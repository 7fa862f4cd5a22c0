package correlate

import (
	"sort"
	"strings"

	"etcd-autopsy/correlate/revclock"
	"etcd-autopsy/logparse"
)

// auditEvent is one answered write request of an audit log.
type auditEvent struct {
	revclock.Request
	file *logFile
	line int
	// text is the line, kept for workloads and for refused requests.
	text string
}

// writeVerbs are the audit verbs that change the store.
var writeVerbs = map[string]bool{"create": true, "update": true, "patch": true, "delete": true, "deletecollection": true}

// takeAudit keeps the answered writes of an audit log: reads and dry runs leave
// nothing in a store.
func (l *logFile) takeAudit(rec *logparse.Record) {
	ev := rec.Audit
	if !writeVerbs[ev.Verb] || ev.Stage == "RequestReceived" || ev.Stage == "ResponseStarted" {
		return
	}
	if strings.Contains(ev.RequestURI, "dryRun=All") {
		return
	}
	a := &auditEvent{Request: revclock.Request{AuditEvent: ev}, file: l, line: rec.Line}
	if ev.Code == 0 || ev.Code >= 400 || workloadResources[ev.Resource] {
		a.text = redactAudit(ev.Resource, rec.Text)
	}
	l.audits = append(l.audits, a)
}

// secretResources are the resources whose audited bodies are never shown.
var secretResources = map[string]bool{"secrets": true, "tokenreviews": true, "serviceaccounts": true}

// redactAudit cuts an audit line before the bodies of requests about secrets.
func redactAudit(resource, text string) string {
	if !secretResources[resource] {
		return text
	}
	for _, k := range []string{`"requestObject"`, `"responseObject"`} {
		if i := strings.Index(text, k); i >= 0 {
			text = text[:i]
		}
	}
	return text
}

// collectAudits merges the answered writes of all audit logs, each once, in order of
// arrival; the same event in two files (a rotated copy) counts once.
func (c *Case) collectAudits() []*auditEvent {
	var all []*auditEvent
	seen := map[string]bool{}
	for _, l := range c.logs {
		if l == nil {
			continue
		}
		for _, a := range l.audits {
			key := a.AuditID + a.Stage
			if a.AuditID != "" && seen[key] {
				continue
			}
			seen[key] = true
			all = append(all, a)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Received.Before(all[j].Received) })
	return all
}

// requests are the audited writes for the clock.
func (c *Case) requests() []*revclock.Request {
	out := make([]*revclock.Request, len(c.audits))
	for i, a := range c.audits {
		out[i] = &a.Request
	}
	return out
}
