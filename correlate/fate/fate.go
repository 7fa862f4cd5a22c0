package fate

import (
	"time"

	"etcd-autopsy/snapshot"
)

// Fate is what became of a write request.
type Fate string

// Fates of contract.md 3.
const (
	// Landed: the write is stored.
	Landed Fate = "landed"
	// Rejected: the API server or etcd refused it, and said or shows why.
	Rejected Fate = "rejected"
	// NotProposed: it never became an entry of the raft log.
	NotProposed Fate = "not-proposed"
	// Lost: it was proposed, and another entry has its place.
	Lost Fate = "lost"
	// Unknown claims nothing.
	Unknown Fate = "unknown"
)

// Request is a write request that a log shows.
type Request struct {
	// Key is where its object is stored, "" if that cannot be told.
	Key string
	// Verb is that of the audit log: create, update, patch, delete. Subresource is
	// "" for the object itself.
	Verb, Subresource string
	// Expected is the resourceVersion that the request names, 0 for none.
	Expected int64
	// Manager is the field manager that the API server takes it to be of.
	Manager             string
	Received, Completed time.Time
	// Code and Message are the answer; Code is 0 if there was none.
	Code    int32
	Message string
	// Revision is the one it made, where that is known already; else 0.
	Revision int64
	// ID is that of the raft request, where a log of etcd names it; else 0.
	ID uint64
}

// OK says whether the answer was that the write is done.
func (r *Request) OK() bool { return r.Code >= 200 && r.Code < 300 }

// Verdict is the fate of a request.
type Verdict struct {
	Fate Fate
	// Entry is the raft entry that it became, an index among History.Entries; -1
	// for none. Before are entries that it became earlier and that were rejected.
	Entry  int
	Before []int
	// Revision is the one it made, 0 if none.
	Revision int64
	// Why is the reason, a sentence; Settle, for Unknown, what would tell more.
	Why, Settle string
}

// Times dates revisions: the best estimate and the bounds of the true time, zero
// where nothing bounds it.
type Times interface {
	At(revision int64) (t, earliest, latest time.Time)
}

// Judge says what became of each request. Requests that were answered with
// success take part, since what they wrote is nobody else's.
func Judge(h *snapshot.History, times Times, requests []*Request) []Verdict {
	j := newJudge(h, times, requests)
	out := make([]Verdict, len(requests))
	for i, r := range requests {
		out[i] = j.verdict(r)
	}
	return out
}

// OfEntries says what became of the requests that proposed entries.
func OfEntries(h *snapshot.History, times Times, entries []int) []Verdict {
	j := &judge{h: h, logs: newCoverage(h, times)}
	out := make([]Verdict, len(entries))
	for n, i := range entries {
		out[n] = j.entry(i)
	}
	return out
}
