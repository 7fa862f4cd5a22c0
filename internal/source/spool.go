package source

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/klauspost/compress/s2"
)

// spool is the private folder in which unpacked entries are stored. Text is stored
// compressed: there may be much of it, and it is only ever read from its beginning.
type spool struct {
	ctx    context.Context
	temp   string // the folder for temporary files, "" for the system's
	folder string // "" until something is stored
}

// place makes the folder of a new file below the spool.
func (s *spool) place(rel string) (string, error) {
	if s.folder == "" {
		folder, err := os.MkdirTemp(s.temp, "etcd-autopsy-")
		if err != nil {
			return "", err
		}
		s.folder = folder
	}
	p := filepath.Join(s.folder, filepath.FromSlash(rel))
	return p, os.MkdirAll(filepath.Dir(p), 0o700)
}

// stored is a file in the spool.
type stored struct {
	path  string
	size  int64 // of the content
	coded bool  // compressed by s2
}

// store copies a stream to a new file. With an error what came before it is stored.
func (s *spool) store(rel string, r io.Reader) (f stored, err error) {
	in := bufio.NewReaderSize(&ctxReader{s.ctx, r}, 64<<10)
	head := headOf(in)
	if f.path, err = s.place(rel); err != nil {
		return f, diskFault(err)
	}
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return f, diskFault(err)
	}
	out := &spoolFile{file: file}
	if f.coded = len(head) == blockSize && isText(head); f.coded {
		w := s2.NewWriter(out, s2.WriterConcurrency(1))
		f.size, err = io.Copy(struct{ io.Writer }{w}, in) // of a stream that is cut the rest is written by Close
		err = cmp.Or(err, w.Close())
	} else {
		f.size, err = copySparse(out, in)
	}
	if e := file.Close(); out.err == nil {
		out.err = e
	}
	if out.err != nil {
		return f, &diskError{out.err}
	}
	return f, err
}

// spoolFile remembers what went wrong on the disk, which is no fault of the evidence.
type spoolFile struct {
	file *os.File
	err  error
}

func (s *spoolFile) note(n int, err error) (int, error) {
	s.err = cmp.Or(s.err, err)
	return n, err
}

func (s *spoolFile) Write(p []byte) (int, error)             { return s.note(s.file.Write(p)) }
func (s *spoolFile) WriteAt(p []byte, at int64) (int, error) { return s.note(s.file.WriteAt(p, at)) }

func (s *spoolFile) Truncate(n int64) error {
	_, err := s.note(0, s.file.Truncate(n))
	return err
}

// diskError ends everything: archives cannot be unpacked here.
type diskError struct{ err error }

func (e *diskError) Error() string {
	return "archives cannot be unpacked: " + reason(e.err) + " (--tmpdir names another folder)"
}

// diskFault tells the errors of one entry's name from those of the disk.
func diskFault(err error) error {
	for _, of := range []error{fs.ErrExist, syscall.ENAMETOOLONG, syscall.ENOTDIR, syscall.EISDIR} {
		if errors.Is(err, of) {
			return err
		}
	}
	return &diskError{err}
}

// copySparse leaves holes where the stream has long runs of zeros: a WAL segment is
// preallocated, a database may be mostly free.
func copySparse(out *spoolFile, in io.Reader) (n int64, err error) {
	buf, zeros := make([]byte, digestBuffer/16), make([]byte, digestBuffer/16)
	for err == nil {
		m := 0
		for m < len(buf) && err == nil {
			var k int
			k, err = in.Read(buf[m:])
			m += k
		}
		if !bytes.Equal(buf[:m], zeros[:m]) {
			if _, err := out.WriteAt(buf[:m], n); err != nil {
				return n, err
			}
		}
		n += int64(m)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, errors.Join(err, out.Truncate(n))
}
