package logparse

import (
	"strconv"
	"strings"
)

// The API server's log audit backend writes one audit.k8s.io Event per line
// (apiserver/plugin/pkg/audit/log), kind and apiVersion first.

func claimsAudit(text string) bool {
	rest, ok := strings.CutPrefix(text, `{"kind":"Event","apiVersion":"audit.k8s.io/`)
	return ok && rest != ""
}

// readAudit keeps the stage's stamp as the record's time: that is when the line
// was written. Annotations other than the authorization's stand as fields, among
// them apiserver.latency.k8s.io/*.
func readAudit(s *stream, r *row, rec *Record) {
	e := &AuditEvent{}
	rec.Audit, rec.Component = e, ComponentAudit
	o := openJSON(r.text)
	var object string
	for {
		key, value, ok := o.member()
		if !ok {
			break
		}
		switch key {
		case "auditID":
			e.AuditID = jsonText(value)
		case "stage":
			e.Stage = jsonText(value)
		case "verb":
			e.Verb = jsonText(value)
		case "requestURI":
			e.RequestURI = jsonText(value)
		case "userAgent":
			e.UserAgent = jsonText(value)
		case "requestReceivedTimestamp":
			e.Received, _ = parseStamp(jsonText(value))
		case "stageTimestamp":
			e.Completed, _ = parseStamp(jsonText(value))
		case "user":
			readStrings(value, map[string]*string{"username": &e.User})
		case "objectRef":
			readObjectRef(value, e)
		case "responseStatus":
			readStatus(value, e)
		case "responseObject":
			object = value
		case "annotations":
			readAnnotations(value, rec)
		}
	}
	readResponseObject(object, e)
	rec.Time = e.Completed
	rec.Message = auditMessage(e)
	r.objectEnd(&o)
	switch {
	case o.err != nil:
		rec.problem(o.err.Error())
	case e.Completed.IsZero():
		rec.problem("no readable stageTimestamp")
	}
	if !rec.Time.IsZero() {
		s.clock.saw(rec.Time)
	}
}

// readStrings fills the named members of a JSON object.
func readStrings(object string, into map[string]*string) {
	o := openJSON(object)
	for {
		key, value, ok := o.member()
		if !ok {
			return
		}
		if p := into[key]; p != nil {
			*p = jsonText(value)
		}
	}
}

func readObjectRef(value string, e *AuditEvent) {
	readStrings(value, map[string]*string{
		"resource": &e.Resource, "apiGroup": &e.Group, "subresource": &e.Subresource,
		"namespace": &e.Namespace, "name": &e.Name, "uid": &e.UID, "resourceVersion": &e.ResourceVersion,
	})
}

// readStatus takes reason and message too: they are set where the answer is a
// refusal.
func readStatus(value string, e *AuditEvent) {
	var code string
	readStrings(value, map[string]*string{"code": &code, "reason": &e.Reason, "message": &e.Message})
	n, err := strconv.ParseInt(code, 10, 32)
	if err == nil {
		e.Code = int32(n)
	}
}

func readAnnotations(value string, rec *Record) {
	o := openJSON(value)
	for {
		key, value, ok := o.member()
		if !ok {
			return
		}
		switch key {
		case "authorization.k8s.io/decision":
			rec.Audit.Decision = jsonText(value)
		case "authorization.k8s.io/reason":
			rec.Audit.DecisionReason = jsonText(value)
		default:
			rec.Fields = append(rec.Fields, Field{key, jsonText(value)})
		}
	}
}

// readResponseObject takes the revision of the answer, and the name that a
// create with generateName got: its objectRef has none.
func readResponseObject(object string, e *AuditEvent) {
	if object == "" {
		return
	}
	var metadata, name, namespace string
	readStrings(object, map[string]*string{"metadata": &metadata})
	readStrings(metadata, map[string]*string{
		"name": &name, "namespace": &namespace, "resourceVersion": &e.ResponseResourceVersion,
	})
	if e.Name == "" {
		e.Name = name
	}
	if e.Namespace == "" {
		e.Namespace = namespace
	}
}

// auditMessage is the event in one line: verb, path, code and the refusal.
func auditMessage(e *AuditEvent) string {
	var b strings.Builder
	b.WriteString(e.Verb)
	b.WriteByte(' ')
	b.WriteString(e.RequestURI)
	if e.Code != 0 {
		b.WriteByte(' ')
		b.WriteString(strconv.Itoa(int(e.Code)))
	}
	if e.Message != "" {
		b.WriteString(": ")
		b.WriteString(e.Message)
	}
	return b.String()
}
