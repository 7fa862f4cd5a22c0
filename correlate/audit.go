package correlate

import (
	"regexp"
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
	// write is the request with its fate, once that is judged.
	write *writeRequest
}

// writeVerbs are the audit verbs that change the store.
var writeVerbs = map[string]bool{"create": true, "update": true, "patch": true, "delete": true, "deletecollection": true}

// takeAudit keeps the answered writes of an audit log: reads and dry runs leave
// nothing in a store.
func (l *logFile) takeAudit(rec *logparse.Record) {
	ev := rec.Audit
	l.takeLimited(rec)
	if !writeVerbs[ev.Verb] || ev.Stage == "RequestReceived" || ev.Stage == "ResponseStarted" {
		return
	}
	if strings.Contains(ev.RequestURI, "dryRun=All") {
		return
	}
	ev = l.own(ev)
	a := &auditEvent{Request: revclock.Request{AuditEvent: ev}, file: l, line: rec.Line}
	if ev.Code == 0 || ev.Code >= 400 || workloadResources[ev.Resource] {
		a.text = strings.Clone(auditText(ev, rec.Text))
	}
	if quotesSecrets(ev) {
		ev.Message = quotedValue.ReplaceAllString(ev.Message, `Invalid value: (not shown)`)
	}
	l.audits = append(l.audits, a)
}

// own is a copy of an event with memory of its own. What many events of a log say
// alike (who, with which program, about which objects) they share.
func (l *logFile) own(ev *logparse.AuditEvent) *logparse.AuditEvent {
	e := *ev
	e.RequestURI, e.UID, e.Decision, e.DecisionReason = "", "", "", "" // nobody asks for them later
	for _, s := range [...]*string{
		&e.Stage, &e.Verb, &e.User, &e.UserAgent, &e.Resource, &e.Group, &e.Subresource, &e.Namespace, &e.Name, &e.Reason, &e.Message,
	} {
		*s = l.words.own(*s)
	}
	for _, s := range [...]*string{&e.AuditID, &e.ResourceVersion, &e.ResponseResourceVersion} {
		*s = strings.Clone(*s)
	}
	return &e
}

// vocabulary holds texts that are kept once, however often they are said.
type vocabulary map[string]string

// maxVocabulary is how many words of one log are remembered.
const maxVocabulary = 10_000

// own returns a text with memory of its own, or that of an earlier one.
func (w vocabulary) own(s string) string {
	if s == "" {
		return ""
	}
	if old, ok := w[s]; ok {
		return old
	}
	s = strings.Clone(s)
	if len(w) < maxVocabulary {
		w[s] = s
	}
	return s
}

// secretResources are the resources of which no refused value is quoted.
var secretResources = map[string]bool{"secrets": true, "tokenreviews": true, "serviceaccounts": true}

// quotesSecrets says whether a refusal may quote a secret that it refuses.
func quotesSecrets(ev *logparse.AuditEvent) bool {
	return secretResources[ev.Resource] || ev.Resource == ""
}

// auditText is an audit line as it is shown: without the objects of the request,
// and without a secret that the answer quotes.
func auditText(ev *logparse.AuditEvent, text string) string {
	text = cutBodies(text)
	if quotesSecrets(ev) {
		text = quotedJSON.ReplaceAllString(text, `Invalid value: (not shown)`)
	}
	return text
}

// quotedValue and quotedJSON are a refused value in a message, and in its line.
var (
	quotedValue = regexp.MustCompile(`Invalid value: "(?:[^"\\]|\\.)*"?`)
	quotedJSON  = regexp.MustCompile(`Invalid value: \\".*?(?:\\"|$)`)
)

// collectAudits merges the answered writes of all audit logs, each once, in order of
// arrival; the same event in two files (a rotated copy) counts once.
func (c *Case) collectAudits() []*auditEvent {
	var all []*auditEvent
	type stage struct{ id, stage string }
	seen := map[stage]bool{}
	for _, l := range c.logs {
		if l == nil {
			continue
		}
		for _, a := range l.audits {
			key := stage{a.AuditID, a.Stage}
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
