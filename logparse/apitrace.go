package logparse

import (
	"strings"
	"time"
)

// APITrace is a utiltrace block of the API server: a request or a storage call
// that took longer than its threshold (k8s.io/utils/trace/trace.go; 500 ms for
// requests).
type APITrace struct {
	// Name is the operation: "Update", "Create", "List(recursive=true) etcd3".
	Name string
	// Fields are those of the operation: audit-id, name, namespace, resource,
	// url, verb, or key and type for a storage call.
	Fields Fields
	// Start and Total are when it began and how long it took, in milliseconds.
	// Start is zero if the record has no time: the block has no zone either.
	Start time.Time
	Total time.Duration
	// Steps are what was slow inside it, in the order of the block.
	Steps []TraceStep
}

// TraceStep is one slow step, or one nested trace, of an APITrace.
type TraceStep struct {
	// Name is "Txn call completed", or for a nested trace "GuaranteedUpdate
	// etcd3".
	Name string
	// Detail is the step's own fields as they stand; may be empty.
	Detail string
	// Took is the time since the step before, for a nested trace its whole time.
	Took time.Duration
	// Nested is true for the head of a nested trace.
	Nested bool
}

// APITraceOf reads a utiltrace block, false for every other record.
func APITraceOf(rec Record) (APITrace, bool) {
	if rec.Format != FormatKlog || !strings.HasPrefix(rec.Message, "Trace[") {
		return APITrace{}, false
	}
	head, rest, _ := strings.Cut(rec.Message, "\n")
	label, head, ok := strings.Cut(head, "]: ")
	if !ok || !allDigits(label[len("Trace["):]) {
		return APITrace{}, false
	}
	name, head, ok := cutTraceName(head)
	if !ok {
		return APITrace{}, false
	}
	const totalMark = " (total time: "
	i := strings.LastIndex(head, totalMark)
	if i < 0 {
		return APITrace{}, false
	}
	total, _, _ := strings.Cut(head[i+len(totalMark):], ")")
	t := APITrace{Name: name}
	var err error
	if t.Total, err = time.ParseDuration(total); err != nil {
		return APITrace{}, false
	}
	fields, stamp := cutTraceStamp(head[:i])
	t.Fields = traceFields(fields)
	t.Start = traceStart(stamp, rec.Time, t.Total)
	for l := range strings.Lines(rest) {
		if step, ok := traceStep(strings.TrimRight(l, "\n")); ok {
			t.Steps = append(t.Steps, step)
		}
	}
	return t, true
}

// cutTraceName reads the quoted name that begins a head or a step.
func cutTraceName(s string) (name, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	name, rest, ok = strings.Cut(s[1:], `"`)
	return name, strings.TrimPrefix(rest, " "), ok
}

// cutTraceStamp takes the stamp in parentheses off the end.
func cutTraceStamp(s string) (rest, stamp string) {
	i := strings.LastIndexByte(s, '(')
	if i < 0 || !strings.HasSuffix(s, ")") {
		return s, ""
	}
	return strings.TrimSuffix(s[:i], " "), s[i+1 : len(s)-1]
}

// traceStart takes the zone from the record's own stamp: what it printed at the
// end, less the total, is the start but for some milliseconds.
func traceStart(stamp string, end time.Time, total time.Duration) time.Time {
	local, err := time.Parse("02-Jan-2006 15:04:05.000", stamp)
	if err != nil || end.IsZero() {
		return time.Time{}
	}
	zone := local.Sub(end.Add(-total)).Round(15 * time.Minute)
	return local.Add(-zone)
}

// traceFields splits "key:value,key:value". Values may hold commas, so a piece
// without a key of its own belongs to the value before it.
func traceFields(s string) Fields {
	var out Fields
	for piece := range strings.SplitSeq(s, ",") {
		key, value, ok := strings.Cut(piece, ":")
		if ok && isTraceKey(key) {
			out = append(out, Field{key, value})
		} else if n := len(out); n > 0 {
			out[n-1].Value += "," + piece
		}
	}
	return out
}

func isTraceKey(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '-' && c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return s != ""
}

// traceStep reads a step (---"name" fields 3ms (21:33:57.525)) or the head of a
// nested trace (["name" fields 3ms (21:33:54.506)).
func traceStep(l string) (TraceStep, bool) {
	_, l, ok := strings.Cut(l, "]: ")
	if !ok {
		return TraceStep{}, false
	}
	l = strings.TrimLeft(strings.TrimRight(l, "]"), " ")
	var step TraceStep
	if rest, ok := strings.CutPrefix(l, "---"); ok {
		l = rest
	} else if rest, ok := strings.CutPrefix(l, "["); ok {
		l, step.Nested = rest, true
	}
	if step.Name, l, ok = cutTraceName(l); !ok {
		return TraceStep{}, false
	}
	l, stamp := cutTraceStamp(l)
	if stamp == "" {
		return TraceStep{}, false
	}
	i := strings.LastIndexByte(l, ' ')
	took, err := time.ParseDuration(l[i+1:])
	if err != nil {
		return TraceStep{}, false
	}
	step.Took = took
	step.Detail = l[:max(i, 0)]
	return step, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}
