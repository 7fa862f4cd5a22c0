package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// sparse makes a file with data at some offsets and holes around them.
func sparse(t testing.TB, size int64, data map[int64]string) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(path)
	must(t, err)
	for at, b := range data {
		_, err := f.WriteAt([]byte(b), at)
		must(t, err)
	}
	must(t, f.Truncate(size))
	must(t, f.Close())
	return &File{OSPath: path, Size: size}
}

func TestDigest(t *testing.T) {
	tests := []struct {
		name string
		size int64
		data map[int64]string
	}{
		{"empty", 0, nil},
		{"small", 3, map[int64]string{0: "abc"}},
		{"one hole", 5_000_001, nil},
		{"hole at the end", 9_000_000, map[int64]string{0: "head"}},
		{"hole at the start", 9_000_000, map[int64]string{8_999_990: "end"}},
		{"holes between", 20_000_000, map[int64]string{0: "head", 7_000_000: "middle", 19_999_999: "e"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := sparse(t, tt.size, tt.data)
			b, err := os.ReadFile(f.OSPath)
			must(t, err)
			want := sha256.Sum256(b)
			var done int64
			got, err := f.Digest(context.Background(), func(n int64) { done += n })
			must(t, err)
			if got != hex.EncodeToString(want[:]) || done != tt.size {
				t.Errorf("digest %s after %d bytes, want %x after %d", got, done, want, tt.size)
			}
		})
	}
}

func TestDigestErrors(t *testing.T) {
	f := sparse(t, 10, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Digest(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := (&File{OSPath: f.OSPath + "x"}).Digest(context.Background(), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestHead(t *testing.T) {
	f := sparse(t, 3, map[int64]string{0: "abc"})
	for n, want := range map[int]string{0: "", 2: "ab", 3: "abc", 9: "abc"} {
		if got, err := f.Head(n); err != nil || string(got) != want {
			t.Errorf("Head(%d) is %q, %v", n, got, err)
		}
	}
}

// BenchmarkDigest hashes a WAL segment as etcd leaves it: 64 MB, nearly all of
// it a hole.
func BenchmarkDigest(b *testing.B) {
	f := sparse(b, 64_000_000, map[int64]string{0: "head", 2_000_000: "end"})
	b.SetBytes(f.Size)
	for b.Loop() {
		if _, err := f.Digest(context.Background(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
