package snapshot

import (
	"path/filepath"
	"testing"

	"etcd-autopsy/fixtures/bigstore"
)

// TestBigStore reads a small one of the stores that the benchmarks use.
func TestBigStore(t *testing.T) {
	for _, stale := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "db")
		want, err := bigstore.WriteSnapshot(path, bigstore.Options{Size: 8 * bigstore.MiB, Seed: 1, Stale: stale})
		must(t, err)
		h := load(t, path)
		s := h.Stores()[0]
		if s.HashOK == nil || !*s.HashOK || len(s.Problems) > 0 || s.Salvaged != "" || s.Schema != "3.6" {
			t.Errorf("stale %v: %+v", stale, s)
		}
		if s.Records != want.Records || s.Last != want.Revision || s.CompactRevision != want.Compact || len(s.Leases) != want.Leases || s.Size != want.Bytes {
			t.Errorf("stale %v: %d records up to %d, compacted at %d, %d leases, %d bytes; want %+v", stale, s.Records, s.Last, s.CompactRevision, len(s.Leases), s.Size, want)
		}
		if stale != (s.Carved*3 > s.Records) || !stale && s.Carved > 0 {
			t.Errorf("stale %v: %d of %d records lie outside the tree", stale, s.Carved, s.Records+s.Carved)
		}
		live := 0
		for _, k := range h.Keys() {
			list := h.Key(k)
			if last := h.At(list[len(list)-1]); !last.Tombstone && !last.Carved {
				live++
			}
		}
		if live != want.Live {
			t.Errorf("stale %v: %d live keys, want %d", stale, live, want.Live)
		}
		objects(t, h)
	}
}

// objects decodes every value.
func objects(t *testing.T, h *History) {
	t.Helper()
	for i := range h.Len() {
		r := h.At(i)
		if _, ok := h.Resource(r.Key); !ok || r.Tombstone {
			continue
		}
		if _, err := h.Object(i); err != nil {
			t.Fatalf("revision %s of %s: %v", revisionName(r.Main, r.Sub), r.Key, err)
		}
	}
}
