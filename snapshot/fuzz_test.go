package snapshot

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"
)

// seal makes the checksums of the meta pages right, so that what the fuzzer did
// to them gets past the first check.
func seal(b []byte) {
	for _, at := range []int{0, 1024} {
		if len(b) < at+metaEnd {
			return
		}
		sum := fnv.New64a()
		_, _ = sum.Write(b[at+16 : at+72])
		binary.LittleEndian.PutUint64(b[at+72:], sum.Sum64())
	}
}

// FuzzOpen opens any bytes as a store: no panic, and what is listed is readable.
func FuzzOpen(f *testing.F) {
	small := newEtcdStore().schema("3.6")
	small.pageSize = 1024
	for range 30 {
		small.put("/registry/pods/default/web", "a pod")
	}
	small.del("/registry/pods/default/web")
	for _, path := range []string{small.file(f, filepath.Join(f.TempDir(), "db")), small.saved(f, filepath.Join(f.TempDir(), "db"))} {
		b, err := os.ReadFile(path)
		must(f, err)
		b = b[:min(len(b), 16<<10)]
		f.Add(b, false)
		f.Add(b[:len(b)/2], true)
	}
	path := filepath.Join(f.TempDir(), "fuzz.db")
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if sealed {
			seal(b)
		}
		must(t, os.WriteFile(path, b, 0o600))
		h, err := Load(context.Background(), []File{{Input: "f", Path: "f", OSPath: path}}, Options{})
		must(t, err)
		for i := range h.Len() {
			if _, err := h.Value(i); err != nil {
				t.Errorf("revision %d: %v", h.At(i).Main, err)
			}
			_, _ = h.Object(i)
		}
		if s := h.Stores()[0]; s.Records+s.Carved == 0 && h.Len() > 0 {
			t.Errorf("%d revisions of a store without records", h.Len())
		}
		must(t, h.Close())
	})
}
