package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pageSizes are those that machines have, and the smallest that bbolt takes.
var pageSizes = []int{1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10}

func TestPageSizes(t *testing.T) {
	e := story()
	e.put("/registry/configmaps/default/large", strings.Repeat("x", 300_000))
	for i := range 2000 {
		e.put("/registry/pods/default/"+strings.Repeat("p", i%50), strings.Repeat("v", i%700))
	}
	want := list(load(t, e.file(t, filepath.Join(t.TempDir(), "db"))))
	for _, size := range pageSizes {
		e.pageSize = size
		h := load(t, e.file(t, filepath.Join(t.TempDir(), "db")))
		if s := h.Stores()[0]; s.PageSize != size || len(s.Problems) > 0 {
			t.Errorf("page size %d: %+v", size, s)
		}
		if d := cmp.Diff(want, list(h)); d != "" {
			t.Errorf("page size %d (-want +got):\n%s", size, d)
		}
	}
}

// TestPageSizesDamaged carves a compacted store of each page size, then spoils the
// root and salvages the rest.
func TestPageSizesDamaged(t *testing.T) {
	for _, size := range pageSizes {
		e := bigger()
		e.pageSize = size
		path, before := compactedBy(t, e)
		h := load(t, path)
		s := h.Stores()[0]
		if carved := checkRecords(t, h, before); carved == 0 || carved != s.Carved || s.PageSize != size || s.Salvaged != "" || len(s.Problems) > 0 {
			t.Errorf("page size %d: %d carved: %+v", size, carved, s)
		}
		b, err := os.ReadFile(path)
		must(t, err)
		for page := range 2 { // the trees of both transactions
			m, err := readMeta(bytes.NewReader(b), int64(page*size), int64(page))
			must(t, err)
			clear(b[int64(m.root)*m.pageSize:][:size])
		}
		rest, r := salvaged(t, b, before)
		if r.PageSize != size || r.Salvaged == "" || len(r.Lost) == 0 || rest.Len() < h.Len() {
			t.Errorf("page size %d: %d of %d revisions: %+v", size, rest.Len(), h.Len(), r)
		}
	}
}

// TestPageSizeGuessed finds the page size of files without meta pages.
func TestPageSizeGuessed(t *testing.T) {
	for _, size := range pageSizes {
		e := bigger()
		e.pageSize = size
		b, err := os.ReadFile(e.file(t, filepath.Join(t.TempDir(), "db")))
		must(t, err)
		clear(b[:2*size])
		h, s := salvaged(t, b, e)
		if s.PageSize != size || h.Len() != len(e.records) || s.Carved != h.Len() || h.CompactRevision() != h.Last() || h.First() != 2 {
			t.Errorf("page size %d: %d revisions above %d, %+v", size, h.Len(), h.CompactRevision(), s)
		}
	}
}
