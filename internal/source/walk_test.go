package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmptyFolder: a folder without a file is said, unless it lies in another input.
func TestEmptyFolder(t *testing.T) {
	outer := t.TempDir()
	inner := filepath.Join(outer, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		inputs []string
		want   int
	}{{[]string{inner}, 1}, {[]string{outer, inner}, 1}} {
		set, err := Open(context.Background(), c.inputs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(set.Files) != 0 || len(set.Skipped) != c.want || !strings.Contains(set.Skipped[0].Reason, "no file") {
			t.Errorf("%v: %+v", c.inputs, set.Skipped)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	}
}
