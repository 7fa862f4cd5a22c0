package replay

import (
	"k8s.io/utils/third_party/forked/golang/btree"
)

// KeyState is a live key.
type KeyState struct {
	Key                  string
	Create, Mod, Version int64
	// Lease is the lease that the last put named, 0 for none.
	Lease int64
	// Index is the entry that wrote the value, 0 if the base has it.
	Index uint64
}

// keySet are the live keys, by name and in order.
type keySet struct {
	byName map[string]*KeyState
	sorted *btree.BTree[*KeyState]
}

// keyDegree is the width of the tree, the one that etcd's own index has.
const keyDegree = 32

func newKeySet() keySet {
	return keySet{
		byName: map[string]*KeyState{},
		sorted: btree.New(keyDegree, func(a, b *KeyState) bool { return a.Key < b.Key }),
	}
}

// get returns a live key, nil if there is none.
func (s *keySet) get(key []byte) *KeyState { return s.byName[string(key)] }

// add makes a key live that is not.
func (s *keySet) add(k *KeyState) {
	s.byName[k.Key] = k
	s.sorted.ReplaceOrInsert(k)
}

func (s *keySet) remove(k *KeyState) {
	delete(s.byName, k.Key)
	s.sorted.Delete(k)
}

// each calls f for the live keys of a range in order until it returns false. The
// range is written as Op has it. f may not change the set.
func (s *keySet) each(key, rangeEnd []byte, f func(*KeyState) bool) {
	if len(rangeEnd) == 0 {
		if k := s.get(key); k != nil {
			f(k)
		}
		return
	}
	from := &KeyState{Key: string(key)}
	if len(rangeEnd) == 1 && rangeEnd[0] == 0 {
		s.sorted.AscendGreaterOrEqual(from, f)
		return
	}
	s.sorted.AscendRange(from, &KeyState{Key: string(rangeEnd)}, f)
}
