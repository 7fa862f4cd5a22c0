package snapshot

import "slices"

// Rewind says that a cluster went back to an earlier state, as a restore from a
// snapshot does, and numbered its changes anew from there.
type Rewind struct {
	// Store is the one that was restored, Other the one that went on without it;
	// Other is -1 if only Store itself shows that it was restored.
	Store, Other int
	// LastCommon is the last revision that both have alike, Differ the first that
	// they do not; 0 if Other is -1.
	LastCommon, Differ int64
	// Revision and ConsistentIndex are those of Store: every revision takes at
	// least one raft entry, so an index below the revision means that the raft
	// log began anew.
	Revision        int64
	ConsistentIndex uint64
}

// Rewinds lists the restores that the stores show, in order of Store and Other.
func (h *History) Rewinds() []Rewind { return slices.Clone(h.rewinds) }
