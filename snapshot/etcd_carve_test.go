package snapshot

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestCarveAgainstEtcd wants every carved record of a compacted etcd's file to
// be one that a watch had seen before the compaction, byte for byte.
func TestCarveAgainstEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an etcd")
	}
	ctx := context.Background()
	dir := t.TempDir()
	server, client, stop := startEtcd(t)
	exercise(ctx, t, client)
	for i := range 300 {
		_, err := client.Put(ctx, fmt.Sprint("/registry/configmaps/default/c", i%30), fmt.Sprintf("%0*d", i*20, i))
		must(t, err)
		if i%11 == 0 {
			_, err := client.Delete(ctx, fmt.Sprint("/registry/configmaps/default/c", i%30))
			must(t, err)
		}
	}
	get, err := client.Get(ctx, "/registry/a")
	must(t, err)
	last := get.Header.Revision
	seen := map[string]bool{}
	for _, line := range watched(ctx, t, client, 1, last) {
		seen[line] = true
	}
	save(ctx, t, client, filepath.Join(dir, "before")) // a commit
	_, err = client.Compact(ctx, last-40, clientv3.WithCompactPhysical())
	must(t, err)
	after := save(ctx, t, client, filepath.Join(dir, "after"))
	stop()
	for _, path := range []string{after, filepath.Join(server.Config().Dir, "member", "snap", "db")} {
		h := load(t, path)
		s := h.Stores()[0]
		if s.Carved == 0 || len(s.Problems) > 0 || len(h.Contradictions()) > 0 || h.CompactRevision() != last-40 || h.Last() != last {
			t.Errorf("store %+v", s)
		}
		carved := 0
		for _, line := range asWatched(t, h, 0) {
			if !seen[line] {
				t.Errorf("not seen by the watch: %.200s", line)
			}
		}
		for i := range h.Len() {
			if h.At(i).Carved {
				carved++
			}
		}
		if carved != s.Carved {
			t.Errorf("%d carved, the store says %d", carved, s.Carved)
		}
		t.Logf("%d carved, of %d that were compacted away", carved, len(seen)-s.Records)
	}
}
