package snapshot

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"

	"etcd-autopsy/snapshot/replay"
)

// errIncomplete means that records are missing that a hash would need.
var errIncomplete = errors.New("the history is not complete from its first write: a hash of it means nothing")

// CompactionHash computes the hash that etcd takes of its store when it compacts
// it at a revision: over all records up to it, before any is removed, as left by
// the compaction before (-1 for none). etcd prints it ("storing new hash": etcd
// v3.6 server/storage/mvcc/hash.go), so a log can prove that the history is the
// store's, byte for byte. The error is of ctx, of a value that cannot be read, or
// says that the history is not complete.
func (h *History) CompactionHash(ctx context.Context, rev, before int64, rule TombstoneRule) (uint32, error) {
	if h.compact > 0 || rev > h.last {
		return 0, errIncomplete
	}
	newest := make([]int32, len(h.keys)) // the newest record of each key, counted from 1
	end := h.after(rev)
	for i := range end {
		newest[h.revisions[i].key] = int32(i + 1)
	}
	sum := crc32.Update(0, castagnoli, keyBucket)
	var name, value []byte
	for i := range end {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		r := &h.revisions[i]
		if r.main <= before && (int(newest[r.key]) != i+1 || r.tombstone()) {
			continue
		}
		if r.main == before && r.tombstone() && rule != TombstoneHashed {
			continue
		}
		c := replay.Change{Main: r.main, Sub: int64(r.sub), Key: h.keys[r.key], Tombstone: r.tombstone(), Create: r.create, Version: r.version, Lease: r.leased}
		if !r.tombstone() {
			v, err := h.Value(i)
			if err != nil {
				return 0, fmt.Errorf("hash revision %s: %w", r.name(), err)
			}
			c.Value = v
		}
		name, value = c.AppendRevision(name[:0]), c.AppendKeyValue(value[:0])
		sum = crc32.Update(crc32.Update(sum, castagnoli, name), castagnoli, value)
	}
	return sum, nil
}
