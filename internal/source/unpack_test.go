package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

var packTime = time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)

// packed are files in the order of a tar.
type packedFile struct {
	name, text string
	kind       byte
}

func tarOf(t testing.TB, files ...packedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text)), ModTime: packTime, Typeflag: f.kind}
		if f.kind == tar.TypeSymlink || f.kind == tar.TypeLink {
			h.Linkname, h.Size = f.text, 0
			f.text = ""
		}
		check(t, w.WriteHeader(h))
		_, err := w.Write([]byte(f.text))
		check(t, err)
	}
	check(t, w.Close())
	return b.Bytes()
}

func zipOf(t testing.TB, files ...packedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		out, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: packTime})
		check(t, err)
		_, err = out.Write([]byte(f.text))
		check(t, err)
	}
	check(t, w.Close())
	return b.Bytes()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// coders compress a stream.
var coders = map[string]func(t testing.TB, data []byte) []byte{
	"gz": func(t testing.TB, data []byte) []byte {
		return coded(t, data, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	},
	"zst": func(t testing.TB, data []byte) []byte {
		return coded(t, data, func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			check(t, err)
			return z
		})
	},
	"xz": func(t testing.TB, data []byte) []byte {
		return coded(t, data, func(w io.Writer) io.WriteCloser {
			z, err := xz.NewWriter(w)
			check(t, err)
			return z
		})
	},
	"s2": func(t testing.TB, data []byte) []byte {
		return coded(t, data, func(w io.Writer) io.WriteCloser { return s2.NewWriter(w) })
	},
	"bz2": bzip2Of,
}

func coded(t testing.TB, data []byte, open func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	_, err := w.Write(data)
	check(t, err)
	check(t, w.Close())
	return b.Bytes()
}

// bzip2Of asks the bzip2 of the system: no library writes it.
func bzip2Of(t testing.TB, data []byte) []byte {
	t.Helper()
	if _, err := exec.LookPath("bzip2"); err != nil {
		t.Skip("no bzip2 on this machine")
	}
	cmd := exec.Command("bzip2", "-c")
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	check(t, err)
	return out
}

// openPacked opens one file with some content, and lists what is in it: path and
// text; then what was skipped, and the problems.
func openPacked(t testing.TB, name string, data []byte, limits Limits) (files map[string]string, said string, set *Set) {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(p, data, 0o600))
	set, err := Open(context.Background(), []string{p}, Options{TempDir: t.TempDir(), Limits: limits})
	check(t, err)
	t.Cleanup(func() { check(t, set.Close()) })
	files = map[string]string{}
	var lines []string
	for _, f := range set.Files {
		for _, x := range f.Problems {
			lines = append(lines, f.Path+": "+x)
		}
		if f.Kind == KindArchive {
			continue
		}
		r, err := f.Open()
		check(t, err)
		text, err := io.ReadAll(r)
		check(t, errors.Join(err, r.Close()))
		files[f.Path] = string(text)
	}
	for _, s := range set.Skipped {
		lines = append(lines, s.Path+": "+s.Reason)
	}
	return files, strings.Join(lines, "\n"), set
}

// longText is more than a block, so that it is stored compressed.
var longText = strings.Repeat("2026-11-30T21:00:00Z a line of a log\n", 1000)

func TestUnpackForms(t *testing.T) {
	files := []packedFile{{"a/long.log", longText, 0}, {"a/short.txt", "short", 0}, {"b/zeros.bin", strings.Repeat("\x00", 200000) + "end", 0}}
	want := map[string]string{}
	for _, f := range files {
		want[f.name] = f.text
	}
	forms := map[string][]byte{"x.tar": tarOf(t, files...), "x.zip": zipOf(t, files...)}
	for name, code := range coders {
		t.Run(name, func(t *testing.T) {
			got, said, _ := openPacked(t, "bundle", code(t, tarOf(t, files...)), Limits{})
			compareFiles(t, got, said, want)
			got, said, set := openPacked(t, "long.log."+name, code(t, []byte(longText)), Limits{})
			compareFiles(t, got, said, map[string]string{"long.log." + name: longText})
			if f := set.Files[0]; f.Kind != KindText || f.Size == int64(len(longText)) {
				t.Errorf("%+v", f)
			}
		})
	}
	for name, data := range forms {
		got, said, _ := openPacked(t, name, data, Limits{})
		compareFiles(t, got, said, want)
	}
}

