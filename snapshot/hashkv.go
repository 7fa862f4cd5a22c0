package snapshot

import (
	"errors"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

// TombstoneRule says whether etcd's HashKV counts a tombstone at the compaction
// revision itself, which changed within 3.4 and 3.5.
type TombstoneRule int

const (
	// TombstoneBySchema takes the rule of the newest patch release of the store's
	// Schema, which leaves the tombstone out.
	TombstoneBySchema TombstoneRule = iota
	// TombstoneSkipped leaves it out: etcd 3.4.34, 3.5.16, 3.6 and newer.
	TombstoneSkipped
	// TombstoneHashed counts it: older ones.
	TombstoneHashed
)

// errNotWhole means that a store's records are not all there.
var errNotWhole = errors.New("the store is not whole: a hash of it means nothing")

// HashKV computes what etcd's HashKV call would answer for a store at a revision
// (0: its last), and the compaction revision that belongs to it (0 if there was
// none, where etcd says -1). For the compaction revision itself a running etcd
// answers with the hash that it took before it removed anything. Salvaged stores
// and revisions outside the store's complete range have none.
func (h *History) HashKV(store int, rev int64) (hash uint32, compact int64, err error) {
	return h.HashKVBy(store, rev, TombstoneBySchema)
}

// HashKVBy is HashKV by a given rule.
func (h *History) HashKVBy(store int, rev int64, rule TombstoneRule) (hash uint32, compact int64, err error) {
	if store < 0 || store >= len(h.stores) {
		return 0, 0, fmt.Errorf("there is no store %d", store)
	}
	return h.stores[store].hashKV(rev, rule)
}

// hashKV checks what is asked for. The last revision of a store is its
// compaction if nothing was written since.
func (s *store) hashKV(rev int64, rule TombstoneRule) (uint32, int64, error) {
	compact, last := s.coverage()
	last = max(compact, last)
	if rev == 0 {
		rev = last
	}
	if rev < compact || rev > last {
		return 0, 0, fmt.Errorf("revision %d is outside %d to %d", rev, compact, last)
	}
	hash, err := s.hashRange(compact, rev, rule)
	return hash, compact, err
}

// hashRange hashes the records up to a revision as if the store was compacted at
// another. It goes through the key bucket twice: to find what a compaction at
// rev would keep, and to hash (etcd v3.7 server/storage/mvcc/hash.go).
func (s *store) hashRange(compact, rev int64, rule TombstoneRule) (uint32, error) {
	if s.db == nil {
		return 0, errNotWhole
	}
	if err := s.unchanged(); err != nil {
		return 0, err
	}
	k := kvHash{rev: rev, compact: compact, hashTombstone: rule == TombstoneHashed}
	err := guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket(keyBucket)
			if b == nil {
				return errNoKeys
			}
			return k.run(b)
		})
	})
	return k.sum, err
}

// kvHash is a HashKV in the making.
type kvHash struct {
	rev, compact  int64
	hashTombstone bool
	newest        map[string]revisionKey // of each key, at rev
	kept          map[revisionKey]bool   // those that are no tombstones
	sum           uint32
}

// castagnoli is the polynomial of all of etcd's checksums.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (k *kvHash) run(b *bbolt.Bucket) error {
	if err := b.ForEach(k.keep); err != nil {
		return err
	}
	k.kept = make(map[revisionKey]bool, len(k.newest))
	for _, r := range k.newest {
		if !r.tombstone {
			k.kept[r] = true
		}
	}
	k.newest = nil
	k.sum = crc32.Update(0, castagnoli, keyBucket)
	return b.ForEach(k.add)
}

// keep notes the newest record of each key; those above the compaction are
// hashed anyway, but hide older ones.
func (k *kvHash) keep(name, value []byte) error {
	r, ok := parseRevisionKey(name)
	if !ok || r.main > k.rev {
		return nil
	}
	kv, err := parseKeyValue(value)
	if err != nil {
		return fmt.Errorf("revision %s: %w", r.name(), err)
	}
	if k.newest == nil {
		k.newest = map[string]revisionKey{}
	}
	k.newest[string(kv.key)] = r
	return nil
}

// add hashes a record unless a compaction would have removed it.
func (k *kvHash) add(name, value []byte) error {
	r, ok := parseRevisionKey(name)
	switch {
	case !ok || r.main > k.rev:
		return nil
	case r.main <= k.compact && len(k.kept) > 0 && !k.kept[r]:
		return nil
	case r.main == k.compact && r.tombstone && !k.hashTombstone:
		return nil
	}
	k.sum = crc32.Update(crc32.Update(k.sum, castagnoli, name), castagnoli, value)
	return nil
}
