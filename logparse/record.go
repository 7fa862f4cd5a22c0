package logparse

import (
	"slices"
	"strings"
	"time"
)

// Record is one logical log record: usually a line, sometimes a block (a
// utiltrace block, a stack dump). Every value is the caller's to keep; what is
// kept for long is better kept as a [Record.Clone].
type Record struct {
	// Line is the 1-based number of the record's first line in its stream, and
	// Lines how many lines it spans (1 or more). They need not be neighbours: the
	// lines of other records may stand between those of a stack dump.
	Line, Lines int
	// Offset is where its first line begins, in bytes of the stream as it was
	// decoded: after decompression, and as UTF-8.
	Offset int64
	// Shared means that the record before it ends in its first line: two threads
	// wrote at once.
	Shared bool
	// Time is when the record was printed, in UTC, as its program's clock had
	// it. Zero if the record carries no stamp.
	Time time.Time
	// Inferred says which parts of Time are not in the text.
	Inferred Inferred
	// Format is how the line was written; FormatPlain for text nobody claims.
	Format Format
	// Framing lists what the line was wrapped in, outermost first: "cri", "docker",
	// "journald-json", "syslog", "kubectl-prefix" and the like; nil for none. It is
	// shared between records: not to be changed.
	Framing []string
	// Host is the machine, Pod and Container what ran there, as the wrappers name
	// them; empty where they do not.
	Host, Pod, Container string
	// Component is the program that printed it, as far as the stream shows.
	Component Component
	// Level is the severity; LevelUnknown where the format has none.
	Level Level
	// Caller is "file.go:123" where the program printed it.
	Caller string
	// Message is the text without header and fields; for a zap line the msg.
	Message string
	// Fields are the structured values in the order they stand in the line. Lines
	// that follow a structured klog message without a header (a stack dump) are the
	// value of a last field without a key. Those of an audit event are its
	// annotations, but for the authorization's.
	Fields Fields
	// Signatures are the IDs of every known message this record matches, in
	// table order; nil when none does.
	Signatures []string
	// Repeats is how many more times the program said the same, if it counted them
	// instead of printing them.
	Repeats int
	// Audit is the decoded audit event of a FormatAudit record, else nil.
	Audit *AuditEvent
	// Text is the record's first line as it stands in the stream (without its
	// line end), cut at MaxText bytes (MaxAuditText for an audit event, whose answer
	// stands behind its user) on a rune boundary. Like all strings of a
	// record it is valid UTF-8: U+FFFD stands for what was not.
	Text string
	// Problem says why the record could not be read as its format promises
	// (half a JSON line, say); empty for a good record. Damage is data: the
	// stream goes on.
	Problem string
}

// Classify sets the signatures of a record that was read without them. It may be
// called for several records at once.
func (r *Record) Classify() {
	if r.Format != FormatNoise {
		r.Signatures = signatureMatcher().signatures(r)
	}
}

// Clone returns a copy that shares no memory with other records. The strings of
// neighbouring records stand in common blocks: one that is kept for long as it is
// keeps 8 KiB and more from being freed.
func (r *Record) Clone() Record {
	c := *r
	c.Fields = slices.Clone(r.Fields)
	own := []*string{&c.Host, &c.Pod, &c.Container, &c.Caller, &c.Message, &c.Text, &c.Problem}
	for i := range c.Fields {
		own = append(own, &c.Fields[i].Key, &c.Fields[i].Value)
	}
	if r.Audit != nil {
		e := *r.Audit
		c.Audit = &e
		own = append(own, &e.AuditID, &e.Stage, &e.Verb, &e.RequestURI, &e.User, &e.UserAgent, &e.Resource, &e.Group, &e.Subresource,
			&e.Namespace, &e.Name, &e.UID, &e.ResourceVersion, &e.Reason, &e.Message, &e.ResponseResourceVersion,
			&e.Decision, &e.DecisionReason)
	}
	cloneStrings(own)
	return c
}

// cloneStrings gives strings memory of their own, all in one piece.
func cloneStrings(own []*string) {
	n := 0
	for _, s := range own {
		n += len(*s)
	}
	var b strings.Builder
	b.Grow(n)
	for _, s := range own {
		at := b.Len()
		b.WriteString(*s)
		*s = b.String()[at:]
	}
}

