package snapshot

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"etcd-autopsy/snapshot/replay"
)

// WAL describes the write-ahead log of one member: the segments of one folder.
type WAL struct {
	// Input and Path name the folder, as source.File does its files; Segments are
	// the paths of those that were read, in order.
	Input, Path string
	Segments    []string
	// Counts are the numbers of entries that each of the Segments holds.
	Counts []int
	// MemberID and ClusterID are 16 hexadecimal digits each, "" if no readable
	// record has them.
	MemberID, ClusterID string
	// First and Last are the lowest and highest raft index of its entries, Entries
	// their number, those that were overwritten included.
	First, Last uint64
	Entries     int
	// Commit is the highest index that it says is committed.
	Commit uint64
	// Terms are the changes of term and vote that it records, in order.
	Terms []TermVote
	// Span are the revisions of the store when its first and its last entry were
	// applied, as far as that is known; Spans are those of each of the Segments.
	Span  RevisionSpan
	Spans []RevisionSpan
	// Problems are damages and holes, each a sentence that names segment and
	// offset.
	Problems []string
	// Rejected is set when the log could be read but no revisions were made of it,
	// and why.
	Rejected string
}

// RevisionSpan is a range of revisions, 0 to 0 for none.
type RevisionSpan struct{ First, Last int64 }

// TermVote is a hard state of raft: a member enters a term, or votes in it.
type TermVote struct {
	Term uint64
	// Vote is the ID of the member it voted for, "" for none.
	Vote string
	// Segment and Offset are where the record lies.
	Segment string
	Offset  int64
	// After is the raft index of the entry before it in the log, 0 for none.
	After uint64
}

// WALs describes the log of every member, in order of Input and Path.
func (h *History) WALs() []WAL {
	list := make([]WAL, len(h.logs))
	for i, l := range h.logs {
		list[i] = l.info
	}
	return list
}

// WAL describes one of the WALs.
func (h *History) WAL(i int) WAL { return h.logs[i].info }

// EntryState says what became of an entry.
type EntryState uint8

// States of entries.
const (
	// EntryUnplaced is committed, but what it did cannot be told: the state of the
	// store before it is not known.
	EntryUnplaced EntryState = iota
	// EntryApplied took effect; it made a revision if it changed a key.
	EntryApplied
	// EntryRejected was committed and changed nothing, for the Reason.
	EntryRejected
	// EntryUncommitted is not known to be committed, nor that it cannot be any more.
	EntryUncommitted
	// EntryLost was proposed and never committed: another entry has its place, or
	// those committed around it leave it none.
	EntryLost
)

var entryStates = [...]string{"unplaced", "applied", "rejected", "commit-unknown", "lost"}

// String is "unplaced", "applied", "rejected", "commit-unknown" or "lost".
func (s EntryState) String() string { return entryStates[s] }

// Entry is one entry of the raft log.
type Entry struct {
	// Index and Term are its place in the raft log.
	Index, Term uint64
	// WAL is an index into WALs: of the several logs that have the entry the
	// first. Segment is the path of the file and Offset where the record begins.
	WAL     int
	Segment string
	Offset  int64
	// Request is the ID of the request, which names the member that proposed it
	// and when that member started (snapshot.RequestOrigin); 0 if it has none.
	Request uint64
	// Kind is what it asks for: "txn", "put", "lease-grant" (replay.Kind).
	Kind string
	// Verb is create, update, put or delete for the write of one key, else "".
	Verb string
	// Key is that of the Verb.
	Key string
	// Expected is the mod_revision that the key has to have (0: it must not
	// exist), -1 if the write has no such precondition. Found is the one that it
	// had, -1 if that is not known or was not asked.
	Expected, Found int64
	State           EntryState
	// Revision is the one that it made, 0 if none or not known.
	Revision int64
	// At is the revision of the store once the entry was applied, 0 if not known.
	At int64
	// Reason says why it was rejected ("compare-failed", "no-space"; "not known" where
	// only the count of revisions shows it), else "".
	Reason string
	// Size is the length of the value that it writes.
	Size int
}

