package replay

import "go.etcd.io/raft/v3/raftpb"

// Entry is an entry of the raft log that is committed, or taken to be.
type Entry struct {
	// Index and Term are its place in the log; the first index is 1.
	Index, Term uint64
	Type        raftpb.EntryType
	// Data is what etcd proposed, empty for the entry with which a leader begins
	// its term. It is never written to. What is made of an entry points into it
	// and is good for as long as Data is.
	Data []byte
}
