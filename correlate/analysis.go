package correlate

import (
	"time"

	"etcd-autopsy/correlate/fate"
)

// SchemaVersion is the version of the JSON report; it grows when a field
// changes its meaning, not when one is added.
const SchemaVersion = 1

// Analysis is everything a report says. It is complete: renderers read nothing
// else, and the same inputs give an equal Analysis whatever their order.
type Analysis struct {
	SchemaVersion int        `json:"schemaVersion"`
	Tool          Tool       `json:"tool"`
	Inputs        []Input    `json:"inputs"`
	Coverage      Coverage   `json:"coverage"`
	Verdict       Verdict    `json:"verdict"`
	Rollouts      []Rollout  `json:"rollouts"`
	Episodes      []Episode  `json:"episodes"`
	Evidence      []Evidence `json:"evidence"`
	// Writes are the write requests that were answered with an error (or not at
	// all), in order of time, each with what the store shows of it.
	Writes []Write `json:"writes"`
	// Signals are the repeats of known log messages folded into bursts, for the
	// timeline; Points are the stored writes of the objects of all rollouts.
	Signals []Signal `json:"signals"`
	Points  []Point  `json:"points"`
	// UnknownMessages are warnings and errors that no signature knows.
	UnknownMessages UnknownMessages `json:"unknownMessages"`
	// Terms are the etcd leaders that the logs name, in order.
	Terms []Term `json:"terms"`
}

// Tool names the program that made the analysis.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Input is one file that was given or found, read or not.
type Input struct {
	// Label is the named input the file belongs to, Path its place in it.
	Label string `json:"label"`
	Path  string `json:"path"`
	// Kind is snapshot, member, wal, log, audit, objects, status (of etcdctl), kine,
	// delta, metrics, config, archive or unknown.
	Kind string `json:"kind"`
	// Component, Member and Node are empty where the file does not show them.
	Component string `json:"component"`
	Member    string `json:"member"`
	Node      string `json:"node"`
	// SHA256 is of the file's bytes, in hex; empty if it could not be read.
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	// Records counts log records, audit events or stored revisions.
	Records int `json:"records"`
	// SkippedLines counts the lines of a log that are no record: blank ones, heads
	// of sections, text before the first record.
	SkippedLines int `json:"skippedLines,omitempty"`
	// Duplicates counts the records that another file of the same program holds too;
	// they are not among Records.
	Duplicates int `json:"duplicates,omitempty"`
	// Zone is that of the stamps of a log that name none: "UTC", "+02:00", one given by
	// name, "+02:00, +01:00 from line 90" or "unknown" (they are read as UTC). Empty if
	// each has one, or what carried the lines has. ZoneWhy says what shows it.
	Zone    string `json:"zone,omitempty"`
	ZoneWhy string `json:"zoneWhy,omitempty"`
	// Steps are the places where the stamps of a log step back.
	Steps []ClockStep `json:"steps,omitempty"`
	// First and Last are the times of the first and last record.
	First *time.Time `json:"first"`
	Last  *time.Time `json:"last"`
	// Foreign is true for a store of another etcd than the one that is judged, of
	// which nothing is used; its problems say why.
	Foreign bool `json:"foreign,omitempty"`
	// Problems are sentences: what could not be read and where.
	Problems []string `json:"problems"`
	// Layout is the collector in whose shape the input is laid out ("must-gather",
	// "kind export logs"), empty where none is known by its marks. Collected is the
	// time in the name that the collector gave, null without one; most collectors
	// write their machine's local time, which is shown as if it were UTC.
	Layout    string     `json:"layout,omitempty"`
	Collected *time.Time `json:"collected,omitempty"`
	// Why says by which mark the file was taken for its kind.
	Why string `json:"why"`
}