func compareFiles(t *testing.T, got map[string]string, said string, want map[string]string) {
	t.Helper()
	if said != "" {
		t.Errorf("said %s", said)
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s has %d bytes, want %d", name, len(got[name]), len(text))
		}
	}
}

// Archives in archives have the path of each in theirs.
func TestUnpackNested(t *testing.T) {
	inner := zipOf(t, packedFile{"deep/x.log", longText, 0})
	middle := coders["zst"](t, tarOf(t, packedFile{"inner.zip", string(inner), 0}, packedFile{"y.log.gz", string(coders["gz"](t, []byte("y"))), 0}))
	outer := tarOf(t, packedFile{"m/middle.tar.zst", string(middle), 0})
	got, said, set := openPacked(t, "outer.tar", outer, Limits{})
	compareFiles(t, got, said, map[string]string{"m/middle.tar.zst/inner.zip/deep/x.log": longText, "m/middle.tar.zst/y.log.gz": "y"})
	kinds := map[string]bool{}
	for _, f := range set.Files {
		kinds[f.Path] = f.Unpacked
	}
	for _, a := range []string{"outer.tar", "m/middle.tar.zst", "m/middle.tar.zst/inner.zip"} {
		if !kinds[a] {
			t.Errorf("%s is not listed as unpacked", a)
		}
	}
	// In a folder an archive keeps its own name before its entries.
	dir := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(dir, "in", "sub"), 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "in", "sub", "z.zip"), inner, 0o600))
	set, err := Open(context.Background(), []string{filepath.Join(dir, "in")}, Options{TempDir: t.TempDir()})
	check(t, err)
	defer func() { check(t, set.Close()) }()
	if !slices.ContainsFunc(set.Files, func(f *File) bool {
		return f.Path == "sub/z.zip/deep/x.log" && f.Input == "in" && f.ModTime.Equal(packTime)
	}) {
		t.Errorf("%+v", set.Files)
	}
}

func TestUnpackHostile(t *testing.T) {
	ok := packedFile{"ok.txt", "ok", 0}
	tests := []struct {
		name string
		data []byte
		want string // said
		ok   bool   // ok.txt is there
	}{
		{"parent folder", tarOf(t, packedFile{"../../etc/passwd", "x", 0}, ok), "../../etc/passwd: path with .., left out", true},
		{"absolute", tarOf(t, packedFile{"/etc/passwd", "x", 0}, ok), "absolute path", true},
		{"windows drive", tarOf(t, packedFile{`C:\x`, "x", 0}, ok), "absolute path", true},
		{"backslashes", zipOf(t, packedFile{`a\..\..\x`, "x", 0}, ok), "path with ..", true},
		{"symlink out", tarOf(t, packedFile{"l", "/etc", tar.TypeSymlink}, packedFile{"l/x", "x", 0}, ok), "l: symbolic link, not followed", true},
		{"hard link", tarOf(t, packedFile{"l", "ok.txt", tar.TypeLink}, ok), "l: hard link", true},
		{"device", tarOf(t, packedFile{"d", "", tar.TypeBlock}, packedFile{"p", "", tar.TypeFifo}, ok), "d: device", true},
		{"twice", tarOf(t, ok, packedFile{"./ok.txt", "other", 0}), "ok.txt: a second entry of this name", true},
		{"file and folder", tarOf(t, packedFile{"a", "x", 0}, packedFile{"a/b", "x", 0}, ok), "a/b: cannot be stored", true},
		{"long name", tarOf(t, packedFile{strings.Repeat("n", 300), "x", 0}, ok), "cannot be stored", true},
		{"very long name", tarOf(t, packedFile{strings.Repeat("n/", 5000) + "x", "x", 0}, ok), "longer than 4096", true},
		{"control characters", tarOf(t, packedFile{"../a\n\x1b[31m", "x", 0}, ok), "../a??[31m: path with ..", true},
		{"7-Zip", []byte("7z\xbc\xaf\x27\x1c rest of it, which nobody reads"), "7-Zip archives are not unpacked", false},
		{"half a gzip head", []byte("\x1f\x8b\x08"), "gzip stream cannot be read: it is cut", false},
		{"no directory", zipOf(t, ok)[:40], "directory cannot be read", false},
		{"directory cut", zipOf(t, ok, packedFile{"b.txt", longText, 0})[:200], "the entries before the cut are used", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, said, _ := openPacked(t, "x", tt.data, Limits{})
			if !strings.Contains(said, tt.want) || (got["ok.txt"] == "ok") != tt.ok {
				t.Errorf("said %q; files %v", said, got)
			}
		})
	}
}

