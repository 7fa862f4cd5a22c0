package fate

import (
	"fmt"
	"slices"
	"strings"

	"etcd-autopsy/snapshot"
)

// verdict says what became of a request.
func (j *judge) verdict(r *Request) Verdict {
	if i, ok := j.h.EntryOfRequest(r.ID); ok {
		return j.entry(i)
	}
	if r.OK() {
		return j.answeredWell(r)
	}
	if r.Revision != 0 {
		return j.madeRevision(r.Revision)
	}
	o := j.joined[r]
	switch {
	case o == nil:
		o = &outcome{}
	case o.write != nil && j.unfinished(r, o.write):
		e := j.h.Entry(o.write.entry)
		return Verdict{Fate: Unknown, Entry: o.write.entry, Before: o.before, Settle: "the WAL of a longer time",
			Why: rejection(&e) + "; an API server tries again then, and the logs do not cover all of the time in which it could"}
	case o.write != nil && o.write.entry < 0:
		return Verdict{Fate: Landed, Entry: -1, Revision: o.write.revision, Why: "a revision of the object carries the stamp of this request"}
	case o.write != nil:
		v := j.entry(o.write.entry)
		v.Before = o.before
		return v
	case o.many != 0 && (answerOf(r).fate == Unknown || slices.ContainsFunc(o.sure, (*write).effective)):
		return Verdict{Fate: Unknown, Entry: -1, Why: severalWhy(o), Settle: "an audit log of level RequestResponse, which names the revision of each answer"}
	}
	return j.none(r, o)
}

// answeredWell is the fate of a request that was answered with success.
func (j *judge) answeredWell(r *Request) Verdict {
	if r.Revision != 0 && j.claimed[r.Revision] == r {
		return j.madeRevision(r.Revision)
	}
	return Verdict{Fate: Landed, Entry: -1, Why: "it was answered with success"}
}

func (j *judge) madeRevision(main int64) Verdict {
	v := Verdict{Fate: Landed, Entry: -1, Revision: main}
	if i, ok := j.h.EntryOfRevision(main); ok {
		v.Entry = i
	}
	return v
}

// unfinished says whether a request that lost a race may have been tried again
// unseen.
func (j *judge) unfinished(r *Request, w *write) bool {
	retries := r.Verb != "update" || r.Expected == 0
	return w.race && retries && Ambiguous(r.Code, r.Message) && !j.logs.spans(r.Received, r.end())
}

// severalWhy says why it is not known which write a request became.
func severalWhy(o *outcome) string {
	switch {
	case o.many == crowded:
		return "too many writes of the object could be it"
	case o.many == 1:
		return "one write of the object could be it, but also that of another request"
	case o.shared:
		return fmt.Sprintf("%d writes of the object could be it, but also those of other requests", o.many)
	}
	return fmt.Sprintf("%d writes of the object could be it", o.many)
}

// entry is the fate of a request that became an entry.
func (j *judge) entry(i int) Verdict {
	e := j.h.Entry(i)
	v := Verdict{Entry: i, Revision: e.Revision}
	switch {
	case e.State == snapshot.EntryApplied && e.Revision != 0:
		v.Fate, v.Why = Landed, fmt.Sprintf("raft entry %d of term %d, proposed by it, made revision %d", e.Index, e.Term, e.Revision)
	case e.State == snapshot.EntryApplied:
		v.Fate, v.Why = Landed, fmt.Sprintf("raft entry %d of term %d was applied and changed nothing", e.Index, e.Term)
	case e.State == snapshot.EntryRejected:
		v.Fate, v.Why = Rejected, rejection(&e)
	case e.State == snapshot.EntryLost:
		v.Fate, v.Why = Lost, fmt.Sprintf("raft entry %d of term %d was never committed: another one has its index", e.Index, e.Term)
	case e.State == snapshot.EntryUncommitted:
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

// none is the fate of a request that became nothing that is surely its own.
func (j *judge) none(r *Request, o *outcome) Verdict {
	a := answerOf(r)
	v := Verdict{Fate: Unknown, Entry: -1}
	switch {
	case o.open == 1:
		v.Why, v.Settle = "one write of the object could be it, but nothing but its time speaks for that", "an audit log of every request for the object"
	case o.open > 1:
		v.Why, v.Settle = "several writes of the object could be it, but nothing but their times speaks for that", "an audit log of every request for the object"
	case a.fate != Unknown:
		return Verdict{Fate: a.fate, Entry: -1, Why: a.why}
	case r.Key == "":
		v.Why, v.Settle = "the request names no object", "an audit log of level Request, which has the object"
	case r.Received.IsZero():
		v.Why, v.Settle = "it is not known when the request was made", "an audit log"
	case j.h.Entries() == 0:
		v.Why, v.Settle = "no revision shows it, and there is no raft log", "the members' WALs"
	case !j.logs.spans(r.Received, r.end()):
		v.Why, v.Settle = "no raft entry shows it, but the logs do not cover all of the time in which it could", "the WAL of a longer time"
	case !j.logs.complete():
		v.Why = "it is not stored: no committed raft entry is a write of its object at that time; whether it was proposed cannot be seen"
		v.Settle = "the WAL of " + j.others()
	default:
		v.Fate, v.Why = NotProposed, "no member's raft log has a write of its object that can be it"
	}
	return v
}
