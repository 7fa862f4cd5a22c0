package source

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree makes files below a new folder; a content that starts with "->" makes a
// symbolic link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(content, "->"); ok {
			must(t, os.Symlink(target, path))
			continue
		}
		must(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return root
}

// open opens inputs below a root; an input that begins with "-" is as it is.
func open(t *testing.T, root string, inputs ...string) *Set {
	t.Helper()
	var paths []string
	for _, in := range inputs {
		if in != StdinName {
			in = filepath.Join(root, in)
		}
		paths = append(paths, in)
	}
	set, err := Open(context.Background(), paths, Options{Stdin: strings.NewReader("from a pipe\n"), TempDir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, set.Close()) })
	return set
}

// names writes a set as "input:path kind", skipped ones as "input:path !reason".
func names(s *Set) []string {
	list := []string{}
	for _, f := range s.Files {
		list = append(list, f.Input+":"+f.Path+" "+string(f.Kind))
	}
	for _, k := range s.Skipped {
		list = append(list, k.Input+":"+k.Path+" !"+k.Reason)
	}
	return list
}

func TestOpen(t *testing.T) {
	root := tree(t, map[string]string{
		"one.log":         "a line\n",
		"logs/b.log":      "a line\n",
		"logs/a.log":      "a line\n",
		"logs/deep/c.log": "",
		"logs/link":       "->../one.log",
		"logs/dangling":   "->nowhere",
		"x/logs/d.log":    "d\n",
		"y/logs/d.log":    "d\n",
		"y/x/logs/d.log":  "d\n",
		"current":         "->logs",
		"stdin":           "a file\n",
	})
	tests := []struct {
		name   string
		inputs []string
		want   []string
	}{
		{"nothing", nil, []string{}},
		{"a file", []string{"one.log"}, []string{"one.log:one.log text"}},
		{"a folder", []string{"logs"}, []string{
			"logs:a.log text", "logs:b.log text", "logs:deep/c.log empty",
			"logs:dangling !symbolic link, not followed", "logs:link !symbolic link, not followed",
		}},
		{"an input that is a link", []string{"logs/link"}, []string{"link:link text"}},
		{"a folder behind a link", []string{"current/deep", "current"}, []string{
			"current:a.log text", "current:b.log text", "current:deep/c.log empty",
			"current:dangling !symbolic link, not followed", "current:link !symbolic link, not followed",
		}},
		{"the same twice", []string{"one.log", "./one.log", "logs/../one.log", "logs/link"}, []string{"link:link text"}},
		{"a file inside a folder", []string{"x/logs/d.log", "x"}, []string{"x:logs/d.log text"}},
		{"equal names", []string{"x/logs", "y/logs"}, []string{"x/logs:d.log text", "y/logs:d.log text"}},
		{"three equal names", []string{"x/logs", "y/logs", "y/x/logs"}, []string{
			filepath.Base(root) + "/x/logs:d.log text", "y/logs:d.log text", "y/x/logs:d.log text",
		}},
		{"equal files", []string{"x/logs/d.log", "y/logs/d.log"}, []string{"x/logs/d.log:d.log text", "y/logs/d.log:d.log text"}},
		{"standard input", []string{"-"}, []string{"stdin:stdin text"}},
		{"standard input and a file of its name", []string{"-", "stdin", "-"}, []string{
			filepath.Base(root) + "/stdin:stdin text", "stdin:stdin text",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 4 {
				if d := cmp.Diff(tt.want, names(open(t, root, tt.inputs...))); d != "" {
					t.Fatalf("%v (-want +got):\n%s", tt.inputs, d)
				}
				rand.Shuffle(len(tt.inputs), func(i, j int) { tt.inputs[i], tt.inputs[j] = tt.inputs[j], tt.inputs[i] })
			}
		})
	}
}

func TestOpenHere(t *testing.T) {
	root := tree(t, map[string]string{"bundle/a.log": "a\n", "bundle/sub/b.log": "b\n"})
	t.Chdir(filepath.Join(root, "bundle", "sub"))
	for input, want := range map[string][]string{
		".":    {"sub:b.log text"},
		"..":   {"bundle:a.log text", "bundle:sub/b.log text"},
		"../.": {"bundle:a.log text", "bundle:sub/b.log text"},
	} {
		set, err := Open(context.Background(), []string{input}, Options{})
		must(t, err)
		if d := cmp.Diff(want, names(set)); d != "" {
			t.Errorf("%s (-want +got):\n%s", input, d)
		}
	}
}

func TestNotFound(t *testing.T) {
	root := tree(t, map[string]string{"a.log": "a\n", "dangling": "->nowhere"})
	for _, name := range []string{filepath.Join(root, "none"), filepath.Join(root, "a.log", "x"), filepath.Join(root, "dangling"), ""} {
		set, err := Open(context.Background(), []string{name, filepath.Join(root, "a.log")}, Options{})
		var missing *NotFoundError
		if !errors.As(err, &missing) || missing.Input != name || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v", name, err)
		}
		if set == nil || len(set.Files) != 1 {
			t.Errorf("%s: the other input is gone", name)
		}
	}
}

func TestHardLink(t *testing.T) {
	root := tree(t, map[string]string{"d/a.log": "a\n"})
	must(t, os.Link(filepath.Join(root, "d/a.log"), filepath.Join(root, "d/b.log")))
	want := []string{"d:a.log text", "d:b.log !same file as a.log"}
	if d := cmp.Diff(want, names(open(t, root, "d"))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	root := tree(t, map[string]string{"d/a.log": "a\n", "d/closed/b.log": "b\n", "d/ok.log": "c\n"})
	must(t, os.Chmod(filepath.Join(root, "d/a.log"), 0))
	must(t, os.Chmod(filepath.Join(root, "d/closed"), 0))
	t.Cleanup(func() { must(t, os.Chmod(filepath.Join(root, "d/closed"), 0o755)) })
	want := []string{"d:ok.log text", "d:a.log !permission denied", "d:closed !permission denied"}
	if d := cmp.Diff(want, names(open(t, root, "d"))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestStdin(t *testing.T) {
	temp := t.TempDir()
	set, err := Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader("0123456789"), TempDir: temp})
	must(t, err)
	for range 2 { // it can be opened again
		r, err := set.Files[0].Open()
		must(t, err)
		b, err := io.ReadAll(r)
		must(t, err)
		must(t, r.Close())
		if string(b) != "0123456789" || set.Files[0].Size != 10 {
			t.Errorf("read %q, size %d", b, set.Files[0].Size)
		}
	}
	must(t, set.Close())
	must(t, set.Close())
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("Close left %v", left)
	}
}

func TestStdinTooLong(t *testing.T) {
	temp := t.TempDir()
	set, err := Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader("0123456789"), TempDir: temp, MaxStdin: 9})
	must(t, err)
	if d := cmp.Diff([]string{"stdin:stdin !longer than 9 bytes, left out"}, names(set)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	must(t, set.Close())
	set, err = Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader("0123456789"), TempDir: temp, MaxStdin: 10})
	must(t, err)
	if len(set.Files) != 1 {
		t.Error("input of just the limit was left out")
	}
	must(t, set.Close())
}

// TestStdinCancelled ends a read that would wait for ever.
func TestStdinCancelled(t *testing.T) {
	temp := t.TempDir()
	r, w := io.Pipe()
	defer func() { must(t, w.Close()) }()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = w.Write([]byte("some"))
		cancel()
	}()
	if _, err := Open(ctx, []string{"-"}, Options{Stdin: r, TempDir: temp}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if set, err := Open(ctx, []string{t.TempDir()}, Options{}); set != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", set, err)
	}
}
