package snapshot

import "slices"

// revisionKeys are the keys that each revision of a run changes.
type revisionKeys struct {
	keys   []uint32
	starts []int // of each revision in keys
}

// add adds a key to the last revision, or to a new one.
func (k *revisionKeys) add(anew bool, key uint32) {
	if anew {
		k.starts = append(k.starts, len(k.keys))
	}
	k.keys = append(k.keys, key)
}

// has says whether the nth revision, from 1 on, changes a key.
func (k *revisionKeys) has(n int64, key uint32) bool {
	if n > int64(len(k.starts)) {
		return false
	}
	to := len(k.keys)
	if n < int64(len(k.starts)) {
		to = k.starts[n]
	}
	return slices.Contains(k.keys[k.starts[n-1]:to], key)
}