// ClockStep is a record of a log that is dated well before the one above it: the
// clock was set back, or the file was put together out of order.
type ClockStep struct {
	// Line is that of the record; From is the time of the one above, To its own.
	Line int       `json:"line"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Coverage says what the evidence spans before anything is concluded from it.
type Coverage struct {
	// FirstRevision to LastRevision is the span of the merged history and
	// CompactRevision the floor below which records are missing; 0 without a store.
	FirstRevision   int64 `json:"firstRevision"`
	LastRevision    int64 `json:"lastRevision"`
	CompactRevision int64 `json:"compactRevision"`
	// Notes are sentences: what is missing and what that means.
	Notes []string `json:"notes"`
	// Collect is what is missing and could still be had, what bears on the verdict
	// first.
	Collect []Collect `json:"collect"`
}

// Confidence is how sure a finding is; empty when nothing is claimed.
type Confidence string

// Confidence words of contract.md 2, in falling order.
const (
	Proven   Confidence = "proven"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
)

// Verdict is the headline.
type Verdict struct {
	Text string `json:"text"`
	// Rollout or Episode is what it is about; both null if there is nothing.
	Rollout *string `json:"rollout"`
	Episode *string `json:"episode"`
	Stage   *int    `json:"stage"`
	// Cause is "none" when nothing stalled, null when undecided.
	Cause      *string     `json:"cause"`
	Confidence Confidence  `json:"confidence"`
	Candidates []Candidate `json:"candidates"`
	// WouldSettle names the observation that would decide between candidates.
	WouldSettle string `json:"wouldSettle"`
}

// Candidate is a cause that may be true.
type Candidate struct {
	Cause      string     `json:"cause"`
	Confidence Confidence `json:"confidence"`
}

// Rollout is one attempt to move one workload from one template to another.
type Rollout struct {
	ID       string   `json:"id"`
	Workload Workload `json:"workload"`
	Trigger  Trigger  `json:"trigger"`
	Outcome  Outcome  `json:"outcome"`
	// Start is the attempt, End when it converged (or was superseded, deleted);
	// Onset is when the open stall, or else the longest recovered one, began.
	Start *time.Time `json:"start"`
	End   *time.Time `json:"end"`
	Onset *time.Time `json:"onset"`
	// Stages are always the nine of contract.md, in order.
	Stages       []Stage   `json:"stages"`
	Stalls       []Stall   `json:"stalls"`
	StalledStage *int      `json:"stalledStage"`
	Findings     []Finding `json:"findings"`
}

// Workload names the object that is rolled out.
type Workload struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// Trigger is what began a rollout.
type Trigger struct {
	// Revision is null for an attempt that left none, and where compaction took it.
	Revision *int64     `json:"revision"`
	Time     *time.Time `json:"time"`
	// Actor is the field manager and the audited user: "kubectl-set (ci-deployer)".
	Actor  string `json:"actor"`
	Change string `json:"change"`
	// Request is the audited request, null if no audit log has it.
	Request *Request `json:"request"`
}

// Request is the API request of a trigger or of a write.
type Request struct {
	AuditID string `json:"auditID"`
	Code    int32  `json:"code"`
	Message string `json:"message"`
}

// Outcome is how a rollout ended.
type Outcome string

// Outcomes of contract.md 4.
const (
	Complete   Outcome = "complete"
	Stalled    Outcome = "stalled"
	InProgress Outcome = "in-progress"
	Superseded Outcome = "superseded"
	Deleted    Outcome = "deleted"
	Refused    Outcome = "refused"
)

// StageState is where a stage stands.
type StageState string

// States of a stage. StageDelayed is reached after a stall that recovered.
const (
	StageReached    StageState = "reached"
	StageDelayed    StageState = "delayed"
	StageStalled    StageState = "stalled"
	StageInProgress StageState = "in-progress"
	StageNotReached StageState = "not-reached"
	StageNoEvidence StageState = "no-evidence"
)

// Stage is one numbered step of a rollout (contract.md 1).
type Stage struct {
	Number int        `json:"stage"`
	Name   string     `json:"name"`
	State  StageState `json:"state"`
	// Start is when the first pod enters, Reached when the first is through, End
	// when the last desired pod is.
	Start   *time.Time `json:"start"`
	Reached *time.Time `json:"reached"`
	End     *time.Time `json:"end"`
	// FirstRevision and LastRevision show Reached and End; null if not stored.
	FirstRevision *int64 `json:"firstRevision"`
	LastRevision  *int64 `json:"lastRevision"`
	// Through counts the pods past this stage of the Desired ones.
	Through  int      `json:"through"`
	Desired  int      `json:"desired"`
	Evidence []string `json:"evidence"`
	// Note is a sentence where the stage needs one ("no Service selects ...").
	Note string `json:"note,omitempty"`
}

// Stall is a stage that outlasted its budget.
type Stall struct {
	Stage int        `json:"stage"`
	From  *time.Time `json:"from"`
	// To is null while the stall is open.
	To         *time.Time `json:"to"`
	Recovered  bool       `json:"recovered"`
	Cause      *string    `json:"cause"`
	Confidence Confidence `json:"confidence"`
	Evidence   []string   `json:"evidence"`
	// Object is whose wait it was ("Pod default/web-…"), for the reader.
	Object string `json:"object,omitempty"`
}

// Role is a finding's part in a stall.
type Role string

// Roles of contract.md 2.
const (
	RoleCause        Role = "cause"
	RoleContributing Role = "contributing"
	RoleRejected     Role = "rejected"
)

// Finding is one judged suspect of a rollout.
type Finding struct {
	Cause      string     `json:"cause"`
	Role       Role       `json:"role"`
	Confidence Confidence `json:"confidence"`
	Text       string     `json:"text"`
	// Rule is the ID of the rule that fired.
	Rule     string   `json:"rule"`
	Evidence []string `json:"evidence"`
	NextStep string   `json:"nextStep"`
	// Stage is the stall the finding explains, 0 for a rejected suspect.
	Stage int `json:"stage"`
}

// Episode is a fault of the control plane that the evidence shows.
type Episode struct {
	ID string `json:"id"`
	// Kind is a cause of causes.tsv.
	Kind    string     `json:"kind"`
	Start   *time.Time `json:"start"`
	End     *time.Time `json:"end"`
	Members []string   `json:"members"`
	Text    string     `json:"text"`
	// Harmless is true when nothing that was due was held up; Because says why
	// it is, or is not.
	Harmless         bool     `json:"harmless"`
	Because          string   `json:"because"`
	AffectedRollouts []string `json:"affectedRollouts"`
	Evidence         []string `json:"evidence"`
}

// Evidence points at one place of one input: a log line, a stored revision, or
// an entry of the raft log.
type Evidence struct {
	ID     string `json:"id"`
	Input  string `json:"input"`
	Source string `json:"source"`
	// Line is the 1-based line of a log, 0 for a revision.
	Line int `json:"line,omitempty"`
	// Revision and Key name a stored record.
	Revision int64  `json:"revision,omitempty"`
	Key      string `json:"key,omitempty"`
	// Offset is where the record of an entry begins in its WAL segment; Index and
	// Term are its place in the raft log, 0 for other evidence. An entry that made
	// the revision has Revision and Key too.
	Offset   int64      `json:"offset,omitempty"`
	Index    uint64     `json:"index,omitempty"`
	Term     uint64     `json:"term,omitempty"`
	Time     *time.Time `json:"time"`
	Earliest *time.Time `json:"earliest,omitempty"`
	Latest   *time.Time `json:"latest,omitempty"`
	// Text is the line as it stands, or what the revision shows.
	Text string `json:"text"`
}

// Fate is what became of a write request.
type Fate = fate.Fate

// Fates of contract.md 3. FateUnknown is not FateLost: it claims nothing.
const (
	FateLanded      = fate.Landed
	FateRejected    = fate.Rejected
	FateNotProposed = fate.NotProposed
	FateLost        = fate.Lost
	FateUnknown     = fate.Unknown
)

// Write is a write request that was answered with an error.
type Write struct {
	Time *time.Time `json:"time"`
	Verb string     `json:"verb"`
	// Object is "deployments/default/web".
	Object  string `json:"object"`
	User    string `json:"user"`
	AuditID string `json:"auditID"`
	Code    int32  `json:"code"`
	Answer  string `json:"answer"`
	Fate    Fate   `json:"fate"`
	// Why is the reason for the fate, a sentence; WouldSettle is set where it is
	// unknown and says what would tell more.
	Why         string `json:"why"`
	WouldSettle string `json:"wouldSettle"`
	// Revision and LandedAt are set when the store shows that it landed.
	Revision *int64     `json:"revision"`
	LandedAt *time.Time `json:"landedAt"`
	// RequestID is that of the raft request in hexadecimal digits and Member the
	// etcd member that proposed it; empty where no raft entry is joined to it.
	RequestID string   `json:"requestID"`
	Member    string   `json:"member"`
	Evidence  []string `json:"evidence"`
	// Repeats counts further equal requests (same verb, object, answer and fate).
	Repeats int `json:"repeats"`
}

// Signal is a run of log records with one signature from one source.
type Signal struct {
	Signature string     `json:"signature"`
	Input     string     `json:"input"`
	Source    string     `json:"source"`
	Component string     `json:"component"`
	Level     string     `json:"level"`
	Start     *time.Time `json:"start"`
	End       *time.Time `json:"end"`
	// Count is how many records, Line the first one's line, Text its text.
	Count int    `json:"count"`
	Line  int    `json:"line"`
	Text  string `json:"text"`
}

// Point is one stored write of an object of a rollout.
type Point struct {
	Rollout  string     `json:"rollout"`
	Revision int64      `json:"revision"`
	Time     *time.Time `json:"time"`
	Earliest *time.Time `json:"earliest"`
	Latest   *time.Time `json:"latest"`
	// Kind and Name are of the object; Text says what changed, in a few words.
	Kind string `json:"kind"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// Term is one leader's time in office.
type Term struct {
	Number uint64 `json:"term"`
	// Leader is the member's name where a log or store gives it, else its ID.
	Leader string     `json:"leader"`
	Start  *time.Time `json:"start"`
	// End is null for the last one.
	End *time.Time `json:"end"`
	// Election is how long there had been no leader when this one was elected, in
	// seconds: from the loss of the one before; null where no log shows the loss.
	Election *float64 `json:"election"`
	// Stood are the members that stood in the election, the winner too, as far as
	// their logs are there; SeenBy are those whose logs or votes name the leader.
	Stood  []string `json:"stood"`
	SeenBy []string `json:"seenBy"`
	// Disputed are other members that a log names as leader of the same term: raft
	// has one, so one of the logs is of another cluster, or wrong.
	Disputed []string `json:"disputed,omitempty"`
	// Source is "log", or "wal" where only the votes in the members' WALs tell.
	Source string `json:"source"`
	// id is the leader's ID.
	id string
}
