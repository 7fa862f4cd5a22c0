package source

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/s2"
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
	// OSPath is where the file's content is on this machine, for those who need it at
	// any offset: databases, segments. Text out of an archive may be stored in another
	// form: Open reads it. It never reaches an output.
	OSPath string
	// Problems are what was wrong with the archive, or with this entry of one; each a
	// sentence.
	Problems []string
	// Unpacked is true for an archive whose entries are files of the set.
	Unpacked bool

	// origin is the compressed file that the content is from, "" if it is not.
	origin string
	// private is true for a copy of the set's own, coded if it is compressed by s2.
	private, coded bool
	// inSpool is true for an entry of an archive: its origin is a private copy too.
	inSpool bool
}

// take makes a stored copy the content of the file.
func (f *File) take(s stored) {
	if f.origin == "" {
		f.origin = f.OSPath
	}
	f.OSPath, f.private, f.coded = s.path, true, s.coded
}

// Open opens the file's content for reading: of a compressed file what it holds.
func (f *File) Open() (io.ReadCloser, error) {
	file, err := os.Open(f.OSPath)
	if err != nil || !f.coded {
		return file, err
	}
	return &decoded{s2.NewReader(file), file}, nil
}

// decoded reads text that is stored compressed.
type decoded struct {
	io.Reader
	file *os.File
}

func (d *decoded) Close() error { return d.file.Close() }

// openRaw opens what is stored, which for an archive is the archive.
func (f *File) openRaw() (*os.File, error) { return os.Open(f.OSPath) }

// Unchanged says whether the file is as it was when it was opened; fs.ErrNotExist and
// the like if that cannot be told. Private copies are nobody else's.
func (f *File) Unchanged() (bool, error) {
	p := f.OSPath
	if f.private {
		if p = f.origin; p == "" || f.inSpool {
			return true, nil
		}
	}
	info, err := os.Stat(p)
	if err != nil {
		return false, err
	}
	return info.Size() == f.Size && info.ModTime().Equal(f.ModTime), nil
}

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
	// private is the folder that holds what Open stored, "" for none.
	private string
}

// Close removes what Open had to store: a copy of standard input, what archives hold.
// The files that were named are not touched.
func (s *Set) Close() error {
	if s == nil || s.private == "" {
		return nil
	}
	folder := s.private
	s.private = ""
	return os.RemoveAll(folder)
}
