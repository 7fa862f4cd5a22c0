package logparse

import (
	"strconv"
	"strings"
	"time"
)

// SlowApply is etcd's word that a request took longer than its threshold to be
// applied or read, or that applying it failed.
type SlowApply struct {
	// Took is how long, Expected the threshold (0 where the line has none).
	Took, Expected time.Duration
	// Prefix is "read-only range " or "read-only txn " for reads that went
	// through no raft entry; empty for writes.
	Prefix string
	// Request is the request as etcd prints it, without values.
	Request string
	// RequestID is the ID in the request's header: that of the raft entry in the
	// WAL. 0 for reads.
	RequestID uint64
	// Key is the first key the request names.
	Key string
	// Error is what it ended with, empty for success.
	Error string
}

// SlowApplyOf reads "apply request took too long" and "failed to apply request"
// (etcdserver/txn/util.go; etcdserver/util.go before 3.6), false for every
// other record.
func SlowApplyOf(rec Record) (SlowApply, bool) {
	if rec.Format != FormatZapJSON || rec.Message != "apply request took too long" && rec.Message != "failed to apply request" {
		return SlowApply{}, false
	}
	var a SlowApply
	var ok bool
	if a.Took, ok = rec.Fields.Duration("took"); !ok {
		return SlowApply{}, false
	}
	a.Expected, _ = rec.Fields.Duration("expected-duration")
	a.Prefix = rec.Fields.Get("prefix")
	a.Request = rec.Fields.Get("request")
	a.Error = rec.Fields.Get("error")
	a.RequestID = requestID(a.Request)
	a.Key = requestKey(a.Request)
	return a, true
}

// requestID reads the ID of a request's header in protobuf text form.
func requestID(request string) uint64 {
	rest, ok := strings.CutPrefix(request, "header:<")
	if !ok {
		return 0
	}
	rest, _, _ = strings.Cut(rest, ">")
	for f := range strings.FieldsSeq(rest) {
		if digits, ok := strings.CutPrefix(f, "ID:"); ok {
			id, err := strconv.ParseUint(digits, 10, 64)
			if err != nil {
				return 0
			}
			return id
		}
	}
	return 0
}

// requestKey reads the first key: "..." of a request in protobuf text form.
func requestKey(request string) string {
	_, rest, ok := strings.Cut(request, `key:"`)
	if !ok {
		return ""
	}
	end := jsonStringEnd(`"`+rest, 0)
	if end < 0 {
		return ""
	}
	quoted := (`"` + rest)[:end]
	key, err := strconv.Unquote(quoted)
	if err != nil {
		return quoted[1 : len(quoted)-1]
	}
	return key
}

// EtcdTrace is a slow request as etcd followed it (pkg/traceutil/trace.go; 3.4
// to 3.6).
type EtcdTrace struct {
	// Operation is "put", "transaction", "range", "linearizableReadLoop" or such.
	Operation string
	// Detail are the values that the operation noted: key, response_revision,
	// readStateIndex, appliedIndex and so on.
	Detail Fields
	// Revision is response_revision: for a write the revision it made, or found
	// if it changed nothing; for a read the revision it was answered at. 0 if
	// there is none.
	Revision int64
	// Start and End are on the member's clock.
	Start, End time.Time
	Duration   time.Duration
	// Steps are the slow steps with their durations, as etcd prints them.
	Steps []TraceStep
}

// EtcdTraceOf reads a "trace[id] operation" record, false for every other.
func EtcdTraceOf(rec Record) (EtcdTrace, bool) {
	rest, ok := strings.CutPrefix(rec.Message, "trace[")
	if !ok || rec.Format != FormatZapJSON {
		return EtcdTrace{}, false
	}
	id, operation, ok := strings.Cut(rest, "] ")
	if !ok || !allDigits(id) {
		return EtcdTrace{}, false
	}
	t := EtcdTrace{Operation: strings.TrimSpace(operation)}
	if t.Duration, ok = rec.Fields.Duration("duration"); !ok {
		return EtcdTrace{}, false
	}
	t.Start, _ = parseStamp(rec.Fields.Get("start"))
	t.End, _ = parseStamp(rec.Fields.Get("end"))
	for part := range strings.SplitSeq(strings.Trim(rec.Fields.Get("detail"), "{}"), "; ") {
		if key, value, ok := strings.Cut(part, ":"); ok {
			t.Detail = append(t.Detail, Field{key, value})
		}
	}
	t.Revision, _ = strconv.ParseInt(t.Detail.Get("response_revision"), 10, 64)
	t.Steps = etcdSteps(rec.Fields.Get("steps"))
	return t, true
}

// etcdSteps reads a JSON list of "trace[id] 'step' {detail} (duration: 1ms)".
func etcdSteps(list string) []TraceStep {
	var out []TraceStep
	for {
		i := strings.IndexByte(list, '"')
		if i < 0 {
			return out
		}
		end := jsonStringEnd(list, i)
		if end < 0 {
			return out
		}
		text := jsonString(list[i:end])
		list = list[end:]
		_, text, ok1 := strings.Cut(text, " '")
		name, text, ok2 := strings.Cut(text, "'")
		detail, text, ok3 := strings.Cut(text, " (duration: ")
		took, err := time.ParseDuration(strings.TrimSuffix(text, ")"))
		if ok1 && ok2 && ok3 && err == nil {
			out = append(out, TraceStep{Name: name, Detail: strings.TrimSpace(detail), Took: took})
		}
	}
}
