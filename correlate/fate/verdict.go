package fate

import (
	"fmt"
	"strings"

	"etcd-autopsy/snapshot"
)

// verdict says what became of a request.
func (j *judge) verdict(r *Request) Verdict {
	if i, ok := j.h.EntryOfRequest(r.ID); ok {
		return j.entry(candidate{entry: i, revision: j.h.Entry(i).Revision, state: j.h.Entry(i).State, sure: true})
	}
	if r.Revision != 0 {
		v := Verdict{Fate: Landed, Entry: -1, Revision: r.Revision}
		if i, ok := j.h.EntryOfRevision(r.Revision); ok {
			v.Entry = i
		}
		return v
	}
	if r.OK() {
		return Verdict{Fate: Landed, Entry: -1, Why: "it was answered with success"}
	}
	o := j.joined[r]
	switch {
	case o.found:
		v := j.entry(o.candidate)
		v.Before = o.before
		return v
	case o.many > 0:
		return Verdict{Fate: Unknown, Entry: -1, Why: severalWhy(o.many),
			Settle: "an audit log of level RequestResponse, which names the revision of each answer"}
	}
	return j.none(r)
}

// severalWhy says why it is not known which write a request became.
func severalWhy(n int) string {
	if n == 1 {
		return "one write of the object could be it, but also that of a request that was answered with success"
	}
	return fmt.Sprintf("%d writes of the object could be it", n)
}

// entry is the fate of a request that became an entry, or a revision of which
// there is no entry.
func (j *judge) entry(c candidate) Verdict {
	v := Verdict{Entry: c.entry, Revision: c.revision}
	if c.entry < 0 {
		v.Fate, v.Why = Landed, "a revision of the object carries managed fields of this client with a time within the request"
		return v
	}
	e := j.h.Entry(c.entry)
	switch {
	case c.state == snapshot.EntryApplied && c.revision != 0:
		v.Fate, v.Why = Landed, fmt.Sprintf("raft entry %d of term %d, proposed by it, made revision %d", e.Index, e.Term, e.Revision)
	case c.state == snapshot.EntryApplied:
		v.Fate, v.Why = Landed, fmt.Sprintf("raft entry %d of term %d was applied and changed nothing", e.Index, e.Term)
	case c.state == snapshot.EntryRejected:
		v.Fate, v.Why = Rejected, rejection(&e)
	case c.state == snapshot.EntryLost:
		v.Fate, v.Why = Lost, fmt.Sprintf("raft entry %d of term %d was never committed: another one has its index", e.Index, e.Term)
	case c.state == snapshot.EntryUncommitted:
		v.Fate, v.Why, v.Settle = Unknown, fmt.Sprintf("raft entry %d of term %d is there, but nothing says whether it was committed", e.Index, e.Term), "a store of a later moment, or the WAL of "+j.others()
	default:
		v.Fate, v.Why, v.Settle = Unknown, fmt.Sprintf("raft entry %d of term %d is committed, but the state of the store before it is not known", e.Index, e.Term), "a store that was copied before it, or the older segments of the WAL"
	}
	return v
}

// rejection says why etcd refused an entry.
func rejection(e *snapshot.Entry) string {
	where := fmt.Sprintf("raft entry %d of term %d changed nothing: ", e.Index, e.Term)
	switch {
	case e.Reason == "compare-failed" && e.Expected > 0 && e.Found == 0:
		return where + fmt.Sprintf("it expected mod_revision %d, but the key did not exist", e.Expected)
	case e.Reason == "compare-failed" && e.Expected == 0 && e.Found > 0:
		return where + fmt.Sprintf("it expected that the key did not exist, but it had mod_revision %d", e.Found)
	case e.Reason == "compare-failed" && e.Expected > 0 && e.Found > 0:
		return where + fmt.Sprintf("it expected mod_revision %d, the key had %d", e.Expected, e.Found)
	case e.Reason == "no-space":
		return where + "the alarm NOSPACE was raised"
	}
	return where + e.Reason
}

// others names the members whose logs are missing.
func (j *judge) others() string {
	if len(j.logs.missing) == 0 {
		return "a member copied later"
	}
	return strings.Join(j.logs.missing, ", ")
}

// refusals are answers that say by themselves that etcd did not take the write on
// (etcd v3.6 server/etcdserver/errors): the first that the message contains
// counts.
var refusals = []struct {
	text string
	fate Fate
	why  string
}{
	{"etcdserver: no leader", NotProposed, "etcd had no leader and refused to propose it"},
	{"etcdserver: too many requests", NotProposed, "etcd had too many proposals waiting and refused to propose it"},
	{"etcdserver: request is too large", Rejected, "etcd refused it as too large"},
	{"etcdserver: mvcc: database space exceeded", Rejected, "etcd refused it for lack of space"},
}

// Ambiguous says whether an answer leaves open what became of a write: a time-out,
// a changed leader, a broken connection. A refusal by rule does not.
func Ambiguous(code int32, message string) bool {
	if code == 408 || code == 504 {
		return true
	}
	for _, x := range refusals {
		if strings.Contains(message, x.text) {
			return false
		}
	}
	return (code == 0 || code >= 500) && !strings.Contains(message, "failed calling webhook")
}

// none is the fate of a request that became nothing that is there.
func (j *judge) none(r *Request) Verdict {
	for _, x := range refusals {
		if strings.Contains(r.Message, x.text) {
			return Verdict{Fate: x.fate, Entry: -1, Why: x.why}
		}
	}
	if !Ambiguous(r.Code, r.Message) {
		return Verdict{Fate: Rejected, Entry: -1, Why: fmt.Sprintf("the API server refused it with %d", r.Code)}
	}
	v := Verdict{Fate: Unknown, Entry: -1}
	switch {
	case r.Key == "":
		v.Why, v.Settle = "the request names no object", "an audit log of level Request, which has the object"
	case j.h.Entries() == 0:
		v.Why, v.Settle = "no revision shows it, and there is no raft log", "the members' WALs"
	case !j.logs.spans(r.Received, r.Completed):
		v.Why, v.Settle = "no raft entry shows it, but the logs do not cover all of the time in which it could", "the WAL of a longer time"
	case !j.logs.complete():
		v.Why = "it is not stored: no committed raft entry is a write of its object at that time; whether it was proposed cannot be seen"
		v.Settle = "the WAL of " + j.others()
	default:
		v.Fate, v.Why = NotProposed, "no member's raft log has a write of its object at that time"
	}
	return v
}
