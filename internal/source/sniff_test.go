package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// boltFile is four pages of a bbolt file, of which some are valid meta pages.
func boltFile(size int, metas ...int) []byte {
	b := bytes.Repeat([]byte{1}, 4*size)
	for _, page := range metas {
		m := b[page*size:]
		clear(m[:80])
		copy(m[16:], boltMark)
		binary.LittleEndian.PutUint32(m[24:], uint32(size))
		sum := fnv.New64a()
		_, _ = sum.Write(m[16:72])
		binary.LittleEndian.PutUint64(m[72:], sum.Sum64())
	}
	return b
}

func archive(t *testing.T, kind string) string {
	t.Helper()
	var b bytes.Buffer
	switch kind {
	case "gzip":
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte("text"))
		must(t, err)
		must(t, w.Close())
	case "zip":
		w := zip.NewWriter(&b)
		_, err := w.Create("a")
		must(t, err)
		must(t, w.Close())
	case "tar":
		w := tar.NewWriter(&b)
		must(t, w.WriteHeader(&tar.Header{Name: "a.log", Mode: 0o600, Size: 0}))
		must(t, w.Close())
	}
	return b.String()
}

func TestKinds(t *testing.T) {
	zeros := strings.Repeat("\x00", 100_000)
	wal := "\x04\x00\x00\x00\x00\x00\x00\x84\x08\x04\x10\x00\x00\x00\x00\x00" + zeros
	tests := []struct {
		path    string
		content string
		want    Kind
	}{
		{"empty", "", KindEmpty},
		{"zeros.db", zeros, KindZeros},
		{"one", "\x00", KindZeros},
		{"db", string(boltFile(4096, 0, 1)), KindBolt},
		{"cut.db", string(boltFile(4096, 0, 1)[:100]), KindBolt},
		{"first-broken-4k.db", string(boltFile(4096, 1)), KindBolt},
		{"first-broken-64k.db", string(boltFile(65536, 1)), KindBolt},
		{"first-zero.db", zeros[:16384] + string(boltFile(16384, 1)[16384:]), KindBolt},
		{"s390x.db", zeros[:16] + "\xed\x0c\xda\xed\x00\x00\x00\x02" + zeros[:100], KindBolt},
		{"wal/0000000000000000-0000000000000000.wal", wal, KindWAL},
		{"renamed", wal, KindWAL},
		{"crc-5-bytes", "\x08\x00\x00\x00\x00\x00\x00\x00\x08\x04\x10\xff\xff\xff\xff\x0f", KindWAL},
		{"crc-4-bytes", "\x07\x00\x00\x00\x00\x00\x00\x81\x08\x04\x10\xff\xff\xff\x7f\x00", KindWAL},
		{"wrong padding", "\x07\x00\x00\x00\x00\x00\x00\x82\x08\x04\x10\xff\xff\xff\x7f\x00", KindBinary},
		{"wal/0.tmp", zeros, KindWAL},
		{"other/1.tmp", zeros, KindZeros},
		{"beside/0000000000000001-00000000000000ff.wal", zeros, KindWAL},
		{"beside/1.tmp", zeros, KindWAL},
		{"wal/text.tmp", "text\n", KindText},
		{"a.gz", archive(t, "gzip"), KindArchive},
		{"a.zip", archive(t, "zip"), KindArchive},
		{"a.tar", archive(t, "tar"), KindArchive},
		{"a.zst", "\x28\xb5\x2f\xfd\x00", KindArchive},
		{"a.xz", "\xfd7zXZ\x00\x00", KindArchive},
		{"a.bz2", "BZh91AY&SY\x00", KindArchive},
		{"BZh is a word", "BZhello world\n", KindText},
		{"plain.log", "I0102 15:04:05.000000 1 main.go:1] hello\n", KindText},
		{"store.db", "this is text\n", KindText},
		{"colour.log", "\x1b[31mred\x1b[0m\r\n\ttab\n", KindText},
		{"chinese.log", strings.Repeat("构建", 3000), KindText}, // cut within a character
		{"latin1.log", strings.Repeat("a line without anything odd\n", 10) + "caf\xe9\n", KindText},
		{"torn.log", strings.Repeat("a line\n", 1000) + "\x00\x00\x00", KindText},
		{"utf16.log", "\xff\xfea\x00b\x00", KindText},
		{"utf16be.log", "\xfe\xff\x00a\x00b", KindText},
		{"bom.log", "\xef\xbb\xbfhello", KindText},
		{"renamed.snap", "\x08\xe5\x12\x12\x05text.", KindSnap},
		{"longer.snap", "\x08\xe5\x12\x12\x05text..", KindBinary},
		{"raft.snap", "\x08\xe5\x12\x05\x12\xff\x7f{\"json\":1}" + strings.Repeat("text", 100), KindBinary},
		{"high", strings.Repeat("\xe9\xe8", 100), KindBinary},
		{"zero inside", "abc\x00def", KindBinary},
	}
	root := t.TempDir()
	for _, tt := range tests {
		path := filepath.Join(root, tt.path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(tt.content), 0o600))
	}
	for _, tt := range tests {
		f := File{OSPath: filepath.Join(root, tt.path)}
		must(t, f.sniff())
		if f.Kind != tt.want {
			t.Errorf("%s is %q, want %q", tt.path, f.Kind, tt.want)
		}
	}
}

func FuzzKind(f *testing.F) {
	f.Add([]byte("text\n"))
	f.Add(boltFile(1024, 1))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got := kindOf(b[:min(len(b), blockSize)], bytes.NewReader(b), int64(len(b)), "x")
		if (got == KindEmpty) != (len(b) == 0) {
			t.Fatalf("%d bytes are %q", len(b), got)
		}
	})
}
