package logparse

import (
	"strconv"
	"strings"
	"time"
)

// ValueKind is what a value of a record is.
type ValueKind string

// Kinds of values.
const (
	ValueText     ValueKind = "text"
	ValueDuration ValueKind = "duration"
	ValueNumber   ValueKind = "number" // a count, a term, an index, a revision
	ValueBytes    ValueKind = "bytes"
	ValueID       ValueKind = "id" // of a member, a cluster, a request, an object
)

// Value is one typed value that a signature's record carries.
type Value struct {
	// Name is the field's, as the log spells it.
	Name string
	Kind ValueKind
	// Text is the value as it stands in the log.
	Text string
	// Duration is set for durations, Number for numbers and bytes; 0 where the text
	// is none, which makes the Kind text.
	Duration time.Duration
	Number   uint64
}

// valueKinds are the kinds of the fields that are not text.
var valueKinds = map[string]ValueKind{
	"took": ValueDuration, "expected-duration": ValueDuration, "exceeded-duration": ValueDuration, "heartbeat-interval": ValueDuration,
	"election-timeout": ValueDuration, "timeout": ValueDuration, "retry-timeout": ValueDuration, "retry-interval": ValueDuration,
	"publish-timeout": ValueDuration, "rtt": ValueDuration, "clock-drift": ValueDuration, "compact-period": ValueDuration,
	"download-took": ValueDuration, "time spent": ValueDuration, "duration": ValueDuration, "total time": ValueDuration,
	"latency": ValueDuration, "timeElapsed": ValueDuration, "age": ValueDuration, "taking": ValueDuration, "threshold": ValueDuration,

	"term": ValueNumber, "their-term": ValueNumber, "existing term": ValueNumber, "conflicting term": ValueNumber, "index": ValueNumber,
	"logterm": ValueNumber, "revision": ValueNumber, "compact-revision": ValueNumber, "revision-1": ValueNumber, "revision-2": ValueNumber,
	"requested-revision": ValueNumber, "leader-revision": ValueNumber, "follower-revision": ValueNumber, "commit-index": ValueNumber,
	"compact-index": ValueNumber, "snapshot-index": ValueNumber, "commit": ValueNumber, "tocommit": ValueNumber, "lastIndex": ValueNumber,
	"entries": ValueNumber, "response count": ValueNumber, "request count": ValueNumber, "step_count": ValueNumber,
	"remaining ticks": ValueNumber, "number-of-started-member": ValueNumber, "quorum": ValueNumber, "resp": ValueNumber,
	"status-code": ValueNumber, "used": ValueNumber, "limit": ValueNumber, "leader-hash": ValueNumber, "follower-hash": ValueNumber,

	"bytes": ValueBytes, "total-bytes": ValueBytes, "response size": ValueBytes, "quota-size-bytes": ValueBytes,
	"current-db-size-bytes": ValueBytes, "max-request-bytes": ValueBytes, "recommended-request-bytes": ValueBytes,

	"member": ValueID, "from": ValueID, "to": ValueID, "leader": ValueID, "old": ValueID, "new": ValueID, "local-member-id": ValueID,
	"remote-peer-id": ValueID, "peer-id": ValueID, "remote-member-id": ValueID, "cluster-id": ValueID, "lease-id": ValueID,
	"sent-request-id": ValueID, "received-request-id": ValueID, "follower-peer-id": ValueID, "removed-member-id": ValueID,
	"promoted-member-id": ValueID, "added-peer-id": ValueID, "removed-remote-peer-id": ValueID, "remote-peer-id-from": ValueID,
	"auditID": ValueID, "podUID": ValueID, "trace id": ValueID, "remote-snapshot-sender-id": ValueID,
}

// ValueKindOf is the kind that a field of a signature has, if its text is one.
func ValueKindOf(field string) ValueKind {
	if k, ok := valueKinds[field]; ok {
		return k
	}
	return ValueText
}

// Values reads what a record of this signature carries: its structured fields, and
// what stands in its text where it has none. Fields that it lacks are left out.
func (s *Signature) Values(rec *Record) []Value {
	var out []Value
	for _, name := range s.Fields {
		if v, ok := fieldOf(rec, name); ok {
			out = append(out, newValue(name, v))
		}
	}
	for _, re := range s.extract {
		m := re.FindStringSubmatch(rec.Message)
		if m == nil {
			continue
		}
		for i, group := range re.SubexpNames() {
			if group != "" && m[i] != "" && !hasValue(out, fieldName(group, s.Fields)) {
				out = append(out, newValue(fieldName(group, s.Fields), strings.TrimSpace(m[i])))
			}
		}
	}
	return out
}

// fieldOf reads a structured value; error and err are one.
func fieldOf(rec *Record, name string) (string, bool) {
	for _, f := range rec.Fields {
		if f.Key == name || name == "err" && f.Key == "error" || name == "error" && f.Key == "err" {
			return f.Value, f.Value != ""
		}
	}
	return "", false
}

// fieldName is the field that a group of a pattern stands for: groups have "_" where
// fields have "-" or a blank.
func fieldName(group string, fields []string) string {
	for _, f := range fields {
		if strings.NewReplacer("-", "_", " ", "_").Replace(f) == group {
			return f
		}
	}
	return strings.ReplaceAll(group, "_", "-")
}

func hasValue(list []Value, name string) bool {
	for _, v := range list {
		if v.Name == name {
			return true
		}
	}
	return false
}

// newValue reads a text as what its field is.
func newValue(name, text string) Value {
	v := Value{Name: name, Kind: ValueKindOf(name), Text: text}
	var err error
	switch v.Kind {
	case ValueDuration:
		v.Duration, err = time.ParseDuration(text)
	case ValueNumber, ValueBytes:
		v.Number, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil {
		v.Kind, v.Duration, v.Number = ValueText, 0, 0
	}
	return v
}