// A stream that is cut anywhere gives what came before, and says so.
func TestUnpackCut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300000)
	for i := range noise {
		noise[i] = byte('a' + r.IntN(20))
	}
	whole := tarOf(t, packedFile{"first.txt", "first", 0}, packedFile{"noise.txt", string(noise), 0}, packedFile{"last.txt", "last", 0})
	for name, code := range coders {
		t.Run(name, func(t *testing.T) {
			data := code(t, whole)
			got, said, _ := openPacked(t, "x", data[:len(data)*2/3], Limits{})
			if name != "bz2" && name != "xz" && name != "s2" && (got["first.txt"] != "first" || len(got["noise.txt"]) == 0) {
				t.Errorf("files %d %d", len(got["first.txt"]), len(got["noise.txt"]))
			}
			if !strings.HasPrefix(string(noise), got["noise.txt"]) || got["last.txt"] != "" || !strings.Contains(said, "cut") && !strings.Contains(said, "unexpected") {
				t.Errorf("said %s", said)
			}
			single := code(t, noise)
			got, said, _ = openPacked(t, "n.log", single[:len(single)*2/3], Limits{})
			if !strings.HasPrefix(string(noise), got["n.log"]) || said == "" {
				t.Errorf("%d bytes, said %s", len(got["n.log"]), said)
			}
		})
	}
	// Every cut of a plain tar: no panic, nothing invented.
	for n := 0; n < len(whole); n += 4099 {
		got, _, _ := openPacked(t, "x.tar", whole[:n], Limits{})
		if len(got["first.txt"]) > 5 || !strings.HasPrefix(string(noise), got["noise.txt"]) {
			t.Fatalf("cut at %d", n)
		}
	}
}

func TestUnpackLimits(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	many := make([]packedFile, 50)
	for i := range many {
		many[i] = packedFile{fmt.Sprintf("f%02d", i), "x", 0}
	}
	nested := []byte("the end")
	for range 50 {
		nested = coders["gz"](t, nested)
	}
	tests := []struct {
		name   string
		data   []byte
		limits Limits
		want   string
		files  int
	}{
		{"bytes", coders["gz"](t, tarOf(t, packedFile{"a", zeros, 0}, packedFile{"b", zeros, 0}, packedFile{"c", zeros, 0})), Limits{Bytes: 2 << 20}, "what stands behind entry 2 is not read", 2},
		{"one file", tarOf(t, packedFile{"a", zeros, 0}, packedFile{"b", "x", 0}), Limits{File: 1 << 16}, "a: used up to byte 65536", 2},
		{"one text", tarOf(t, packedFile{"a", longText, 0}, packedFile{"b", "x", 0}), Limits{File: 10000}, "a: used up to byte 10000: longer than 10000 bytes", 2},
		{"one file of a zip", zipOf(t, packedFile{"a", zeros, 0}, packedFile{"b", "x", 0}), Limits{File: 1 << 16}, "a: used up to byte 65536", 2},
		{"just as long", tarOf(t, packedFile{"a", zeros[:1<<16], 0}, packedFile{"../b", "x", 0}), Limits{File: 1 << 16}, "path with ..", 1},
		{"what is left out counts", tarOf(t, packedFile{"../a", zeros, 0}, packedFile{"../b", zeros, 0}, packedFile{"c", "x", 0}), Limits{Bytes: 1 << 20}, "--max-bytes", 0},
		{"folders count", tarOf(t, packedFile{"a/", "", tar.TypeDir}, packedFile{"b/", "", tar.TypeDir}, packedFile{"c", "x", 0}), Limits{Entries: 2}, "more than 2 entries", 0},
		{"entries", tarOf(t, many...), Limits{Entries: 10}, "more than 10 entries", 10},
		{"entries of a zip", zipOf(t, many...), Limits{Entries: 10}, "more than 10 entries", 10},
		{"depth", nested, Limits{}, "lies 6 archives deep and is not unpacked (--max-depth)", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, said, _ := openPacked(t, "x", tt.data, tt.limits)
			if !strings.Contains(said, tt.want) || len(got) != tt.files {
				t.Errorf("%d files, said %s", len(got), said)
			}
		})
	}
}

