package wal

import "fmt"

// FaultKind says what is wrong at a place.
type FaultKind string

// Kinds of faults.
const (
	// FaultTorn is the end of a log that was being written: what a crash leaves,
	// and what etcd cuts off when it starts.
	FaultTorn FaultKind = "torn"
	// FaultDamaged are bytes that are not what etcd wrote.
	FaultDamaged FaultKind = "damaged"
	// FaultZeros are zeros between two records: the end of the log was there once,
	// or the bytes were lost.
	FaultZeros FaultKind = "zeros"
	// FaultUnread is a part of a file that cannot be read.
	FaultUnread FaultKind = "unread"
	// FaultChain is a segment that does not continue the one before it.
	FaultChain FaultKind = "chain"
	// FaultGap are entries that are missing.
	FaultGap FaultKind = "gap"
	// FaultForeign is a segment of another member or cluster.
	FaultForeign FaultKind = "foreign"
	// FaultUnknown is a record of a type that no etcd up to 3.7 writes.
	FaultUnknown FaultKind = "unknown"
)

// Fault is something wrong with a log.
type Fault struct {
	Kind FaultKind
	// Segment is the path of the file, Offset where in it the fault begins and
	// Length how many bytes are left out for it, 0 for none.
	Segment        string
	Offset, Length int64
	// Text is a sentence without the place.
	Text string
}

// String names place and fault.
func (f Fault) String() string {
	return fmt.Sprintf("%s, offset %d: %s", f.Segment, f.Offset, f.Text)
}
