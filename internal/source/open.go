package source

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// StdinName is the input that stands for standard input, and StdinLabel the
// label its one file gets.
const (
	StdinName  = "-"
	StdinLabel = "stdin"
)

// DefaultMaxStdin is the most that is taken from standard input, in bytes.
const DefaultMaxStdin int64 = 16 << 30

// Options says how inputs are opened. The zero value is good.
type Options struct {
	// Stdin is read for the input "-"; nil means os.Stdin.
	Stdin io.Reader
	// MaxStdin is the most bytes to take from it, 0 means DefaultMaxStdin. A
	// longer one is skipped as a whole: half a file would be taken for damage.
	MaxStdin int64
	// TempDir is where the copy of standard input, and what archives hold, is
	// stored; "" means the system's folder for temporary files.
	TempDir string
	// Limits bound what archives may unpack to.
	Limits Limits
	_      struct{}
}

// NotFoundError says that an input that was named does not exist. It matches
// fs.ErrNotExist.
type NotFoundError struct {
	// Input is the path as it was named.
	Input string
}

func (e *NotFoundError) Error() string { return "input " + e.Input + ": no such file or folder" }

// Unwrap makes errors.Is(err, fs.ErrNotExist) true.
func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// Open opens every input: files, folders with all that is in them, and "-". Archives
// are taken apart, those in archives too: each entry is a file of the set, under its
// path in the archive; a compressed file is what it holds. What is unpacked is stored
// in a private folder until the Set is closed.
//
// A path that does not exist gives a *NotFoundError (several are joined)
// together with a Set of the inputs that do; every other error comes without a
// Set. What exists but cannot be read, is not a regular file or is a symbolic
// link inside a folder is listed in Set.Skipped. A file that can be reached
// twice is there once. The result depends on the set of inputs only, not on
// their order. The caller closes the Set.
func Open(ctx context.Context, inputs []string, opts Options) (*Set, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	named, missing, err := resolve(inputs)
	if err != nil {
		return nil, err
	}
	set := &Set{}
	c := &collector{ctx: ctx, paths: map[string]bool{}}
	for _, n := range named {
		var err error
		if n.stdin {
			err = c.stdin(set, n, opts)
		} else {
			err = c.input(n)
		}
		if err != nil {
			return nil, errors.Join(err, set.Close())
		}
	}
	if err := c.unpackAll(set, opts); err != nil {
		return nil, errors.Join(err, set.Close())
	}
	set.finish(c.found)
	return set, missing
}

// finish labels what was found and puts it in order.
func (s *Set) finish(found []entry) {
	labels := label(owners(found))
	for _, e := range found {
		if e.reason != "" {
			s.Skipped = append(s.Skipped, Skipped{Input: labels[e.owner], Path: e.path, Reason: e.reason})
			continue
		}
		e.file.Input, e.file.Path = labels[e.owner], e.path
		s.Files = append(s.Files, e.file)
	}
	slices.SortFunc(s.Files, func(a, b *File) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Path, b.Path))
	})
	slices.SortFunc(s.Skipped, func(a, b Skipped) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Path, b.Path))
	})
}

// input is one path that was named and exists.
type input struct {
	stdin bool
	// path is absolute and as named (symbolic links kept): labels come from it.
	path string
	// real is path with all symbolic links followed: equal for equal files.
	real string
	// folder is true for a folder.
	folder bool
}

// resolve turns the inputs into distinct existing ones, outer folders before
// what lies in them. missing joins a NotFoundError for each that is not there.
func resolve(inputs []string) (named []*input, missing, err error) {
	inputs = slices.Compact(slices.Sorted(slices.Values(inputs)))
	for _, name := range inputs {
		if name == StdinName {
			named = append(named, &input{stdin: true, path: StdinLabel})
			continue
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, nil, err
		}
		real, err := filepath.EvalSymlinks(path)
		switch {
		case name == "", errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			missing = errors.Join(missing, &NotFoundError{Input: name})
			continue
		case err != nil:
			real = path // the walk says what is wrong with it
		}
		named = append(named, &input{path: path, real: real})
	}
	slices.SortFunc(named, func(a, b *input) int {
		return cmp.Or(cmp.Compare(a.real, b.real), cmp.Compare(a.path, b.path))
	})
	named = slices.CompactFunc(named, func(a, b *input) bool { return a.stdin == b.stdin && a.real == b.real })
	return named, missing, nil
}

// reason is the cause of an error without the path, which stands beside it.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	var s *os.SyscallError
	if errors.As(err, &s) {
		return s.Err.Error()
	}
	return err.Error()
}
