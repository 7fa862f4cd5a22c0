package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder makes files (and folders, with a slash at the end) below a temporary
// folder, and returns a function that names paths in it.
func folder(t *testing.T, files ...string) func(string) string {
	t.Helper()
	dir := t.TempDir()
	in := func(p string) string { return filepath.Join(dir, p) }
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(in(f+"x")), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, "/") {
			continue
		}
		if err := os.WriteFile(in(f), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestCheckOutput(t *testing.T) {
	in := folder(t, "evidence/a.log", "evidence/sub/", "evidence2/", "out/", "single.log")
	link(t, in("evidence/sub"), in("out/into"))
	link(t, in("evidence"), in("alias"))
	link(t, in("evidence/new.md"), in("out/dangling.md"))
	if err := os.Link(in("single.log"), in("out/hard.md")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, output string
		inputs       []string
		want         string // "" if allowed
	}{
		{"apart", "out/r.md", []string{"evidence"}, ""},
		{"a name that starts alike", "evidence2/r.md", []string{"evidence"}, ""},
		{"beside the evidence", "r.md", []string{"evidence", "single.log"}, ""},
		{"inside", "evidence/r.md", []string{"out", "evidence"}, "lies inside"},
		{"deep inside", "evidence/sub/r.md", []string{"evidence"}, "lies inside"},
		{"inside a folder to be", "evidence/nowhere/r.md", []string{"evidence"}, "lies inside"},
		{"inside by dots", "out/../evidence/r.md", []string{"evidence"}, "lies inside"},
		{"inside by a link", "out/into/r.md", []string{"evidence"}, "lies inside"},
		{"inside an input that is a link", "evidence/r.md", []string{"alias"}, "lies inside"},
		{"through the link to the input", "alias/r.md", []string{"evidence"}, "lies inside"},
		{"a link to a file to be", "out/dangling.md", []string{"evidence"}, "lies inside"},
		{"the input", "single.log", []string{"single.log"}, "is the input"},
		{"a hard link to the input", "out/hard.md", []string{"single.log"}, "is the input"},
		{"the input folder", "evidence", []string{"evidence"}, "is the input"},
		{"a folder", "out", []string{"evidence"}, "is a folder"},
		{"no folder", "nowhere/r.md", []string{"evidence"}, "the folder does not exist"},
		{"below a file", "single.log/r.md", []string{"evidence"}, "not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inputs := []string{"-"}
			for _, i := range tt.inputs {
				inputs = append(inputs, in(i))
			}
			err := checkOutput(in(tt.output), inputs)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCheckOutputInRoot(t *testing.T) {
	if err := checkOutput(filepath.Join(t.TempDir(), "r.md"), []string{"/"}); err == nil {
		t.Error("an output inside the input / was allowed")
	}
}

func TestWriteFile(t *testing.T) {
	in := folder(t, "out/old.md")
	if err := os.Chmod(in("out/old.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(t, in("out/old.md"), in("out/link.md"))
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	}
	for _, name := range []string{"out/new.md", "out/link.md"} {
		if err := writeFile(in(name), write); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"out/new.md", "out/old.md"} {
		if got, err := os.ReadFile(in(name)); string(got) != "new" {
			t.Errorf("%s holds %q (%v)", name, got, err)
		}
	}
	info, err := os.Lstat(in("out/old.md"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v (%v), want that of the old file", info.Mode(), err)
	}
	if info, err := os.Lstat(in("out/link.md")); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link was replaced (%v)", err)
	}
	if err := writeFile(os.DevNull, write); err != nil {
		t.Errorf("a device: %v", err)
	}
}

func TestWriteFileLeavesNothingBehind(t *testing.T) {
	in := folder(t, "out/old.md")
	broken := errors.New("broken")
	for _, name := range []string{"out/new.md", "out/old.md"} {
		err := writeFile(in(name), func(w io.Writer) error {
			if _, err := io.WriteString(w, "half"); err != nil {
				return err
			}
			return broken
		})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), in(name)) {
			t.Errorf("error %v", err)
		}
	}
	if got, _ := os.ReadFile(in("out/old.md")); string(got) != "old" {
		t.Errorf("the old file holds %q", got)
	}
	if left, _ := os.ReadDir(in("out")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
