package source

import (
	"errors"
	"io"
	"os"
	"time"
)

// Kind is what a file looks like by its first bytes. It is a hint for the
// readers, which claim what is theirs; it is never taken from the name alone.
type Kind string

// What a file can look like.
const (
	KindBolt    Kind = "bolt"    // a bbolt database (meta page magic)
	KindWAL     Kind = "wal"     // an etcd WAL segment, or its preallocated next one
	KindSnap    Kind = "snap"    // a raft snapshot of etcd (.snap)
	KindText    Kind = "text"    // valid text in its first block
	KindArchive Kind = "archive" // gzip, zstd, xz, bzip2, zip, tar
	KindEmpty   Kind = "empty"   // no bytes
	KindZeros   Kind = "zeros"   // nothing but zero bytes in its first block
	KindBinary  Kind = "binary"  // anything else
)

// File is one named byte stream of an input. It can be opened any number of
// times; it is never opened for writing.
type File struct {
	// Input is the label of the input the file came from: the base name of the
	// file or folder that was named, made longer where two would be equal.
	Input string
	// Path is the file's path inside its input, with slashes; the base name
	// when the input is that file itself.
	Path string
	// Size is in bytes; ModTime is the file's own, zero when unknown.
	Size    int64
	ModTime time.Time
	// Kind is what the first block looks like.
	Kind Kind
	// OSPath is where the file is on this machine. It never reaches an output.
	OSPath string
}

// Open opens the file for reading.
func (f *File) Open() (io.ReadCloser, error) { return os.Open(f.OSPath) }

// Head returns the first n bytes of the file, fewer if it is shorter.
func (f *File) Head(n int) (head []byte, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	head, err = io.ReadAll(io.LimitReader(r, int64(n)))
	return head, err
}

// Skipped is something named or found that was left out, and why.
type Skipped struct {
	Input, Path string
	Reason      string
}

// Set is what the inputs of one run hold, in a fixed order (Input, then Path)
// that does not depend on the order they were named in.
type Set struct {
	Files   []*File
	Skipped []Skipped
	// private is the folder that holds the copy of standard input, "" for none.
	private string
}

// Close removes what Open had to store (a copy of standard input). The files
// that were named are not touched.
func (s *Set) Close() error {
	if s == nil || s.private == "" {
		return nil
	}
	folder := s.private
	s.private = ""
	return os.RemoveAll(folder)
}
