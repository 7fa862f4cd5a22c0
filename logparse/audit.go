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
			readStrings(value, namedString{"username", &e.User})
		case "objectRef":
			readObjectRef(value, e)
		case "responseStatus":
			readStatus(value, e)
		case "responseObject":
			object = value
		case "annotations":
			s.readAnnotations(value, rec)
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

// namedString is where the value of a member goes.
type namedString struct {
	key string
	to  *string
}

// readStrings fills the named members of a JSON object.
func readStrings(object string, into ...namedString) {
	o := openJSON(object)
	for {
		key, value, ok := o.member()
		if !ok {
			return
		}
		for _, x := range into {
			if x.key == key {
				*x.to = jsonText(value)
			}
		}
	}
}

func readObjectRef(value string, e *AuditEvent) {
	readStrings(value,
		namedString{"resource", &e.Resource}, namedString{"apiGroup", &e.Group}, namedString{"subresource", &e.Subresource},
		namedString{"namespace", &e.Namespace}, namedString{"name", &e.Name}, namedString{"uid", &e.UID},
		namedString{"resourceVersion", &e.ResourceVersion})
}

// readStatus takes reason and message too: they are set where the answer is a
// refusal.
func readStatus(value string, e *AuditEvent) {
	var code string
	readStrings(value, namedString{"code", &code}, namedString{"reason", &e.Reason}, namedString{"message", &e.Message})
	n, err := strconv.ParseInt(code, 10, 32)
	if err == nil {
		e.Code = int32(n)
	}
}

func (s *stream) readAnnotations(value string, rec *Record) {
	fields := append(s.fields.open(), rec.Fields...)
	o := openJSON(value)
	for {
		key, value, ok := o.member()
		if !ok {
			rec.Fields = s.fields.done(fields, value)
			return
		}
		switch key {
		case "authorization.k8s.io/decision":
			rec.Audit.Decision = jsonText(value)
		case "authorization.k8s.io/reason":
			rec.Audit.DecisionReason = jsonText(value)
		default:
			fields = append(fields, Field{key, jsonText(value)})
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
	readStrings(object, namedString{"metadata", &metadata})
	readStrings(metadata,
		namedString{"name", &name}, namedString{"namespace", &namespace}, namedString{"resourceVersion", &e.ResponseResourceVersion})
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
	b.Grow(len(e.Verb) + len(e.RequestURI) + len(e.Message) + len(" : 409"))
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