// MaxText and MaxAuditText are how many bytes of a record's first line Text keeps.
const (
	MaxText      = 400
	MaxAuditText = 1600
)

// Field is one structured value of a record. JSON values that are no strings
// stand as their JSON text.
type Field struct{ Key, Value string }

// Fields are a record's structured values, in the order of the line.
type Fields []Field

// Get returns the first value of a key, "" if the record has none.
func (f Fields) Get(key string) string {
	for _, x := range f {
		if x.Key == key {
			return x.Value
		}
	}
	return ""
}

// Inferred is the set of time parts that a reader had to supply.
type Inferred uint8

// The parts of a stamp that a format may lack.
const (
	InferredYear Inferred = 1 << iota
	InferredZone
	// AssumedZone stands beside InferredZone where nothing showed the zone, neither a
	// wrapper nor Options: the stamp was read as UTC.
	AssumedZone
)

// Names returns "year" and "zone" for the parts that were inferred.
func (i Inferred) Names() []string {
	var out []string
	if i&InferredYear != 0 {
		out = append(out, "year")
	}
	if i&InferredZone != 0 {
		out = append(out, "zone")
	}
	return out
}

// Level is a record's severity.
type Level uint8

// Severities, in rising order.
const (
	LevelUnknown Level = iota
	LevelDebug
	LevelInfo
	LevelWarn
	LevelError
	LevelFatal
)

// String returns the level as contract.md prints it: "warn"; "" if unknown.
func (l Level) String() string {
	return [...]string{"", "debug", "info", "warn", "error", "fatal"}[l]
}

// Format is how a record is written.
type Format string

// Formats that this package reads.
const (
	FormatPlain      Format = "plain"       // text of no known format
	FormatZapJSON    Format = "zap-json"    // etcd since 3.4
	FormatZapConsole Format = "zap-console" // etcdctl, etcdutl, etcd with --log-format=console
	FormatCapnslog   Format = "capnslog"    // etcd up to 3.4
	FormatKlog       Format = "klog"        // Kubernetes
	FormatKlogJSON   Format = "klog-json"   // Kubernetes with --logging-format=json
	FormatAudit      Format = "audit"       // audit.k8s.io/v1 events
	FormatLogrus     Format = "logrus"      // k3s, rke2, containerd
	FormatGoLog      Format = "go-log"      // Go's log package
	FormatPanic      Format = "go-panic"    // a panic, or stacks
	FormatJSON       Format = "json"        // another logger that writes JSON
	// FormatNoise is that of lines that are no record: blank ones, marks of what
	// was cut, heads of sections, text before the first record. Their records have
	// no more than Line, Lines and Text.
	FormatNoise Format = "noise"
)

// Component is the program behind a log.
type Component string

// Components that the signatures and the correlation know.
const (
	ComponentUnknown           Component = ""
	ComponentEtcd              Component = "etcd"
	ComponentAPIServer         Component = "kube-apiserver"
	ComponentControllerManager Component = "kube-controller-manager"
	ComponentScheduler         Component = "kube-scheduler"
	ComponentKubelet           Component = "kubelet"
	ComponentAudit             Component = "audit"
)

// AuditEvent is what this tool needs of an audit.k8s.io/v1 Event.
// Kubernetes 1.34: staging/src/k8s.io/apiserver/pkg/apis/audit/v1/types.go.
type AuditEvent struct {
	AuditID string
	// Stage is RequestReceived, ResponseStarted, ResponseComplete or Panic.
	Stage      string
	Verb       string
	RequestURI string
	User       string
	UserAgent  string
	// Resource, Group, Subresource, Namespace and Name are the objectRef;
	// Name is empty for a create with generateName and for lists.
	Resource, Group, Subresource, Namespace, Name string
	// UID and ResourceVersion are those of the request object: for an update
	// the predecessor revision its writer saw. Usually empty below level Request.
	UID, ResourceVersion string
	// Code is the HTTP status, 0 where there is no answer.
	Code int32
	// Reason and Message are the Status of a refused request.
	Reason, Message string
	// ResponseResourceVersion is the revision of the answered object, for a list
	// that of the list; only at level RequestResponse.
	ResponseResourceVersion string
	// Received and Completed are requestReceivedTimestamp and stageTimestamp
	// (API server's clock, microseconds, UTC).
	Received, Completed time.Time
	// Decision and DecisionReason are the authorization annotations.
	Decision, DecisionReason string
}
