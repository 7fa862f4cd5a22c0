package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// flip changes bits of one byte of a file, and its time with it.
func flip(t testing.TB, path string, offset int64, bits byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	b[offset] ^= bits
	must(t, os.WriteFile(path, b, 0o600))
	must(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)))
}

// bigger is a store with branch pages, a value on overflow pages and a bucket
// page of its own for members.
func bigger() *etcdStore {
	e := story()
	e.put("/registry/configmaps/default/large", strings.Repeat("x", 20_000))
	for i := range 400 {
		e.put(fmt.Sprint("/registry/pods/default/p", i), strings.Repeat("v", i))
	}
	for i := range 100 {
		e.others["members_removed"][fmt.Sprintf("%x", i)] = []byte("removed")
	}
	return e
}

func TestNoStore(t *testing.T) {
	text := bytes.Repeat([]byte("kind: ConfigMap\n"), 1000)
	garbage := make([]byte, 20_000)
	src := rand.New(rand.NewPCG(1, 2))
	for i := range garbage {
		garbage[i] = byte(src.Uint32())
	}
	bigEndian := make([]byte, 8192)
	copy(bigEndian[16:], "\xed\x0c\xda\xed\x00\x00\x00\x02")
	tests := []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty", nil, "the file is empty"},
		{"one byte", []byte{1}, "not an etcd store"},
		{"trailer only", make([]byte, 32), "the file is empty"},
		{"zeros", make([]byte, 40_000), "nothing but zeros (40000 bytes): not an etcd store"},
		{"short zeros", make([]byte, 10), "nothing but zeros (10 bytes): not an etcd store"},
		{"text", text, "text, not an etcd store"},
		{"garbage", garbage, "not an etcd store: no bbolt meta page"},
		{"big-endian", bigEndian, "written by a big-endian machine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			must(t, os.WriteFile(path, tt.content, 0o600))
			s := load(t, path).Stores()[0]
			if len(s.Problems) == 0 || !strings.HasPrefix(s.Problems[len(s.Problems)-1], tt.want) || s.Records != 0 {
				t.Errorf("problems %q, want %q", s.Problems, tt.want)
			}
		})
	}
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{filepath.Join(dir, "none"): "no such file", dir: "not a regular file"} {
		if p := load(t, path).Stores()[0].Problems; len(p) != 1 || !strings.Contains(p[0], want) {
			t.Errorf("%s: %q", want, p)
		}
	}
}

func TestTruncated(t *testing.T) {
	whole, err := os.ReadFile(bigger().saved(t, filepath.Join(t.TempDir(), "db")))
	must(t, err)
	body := len(whole) - trailerSize
	for _, n := range []int{60, 4096, 4100, 8192, 8192 + 500, 3 * 4096, body / 2, body - 4096, body - 1} {
		path := filepath.Join(t.TempDir(), "cut.db")
		must(t, os.WriteFile(path, whole[:n], 0o600))
		s := load(t, path).Stores()[0]
		want := fmt.Sprintf("says %d bytes, file has %d; first missing byte is offset %d", body, n, n)
		if n < metaEnd {
			want = "damaged: meta page 0 (offset 0): only 60 bytes"
		}
		if s.Records != 0 || len(s.Problems) == 0 || !strings.Contains(s.Problems[0], want) || s.Carved > 0 && !strings.Contains(s.Salvaged, want) {
			t.Errorf("cut at %d: %q, want %q", n, s.Problems, want)
		}
		if n == body/2 && (s.Carved < 200 || len(s.Lost) != 1 || s.Lost[0].From != 1 || s.Lost[0].To != 0) {
			t.Errorf("cut in the middle: %d carved, lost %v", s.Carved, s.Lost)
		}
	}
}

