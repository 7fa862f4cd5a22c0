package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"etcd-autopsy/internal/source"
)

// checkOutput refuses an output that is, or lies inside, one of the inputs, and
// one whose folder does not exist. Symbolic links do not hide the truth.
func checkOutput(output string, inputs []string) error {
	if info, err := os.Stat(output); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // a device or a pipe holds no evidence
	}
	real, err := canonical(output)
	if err != nil {
		return fmt.Errorf("output %s: %w", output, err)
	}
	for _, in := range inputs {
		if in == source.StdinName {
			continue
		}
		realIn, err := canonical(in)
		if err != nil {
			continue // opening it will say why
		}
		if real == realIn || sameFile(real, realIn) {
			return usagef("the evidence is never written to: choose another file", "output %s is the input %s", output, in)
		}
		if strings.HasPrefix(real, strings.TrimSuffix(realIn, string(filepath.Separator))+string(filepath.Separator)) {
			return usagef("the evidence is never written to: choose a file outside of it", "output %s lies inside the input %s", output, in)
		}
	}
	switch info, err := os.Stat(filepath.Dir(real)); {
	case err != nil:
		return &hintedError{fmt.Errorf("output %s: the folder does not exist", output), "make the folder first"}
	case !info.IsDir():
		return fmt.Errorf("output %s: %s is not a folder", output, filepath.Dir(output))
	}
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		return usagef("write -o FILE", "output %s is a folder", output)
	}
	return nil
}

// checkOutputApart refuses an output that is a file of the set by another name.
func checkOutputApart(output string, set *source.Set) error {
	info, err := os.Stat(output)
	if err != nil {
		return nil // it does not exist yet
	}
	for _, f := range set.Files {
		if other, err := os.Stat(f.OSPath); err == nil && os.SameFile(info, other) {
			return usagef("the evidence is never written to: choose another file", "output %s is the file %s of the input %s", output, f.Path, f.Input)
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// canonical is the absolute path with every symbolic link followed, also for a
// file that does not exist yet.
func canonical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", err
		}
		if target, err := os.Readlink(dir); err == nil { // a link to nothing
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(dir), target)
			}
			return canonical(filepath.Join(target, rest))
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// writeFile writes a file completely or not at all: under another name in the
// same folder first. Devices and pipes are written to as they are.
func writeFile(path string, write func(io.Writer) error) (err error) {
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return writeThrough(path, write)
		}
		mode = info.Mode().Perm()
	}
	real, err := canonical(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	temp := filepath.Join(filepath.Dir(real), "."+filepath.Base(real)+"."+rand.Text()[:8]+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, bare(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp))
		}
	}()
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, bare(err))
	}
	if err := os.Rename(temp, real); err != nil {
		return fmt.Errorf("write %s: %w", path, bare(err))
	}
	return nil
}

// writeThrough writes to something that is no regular file.
func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, bare(err))
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, bare(err))
	}
	return nil
}

// bare drops the path from an error that will be named with another one.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