// A bomb is stopped at its ratio, and takes no place on the disk before.
func TestUnpackBomb(t *testing.T) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	check(t, err)
	zeros := make([]byte, 1<<20)
	for range 3 << 10 {
		_, err := z.Write(zeros)
		check(t, err)
	}
	check(t, z.Close())
	temp := t.TempDir()
	p := filepath.Join(t.TempDir(), "bomb.zst")
	check(t, os.WriteFile(p, b.Bytes(), 0o600))
	set, err := Open(context.Background(), []string{p}, Options{TempDir: temp})
	check(t, err)
	if f := set.Files[0]; len(f.Problems) != 1 || !strings.Contains(f.Problems[0], "--max-ratio") {
		t.Errorf("%+v", f)
	}
	check(t, set.Close())
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A zip that is cut anywhere gives the entries before the cut.
func TestUnpackCutZip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, 20000)
	for i := range noise {
		noise[i] = byte('a' + r.IntN(20))
	}
	whole := zipOf(t, packedFile{"first.txt", "first", 0}, packedFile{"d/noise.txt", string(noise), 0}, packedFile{"last.txt", "last", 0})
	most := 0
	for n := 30; n < len(whole); n += 97 {
		got, said, _ := openPacked(t, "x.zip", whole[:n], Limits{})
		if said == "" || !strings.HasPrefix(string(noise), got["d/noise.txt"]) || !strings.HasPrefix("first", got["first.txt"]) || !strings.HasPrefix("last", got["last.txt"]) {
			t.Fatalf("cut at %d: %d files, said %s", n, len(got), said)
		}
		most = max(most, len(got))
	}
	if most != 3 {
		t.Errorf("%d entries of 3", most)
	}
}

// A stream that asks for gigabytes of memory gets none.
func TestUnpackDictionary(t *testing.T) {
	data := coders["xz"](t, []byte(longText))
	if n := xzDictionary(data); n < 1<<12 || n > 64<<20 {
		t.Fatalf("dictionary of %d bytes", n)
	}
	sized := append(append([]byte{}, data[:13]...), data[13]|0xc0, 0x80, 0x01, 0x80, 0x01)
	if n := xzDictionary(append(sized, data[14:]...)); n != xzDictionary(data) {
		t.Errorf("with the block's sizes before it: %d", n)
	}
	data[16] = 40
	_, said, _ := openPacked(t, "x.xz", data, Limits{})
	if !strings.Contains(said, "dictionary of more than 128 MiB") {
		t.Error(said)
	}
}

