package replay

import "slices"

// facts say which revisions wrote which keys.
type facts struct {
	byKey    map[string][]int64
	owner    map[int64]string // the key that a revision wrote
	shared   map[int64]bool   // revisions that wrote several keys
	recorded map[string]bool  // the keys that have records
}

func newFacts(records []Record) *facts {
	f := &facts{byKey: map[string][]int64{}, owner: map[int64]string{}, shared: map[int64]bool{}, recorded: map[string]bool{}}
	for _, r := range records {
		f.add(r.Main, r.Key)
		f.recorded[r.Key] = true
	}
	return f
}

// plausible says whether an etcd can have got to a revision.
func plausible(revision int64) bool { return revision > 0 && revision <= maxRevision }

// add says that a revision wrote a key.
func (f *facts) add(revision int64, key string) {
	if !plausible(revision) {
		return
	}
	f.byKey[key] = append(f.byKey[key], revision)
	if old, ok := f.owner[revision]; ok && old != key {
		f.shared[revision] = true
	}
	f.owner[revision] = key
}

func (f *facts) sort() {
	for key, revisions := range f.byKey {
		slices.Sort(revisions)
		f.byKey[key] = slices.Compact(revisions)
	}
}

// next returns the first revision above another that is known to have written a
// key, 0 if there is none.
func (f *facts) next(key string, above int64) int64 {
	revisions := f.byKey[key]
	i, found := slices.BinarySearch(revisions, above)
	if found {
		i++
	}
	if i == len(revisions) {
		return 0
	}
	return revisions[i]
}

// foreign says whether a revision is known to have written other keys only.
func (f *facts) foreign(revision int64, key string) bool {
	owner, ok := f.owner[revision]
	return ok && owner != key && !f.shared[revision]
}