func TestBrokenMeta(t *testing.T) {
	for _, size := range []int{4096, 16384, 65536} {
		e := bigger()
		e.pageSize = size
		path := e.file(t, filepath.Join(t.TempDir(), "db"))
		before := load(t, path)
		want := before.Len()
		flip(t, path, 40, 1)
		s := load(t, path).Stores()[0]
		said(t, s, "is used, which may be the last but one")
		if s.Records == 0 || s.PageSize != size || len(s.Problems) == 0 || !strings.HasPrefix(s.Problems[0], "meta page 0 (offset 0): checksum") {
			t.Errorf("first meta page damaged: %+v", s)
		}
		flip(t, path, int64(size)+40, 1)
		if p := load(t, path).Stores()[0].Problems; len(p) != 1 || !strings.HasPrefix(p[0], "damaged: meta page 0 (offset 0)") || !strings.Contains(p[0], "411 revisions from its pages") {
			t.Errorf("both meta pages damaged: %q", p)
		}
		flip(t, path, 40, 1)
		h := load(t, path)
		if p := h.Stores()[0].Problems; len(p) == 0 || !strings.HasPrefix(p[0], fmt.Sprintf("meta page 1 (offset %d): checksum", size)) {
			t.Errorf("second meta page damaged: %q", p)
		}
		if h.Len() > want {
			t.Errorf("%d revisions, there are %d", h.Len(), want)
		}
	}
}

func TestHashMismatch(t *testing.T) {
	path := bigger().saved(t, filepath.Join(t.TempDir(), "db"))
	b, err := os.ReadFile(path)
	must(t, err)
	at := bytes.Index(b, bytes.Repeat([]byte("x"), 1000)) + 500 // inside a value
	flip(t, path, int64(at), 1)
	s := load(t, path).Stores()[0]
	if s.HashOK == nil || *s.HashOK || s.Records == 0 {
		t.Errorf("%+v", s)
	}
	if len(s.Problems) != 1 || !strings.HasPrefix(s.Problems[0], "the SHA-256 at its end") {
		t.Errorf("problems %q", s.Problems)
	}
}

// TestPageDamage breaks one field of a page at a time and wants the page and its
// offset to be named.
func TestPageDamage(t *testing.T) {
	path := bigger().file(t, filepath.Join(t.TempDir(), "db"))
	whole, err := os.ReadFile(path)
	must(t, err)
	meta, err := readMeta(bytes.NewReader(whole), 0, 0)
	must(t, err)
	if second, err := readMeta(bytes.NewReader(whole), 4096, 1); err == nil && second.txid > meta.txid {
		meta = second
	}
	root := int64(meta.root) * 4096
	tests := []struct {
		name   string
		offset int64
		bytes  []byte
		want   string
	}{
		{"id", root, []byte{0xff}, "its header says it is page"},
		{"flags", root + 8, []byte{0x10}, "neither branch nor leaf"},
		{"no flags", root + 8, []byte{0}, "neither branch nor leaf"},
		{"count", root + 10, []byte{0xff, 0xff}, "elements do not fit"},
		{"overflow", root + 12, []byte{0xff, 0xff, 0xff, 0xff}, "runs on for"},
		{"element position", root + 16 + 4, []byte{0xff, 0xff, 0xff, 0xff}, "is not within the page's"},
		{"element before the table", root + 16 + 4, []byte{0, 0, 0, 0}, "is not within the page's"},
		{"key size", root + 16 + 8, []byte{0xff, 0xff, 0xff, 0xff}, "has a key of 4294967295 bytes"},
		{"key beyond the page", root + 16 + 8, []byte{0, 0x70, 0, 0}, "is not within the page's"},
		{"element flags", root + 16, []byte{6}, "has flags 0x6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := bytes.Clone(whole)
			copy(b[tt.offset:], tt.bytes)
			must(t, os.WriteFile(path, b, 0o600))
			h := load(t, path)
			p := h.Stores()[0].Problems
			place := fmt.Sprintf("damaged: page %d (offset %d): ", meta.root, root)
			if len(p) == 0 || !strings.HasPrefix(p[0], place) || !strings.Contains(p[0], tt.want) || !strings.Contains(p[0], "salvage") {
				t.Errorf("problems %q, want %q and %q", p, place, tt.want)
			}
			if h.Len() != 411 {
				t.Errorf("%d of 411 revisions", h.Len())
			}
		})
	}
}

