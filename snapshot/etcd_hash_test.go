package snapshot

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestHashKVAgainstEtcd compares hashes of snapshots with what etcd answers.
func TestHashKVAgainstEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an etcd")
	}
	ctx := context.Background()
	_, client, _ := startEtcd(t)
	middle := exercise(ctx, t, client)
	c := compactions(ctx, t, client)
	before := load(t, save(ctx, t, client, filepath.Join(t.TempDir(), "before")))
	hashesAgree(ctx, t, client, before, 1, TombstoneBySchema)
	if compactedHashesAgree(ctx, t, client, append([]int64{middle}, c...), TombstoneBySchema) == 0 {
		t.Error("both rules hash the same: they were not told apart")
	}
}

// compactions writes what is odd to compact, and returns the revisions at which to
// do that: one that deletes a key, and one that deletes all, after which there are
// revisions at which no key is left. HashKV has a rule for each (etcd v3.6
// server/storage/mvcc/hash.go).
func compactions(ctx context.Context, t *testing.T, c *clientv3.Client) []int64 {
	t.Helper()
	_, err := c.Put(ctx, "/registry/gone", "x")
	must(t, err)
	one, err := c.Delete(ctx, "/registry/gone")
	must(t, err)
	_, err = c.Put(ctx, "/registry/b", "x")
	must(t, err)
	all, err := c.Delete(ctx, "/", clientv3.WithPrefix())
	must(t, err)
	if one.Deleted != 1 || all.Deleted < 2 {
		t.Fatalf("deleted %d and %d keys", one.Deleted, all.Deleted)
	}
	_, err = c.Put(ctx, "/registry/short", "lived")
	must(t, err)
	_, err = c.Delete(ctx, "/registry/short")
	must(t, err)
	_, err = c.Put(ctx, "/registry/a", "after all")
	must(t, err)
	return []int64{one.Header.Revision, all.Header.Revision}
}

// compactedHashesAgree compacts etcd at each of the revisions, compares the hashes
// of what is left, and returns how many of them depend on the rule.
func compactedHashesAgree(ctx context.Context, t *testing.T, c *clientv3.Client, at []int64, rule TombstoneRule) (depend int) {
	t.Helper()
	for _, rev := range at {
		_, err := c.Compact(ctx, rev, clientv3.WithCompactPhysical())
		must(t, err)
		h := load(t, save(ctx, t, c, filepath.Join(t.TempDir(), fmt.Sprint("compacted at ", rev))))
		if h.Stores()[0].CompactRevision != rev {
			t.Errorf("compacted at %d, the store says %d", rev, h.Stores()[0].CompactRevision)
		}
		hashesAgree(ctx, t, c, h, rev+1, rule)
		for r := rev + 1; r <= h.Last(); r++ {
			skipped, _, err := h.HashKVBy(0, r, TombstoneSkipped)
			must(t, err)
			hashed, _, err := h.HashKVBy(0, r, TombstoneHashed)
			must(t, err)
			if skipped != hashed {
				depend++
			}
		}
	}
	return depend
}

// hashesAgree compares the HashKV of every revision from one on with what etcd
// answers.
func hashesAgree(ctx context.Context, t *testing.T, c *clientv3.Client, h *History, from int64, rule TombstoneRule) {
	t.Helper()
	endpoint := ""
	if e := c.Endpoints(); len(e) > 0 { // none of an embedded etcd
		endpoint = e[0]
	}
	for rev := from; rev <= h.Last(); rev++ {
		want, err := c.HashKV(ctx, endpoint, rev)
		must(t, err)
		got, compact, err := h.HashKVBy(0, rev, rule)
		must(t, err)
		if got != want.Hash || compact != max(want.CompactRevision, 0) {
			t.Fatalf("%s, revision %d: hash %d, compacted %d; etcd says %d and %d", h.Stores()[0].Path, rev, got, compact, want.Hash, want.CompactRevision)
		}
	}
}