// Entries is the number of entries that the logs hold, each counted once.
func (h *History) Entries() int { return len(h.entries) }

// Entry returns one of Entries entries, which are in order of Index, at the same
// index the committed one first, then by Term.
func (h *History) Entry(i int) Entry {
	e := &h.entries[i]
	l := h.logs[e.log]
	ref := &l.log.Entries[e.ref]
	x := Entry{
		Index: e.index, Term: e.term, WAL: int(e.log), Segment: l.segment(int(ref.Segment)), Offset: ref.Offset,
		Request: e.request, Kind: e.kind.String(), Expected: e.expected, Found: e.found, State: e.state,
		Revision: e.revision, At: e.at, Reason: e.rejection.String(), Size: int(e.size), Verb: entryVerbs[e.verb],
	}
	if e.state == EntryRejected && e.rejection == replay.NotRejected {
		x.Reason = "not known"
	}
	if e.verb != 0 {
		x.Key = h.entryKeys.names[e.key]
	}
	return x
}

// EntriesOf returns the entries that are writes of a key, ascending.
func (h *History) EntriesOf(key string) []int {
	n, ok := h.entryKeys.numbers[key]
	if !ok {
		return nil
	}
	var list []int
	for _, i := range h.entriesByKey.of(int(n)) {
		list = append(list, int(i))
	}
	return list
}

// EntryKeys returns the keys that the entries write, those of writes that failed
// included, in no particular but a fixed order.
func (h *History) EntryKeys() []string {
	if h.entryKeys == nil {
		return nil
	}
	return slices.Clone(h.entryKeys.names)
}

// EntryValue reads the value that an entry writes, whatever became of it: a copy.
// It is nil for a delete, and for an entry that is no write of one key.
func (h *History) EntryValue(i int) ([]byte, error) {
	e := &h.entries[i]
	l := h.logs[e.log]
	ref := l.ref(e.ref)
	data, err := l.log.Data(int(e.ref))
	if err != nil {
		return nil, fmt.Errorf("read entry %d of %s: %w", e.index, l.name(), err)
	}
	r, err := replay.Decode(replay.Entry{Index: e.index, Term: e.term, Type: ref.Type, Data: data})
	if err != nil {
		return nil, fmt.Errorf("read entry %d of %s: %w", e.index, l.name(), err)
	}
	w, ok := r.Write()
	if !ok {
		return nil, nil
	}
	return w.Value, nil
}

// EntryObject decodes the object that an entry writes, as Object does. It has the
// resourceVersion that the entry gave it, none if it made no revision.
func (h *History) EntryObject(i int) (runtime.Object, error) {
	value, err := h.EntryValue(i)
	if err != nil {
		return nil, err
	}
	if value == nil {
		return nil, ErrTombstone
	}
	e := &h.entries[i]
	if value, err = h.secrets.Decrypt(h.entryKeys.names[e.key], value); err != nil {
		return nil, err
	}
	return Decode(value, e.revision)
}

// EntryOfRequest finds the entry with a request ID. Of several (a member never
// proposes one twice, but a stale log may) it is the first.
func (h *History) EntryOfRequest(id uint64) (i int, ok bool) {
	n, ok := slices.BinarySearchFunc(h.byRequest, id, func(e uint32, id uint64) int {
		return cmp.Compare(h.entries[e].request, id)
	})
	if !ok || id == 0 {
		return -1, false
	}
	return int(h.byRequest[n]), true
}

// EntryOfRevision finds the entry that made a revision.
func (h *History) EntryOfRevision(main int64) (i int, ok bool) {
	n, ok := slices.BinarySearchFunc(h.producers, main, func(e uint32, main int64) int {
		return cmp.Compare(h.entries[e].revision, main)
	})
	if !ok {
		return -1, false
	}
	return int(h.producers[n]), true
}