// TestBitFlips flips random bits all over a store: it is read all the same, what
// is listed is readable, and no more is missing than the page that was hit.
func TestBitFlips(t *testing.T) {
	path := bigger().file(t, filepath.Join(t.TempDir(), "db"))
	whole, err := os.ReadFile(path)
	must(t, err)
	meta, err := readMeta(bytes.NewReader(whole), 0, 0)
	must(t, err)
	used := int(meta.highWater) * 4096
	src := rand.New(rand.NewPCG(3, 4))
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	salvaged := 0
	for n := range rounds {
		b := bytes.Clone(whole)
		page := n % (used / 4096) // every page has its turn
		for range 1 + src.IntN(3) {
			within := src.IntN(4096)
			if src.IntN(2) == 0 {
				within = src.IntN(200) // where the headers are
			}
			b[page*4096+within] ^= 1 << src.IntN(8)
		}
		must(t, os.WriteFile(path, b, 0o600))
		h, err := Load(context.Background(), []File{{Input: "db", Path: "db", OSPath: path}}, Options{})
		must(t, err)
		s := h.Stores()[0]
		if s.Salvaged != "" {
			salvaged++
			if len(s.Problems) == 0 {
				t.Fatalf("round %d: salvaged without a problem", n)
			}
		}
		if h.Len() < 411 && len(s.Problems) == 0 {
			t.Fatalf("round %d: %d revisions of 411, and nothing is said", n, h.Len())
		}
		if h.Len() < 320 || h.Len() > 414 {
			t.Fatalf("round %d: %d revisions, there are 411: %+v", n, h.Len(), s)
		}
		for i := range h.Len() {
			if _, err := h.Value(i); err != nil {
				t.Fatalf("round %d: value of revision %v: %v", n, h.At(i).Main, err)
			}
		}
		must(t, h.Close())
	}
	if salvaged == 0 || salvaged == rounds {
		t.Errorf("%d of %d stores were salvaged", salvaged, rounds)
	}
}

// TestChangedWhileOpen has somebody write to a file after it was loaded.
func TestChangedWhileOpen(t *testing.T) {
	path := bigger().file(t, filepath.Join(t.TempDir(), "db"))
	h := load(t, path)
	must(t, os.Truncate(path, 8192))
	if _, err := h.Value(0); !errors.Is(err, errChanged) {
		t.Errorf("value of a changed file: %v", err)
	}
}

// TestInputsUntouched wants a store of mode 0444 in a folder of mode 0555 to be
// read and left as it is.
func TestInputsUntouched(t *testing.T) {
	dir := t.TempDir()
	path := bigger().saved(t, filepath.Join(dir, "db"))
	must(t, os.Chmod(path, 0o444))
	must(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { must(t, os.Chmod(dir, 0o755)) })
	state := func() string {
		b, err := os.ReadFile(path)
		must(t, err)
		info, err := os.Stat(path)
		must(t, err)
		entries, err := os.ReadDir(dir)
		must(t, err)
		return fmt.Sprintf("%x %v %v %v", sha256.Sum256(b), info.ModTime(), info.Mode(), entries)
	}
	before := state()
	h := load(t, path)
	if h.Len() == 0 {
		t.Fatalf("not read: %q", h.Stores()[0].Problems)
	}
	_, err := h.Value(0)
	must(t, err)
	must(t, h.Close())
	if after := state(); after != before {
		t.Errorf("changed:\n%s\n%s", before, after)
	}
}

func TestCancelled(t *testing.T) {
	path := bigger().saved(t, filepath.Join(t.TempDir(), "db"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, []File{{OSPath: path}}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	files := []File{{OSPath: bigger().saved(t, filepath.Join(dir, "a"))}, {OSPath: bigger().file(t, filepath.Join(dir, "b"))}, {OSPath: filepath.Join(dir, "none")}}
	var want, got int64
	for _, f := range files[:2] {
		info, err := os.Stat(f.OSPath)
		must(t, err)
		want += info.Size()
	}
	h, err := Load(context.Background(), files, Options{Progress: func(done int64) {
		if done < got {
			t.Errorf("progress went back from %d to %d", got, done)
		}
		got = done
	}})
	must(t, err)
	must(t, h.Close())
	if got != want {
		t.Errorf("progress ended at %d of %d", got, want)
	}
}