// What is wrong with the disk is not the evidence's fault, and ends with an error that
// names no place on this machine.
func TestUnpackDisk(t *testing.T) {
	p := filepath.Join(t.TempDir(), "x.tar")
	check(t, os.WriteFile(p, tarOf(t, packedFile{"a.log", longText, 0}), 0o600))
	_, err := Open(context.Background(), []string{p}, Options{TempDir: filepath.Join(t.TempDir(), "not", "there")})
	var d *diskError
	if !errors.As(err, &d) || strings.Contains(err.Error(), "/") {
		t.Errorf("%v", err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no full device on this machine")
	}
	defer func() { check(t, full.Close()) }()
	out := &spoolFile{file: full}
	if _, err := out.Write([]byte("x")); err == nil || out.err == nil {
		t.Errorf("%v, noted %v", err, out.err)
	}
}

// Names that other systems give a meaning are names.
func TestUnpackNames(t *testing.T) {
	want := map[string]string{`unit\x2dname.log`: "a", "1:00.log": "b"}
	got, said, _ := openPacked(t, "x.tar", tarOf(t, packedFile{`unit\x2dname.log`, "a", 0}, packedFile{"1:00.log", "b", 0}), Limits{})
	compareFiles(t, got, said, want)
}

// Encrypted entries are told, the others are taken.
func TestUnpackEncrypted(t *testing.T) {
	data := zipOf(t, packedFile{"secret.txt", "x", 0}, packedFile{"ok.txt", "ok", 0})
	// Set the flag in the local head and in the directory of the first entry.
	data[6] |= 1
	at := bytes.Index(data, []byte("PK\x01\x02"))
	data[at+8] |= 1
	got, said, _ := openPacked(t, "x.zip", data, Limits{})
	if got["ok.txt"] != "ok" || !strings.Contains(said, "secret.txt: encrypted, left out") {
		t.Errorf("%v, said %s", got, said)
	}
}

// Nothing stays behind, whatever ends it.
func TestUnpackLeavesNothing(t *testing.T) {
	temp, dir := t.TempDir(), t.TempDir()
	p := filepath.Join(dir, "x.tar.gz")
	check(t, os.WriteFile(p, coders["gz"](t, tarOf(t, packedFile{"a.log", longText, 0}, packedFile{"b.log", longText, 0})), 0o600))
	set, err := Open(context.Background(), []string{p}, Options{TempDir: temp})
	check(t, err)
	if left, _ := os.ReadDir(temp); len(left) != 1 {
		t.Errorf("stored in %v", left)
	}
	check(t, set.Close())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, []string{p}, Options{TempDir: temp}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, d := range []string{temp, dir} {
		if left, _ := os.ReadDir(d); d == temp && len(left) != 0 || d == dir && len(left) != 1 {
			t.Errorf("left in %s: %v", d, left)
		}
	}
}

// The digest of a compressed log is that of the file that was given, that of an entry
// is of its bytes.
func TestUnpackDigest(t *testing.T) {
	gz := coders["gz"](t, []byte(longText))
	_, _, set := openPacked(t, "x.tar", tarOf(t, packedFile{"a.log", longText, 0}, packedFile{"a.log.gz", string(gz), 0}), Limits{})
	sums := map[string]string{}
	for _, f := range set.Files {
		sum, err := f.Digest(context.Background(), nil)
		check(t, err)
		sums[f.Path] = sum
	}
	for name, data := range map[string][]byte{"a.log": []byte(longText), "a.log.gz": gz} {
		p := filepath.Join(t.TempDir(), "plain")
		check(t, os.WriteFile(p, data, 0o600))
		plain := &File{OSPath: p}
		if want, err := plain.Digest(context.Background(), nil); err != nil || sums[name] != want {
			t.Errorf("%s: %s, want %s, %v", name, sums[name], want, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(tarOf(f, packedFile{"a/b.log", "x", 0}, packedFile{"../c", "y", 0}))
	f.Add(zipOf(f, packedFile{"a/b.log", "x", 0}))
	f.Add(coders["gz"](f, tarOf(f, packedFile{"a", "x", 0})))
	f.Add(coders["zst"](f, []byte("text")))
	f.Add(coders["xz"](f, []byte("text")))
	f.Add(coders["s2"](f, []byte("text")))
	temp, dir := f.TempDir(), f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		p := filepath.Join(dir, "x")
		check(t, os.WriteFile(p, data, 0o600))
		set, err := Open(context.Background(), []string{p}, Options{TempDir: temp, Limits: Limits{Bytes: 1 << 24, File: 1 << 22, Entries: 100}})
		check(t, err)
		for _, x := range set.Files {
			if strings.Contains("/"+x.Path+"/", "/../") || strings.HasPrefix(x.Path, "/") {
				t.Errorf("path %q", x.Path)
			}
			if _, err := x.Head(100); err != nil {
				t.Errorf("%s: %v", x.Path, err)
			}
		}
		check(t, set.Close())
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func BenchmarkOpenTarGz(b *testing.B) {
	var text bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for text.Len() < 64<<20 {
		fmt.Fprintf(&text, "I1130 21:00:%02d.%06d   1 httplog.go:134] \"HTTP\" verb=\"GET\" URI=\"/api/v1/namespaces/ns-%d/pods/p-%d\" latency=\"%d.%03dms\"\n",
			r.IntN(60), r.IntN(1000000), r.IntN(50), r.IntN(5000), r.IntN(100), r.IntN(1000))
	}
	p := filepath.Join(b.TempDir(), "x.tar.gz")
	check(b, os.WriteFile(p, coders["gz"](b, tarOf(b, packedFile{"a.log", text.String(), 0})), 0o600))
	size := int64(text.Len())
	b.Run("open", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			set, err := Open(context.Background(), []string{p}, Options{TempDir: b.TempDir()})
			check(b, err)
			check(b, set.Close())
		}
	})
	b.Run("gzip-dc", func(b *testing.B) {
		if _, err := exec.LookPath("gzip"); err != nil {
			b.Skip("no gzip on this machine")
		}
		b.SetBytes(size)
		for b.Loop() {
			check(b, exec.Command("sh", "-c", "gzip -dc '"+p+"' | wc -c").Run())
		}
	})
}
