package snapshot

import (
	"errors"
	"slices"
)

// History is every change that a set of stores holds, merged by revision. All
// its methods may be called at the same time from any number of goroutines,
// save Close, after which only values cannot be read any more.
type History struct {
	stores     []*store
	secrets    *Keys     // nil for none
	prefixes   []string  // that are not well known, longest first
	revisions  []record  // in order
	sets       [][]int   // of stores, by record.set
	table      *keyTable // numbers keys while stores are merged
	hashes     []uint64  // of revisions, while stores are merged
	replayed   []span    // the revisions that the logs have whole
	walPlaces  []walPlace
	snaps      []RaftSnap
	dumps      []*dumpFile
	dumpPlaces []dumpPlace // in order of revision
	raftHistory
	keyIndex
	conflicts       []Conflict
	contradictions  []Contradiction
	inconsistencies []Inconsistency
	rewinds         []Rewind
	first           int64
	last            int64
	compact         int64
}

// Conflict says that two stores have different bytes for one revision: they are
// of different clusters, of one that was restored in between, or one is damaged.
type Conflict struct {
	Main, Sub int64
	// Key is what StoreA has there; OtherKey is what StoreB has if that is
	// another key, else "".
	Key, OtherKey string
	// StoreA and StoreB are indexes into Stores; StoreB was not merged.
	StoreA, StoreB int
}

// Close closes the files.
func (h *History) Close() error {
	var errs []error
	for _, s := range h.stores {
		errs = append(errs, s.close())
	}
	for _, l := range h.logs {
		errs = append(errs, l.log.Close())
	}
	return errors.Join(errs...)
}

// Stores describes every file given to Load, in order of Input and Path.
func (h *History) Stores() []Store {
	list := make([]Store, len(h.stores))
	for i, s := range h.stores {
		list[i] = s.info
	}
	return list
}

// Len is the number of revisions.
func (h *History) Len() int { return len(h.revisions) }

// At returns one of Len revisions, which are in order of Main and Sub.
func (h *History) At(i int) Revision {
	r := &h.revisions[i]
	return Revision{
		Main: r.main, Sub: int64(r.sub), Key: h.keys[r.key], Tombstone: r.tombstone(),
		Create: r.create, Version: r.version, Lease: r.leased, Size: int(r.size),
		Stores: h.sets[r.set()], Carved: r.isCarved(), WAL: r.isReplayed(), Dump: r.isDumped(),
	}
}

// keyAt is the key of revision i.
func (h *History) keyAt(i int) string { return h.keys[h.revisions[i].key] }

// Key returns the indexes of a key's revisions, ascending; nil if it has none.
func (h *History) Key(key string) []int {
	n, ok := slices.BinarySearch(h.keys, key)
	if !ok {
		return nil
	}
	var list []int
	for _, i := range h.of(n) {
		list = append(list, int(i))
	}
	return list
}

// Keys returns every key that has a revision, sorted.
func (h *History) Keys() []string { return slices.Clone(h.keys) }

// KeysOf returns the sorted keys of a resource: the plural for the kinds whose
// keys name no group ("pods", "nodes", "leases"), plural.group for the others
// ("certificates.cert-manager.io"), as Resource.String spells it.
func (h *History) KeysOf(resource string) []string {
	var list []string
	for _, r := range h.resources[resource] {
		list = append(list, h.keys[r.from:r.to]...)
	}
	return list
}

// Resources returns the names that KeysOf knows keys for, sorted.
func (h *History) Resources() []string {
	names := make([]string, 0, len(h.resources))
	for n := range h.resources {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// First is the lowest main revision of the history, 0 if there is none; it may
// be that of a carved record.
func (h *History) First() int64 { return h.first }

// Last is the highest main revision that the trees of the merged stores hold, 0
// if there is none. A carved record can be newer. If no store has a tree any
// more it is the highest of all.
func (h *History) Last() int64 { return h.last }

// CompactRevision is the lowest C such that every change in (C, Last] is in the
// history: the stores' own complete ranges (from their compaction to their last
// revision) cover it without a gap. At and below C only what compaction left is
// there, and the carved records: the history has holes. Where two revisions of a
// lifetime have Versions that follow each other, there is none between the two.
// It is 0 if the history is complete from the first write.
func (h *History) CompactRevision() int64 { return h.compact }

// Conflicts lists the revisions that stores disagree about, in order of StoreB
// and revision; at most 1,000 for each store that was not merged.
func (h *History) Conflicts() []Conflict { return slices.Clone(h.conflicts) }
