package source

import (
	"errors"
	"fmt"
	"io"
)

// Limits bound what archives may unpack to; 0 means the default of each.
type Limits struct {
	// Bytes is the most that all archives together may unpack to, File the most of
	// one entry.
	Bytes, File int64
	// Entries is the most that is taken of one archive.
	Entries int
	// Depth is how deep archives may lie in archives: 1 is an archive of files.
	Depth int
	// Ratio is how many times its own size an archive may unpack to, once it has
	// unpacked to more than a gigabyte.
	Ratio int64
}

// DefaultLimits let a bundle of tens of gigabytes of logs through, and no bomb.
var DefaultLimits = Limits{Bytes: 512 << 30, File: 128 << 30, Entries: 200_000, Depth: 5, Ratio: 200}

// orDefault fills in what is not set.
func (l Limits) orDefault() Limits {
	d := DefaultLimits
	if l.Bytes > 0 {
		d.Bytes = l.Bytes
	}
	if l.File > 0 {
		d.File = l.File
	}
	if l.Entries > 0 {
		d.Entries = l.Entries
	}
	if l.Depth > 0 {
		d.Depth = l.Depth
	}
	if l.Ratio > 0 {
		d.Ratio = l.Ratio
	}
	return d
}

// freeBytes is what any archive may unpack to, whatever its ratio: preallocated WAL
// segments are zeros, which compress to nothing.
const freeBytes = 1 << 30

// limitError says which limit was reached, and with which flag it can be raised.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// meter counts what comes out of the archives.
type meter struct {
	limits Limits
	total  int64
}

// gauge is a meter of one archive.
type gauge struct {
	*meter
	size    int64 // of the archive, compressed
	out     int64
	entries int
}

// entry counts one entry.
func (g *gauge) entry() error {
	if g.entries++; g.entries > g.limits.Entries {
		return &limitError{fmt.Sprintf("more than %d entries: the rest is left out (--max-entries)", g.limits.Entries)}
	}
	return nil
}

// add counts bytes.
func (g *gauge) add(n int64) error {
	g.out, g.total = g.out+n, g.total+n
	switch {
	case g.total > g.limits.Bytes:
		return &limitError{fmt.Sprintf("the archives unpack to more than %d bytes: the rest is left out (--max-bytes)", g.limits.Bytes)}
	case g.out > freeBytes && g.out/g.limits.Ratio > g.size:
		return &limitError{fmt.Sprintf("unpacks to more than %d times its size, %d bytes so far: the rest is left out (--max-ratio)", g.limits.Ratio, g.out)}
	}
	return nil
}

// counted counts all that is read: what comes out of the archive.
func (g *gauge) counted(r io.Reader) io.Reader { return &countedReader{g, r} }

type countedReader struct {
	g *gauge
	r io.Reader
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if e := r.g.add(int64(n)); e != nil {
		return n, e
	}
	return n, err
}

// oneFile ends at the limit of one entry, with an error if there is more.
func (g *gauge) oneFile(r io.Reader) io.Reader { return &fileReader{r: r, limit: g.limits.File} }

type fileReader struct {
	r        io.Reader
	n, limit int64
}

func (r *fileReader) Read(p []byte) (int, error) {
	if r.n == r.limit {
		var more [1]byte
		if n, err := io.ReadFull(r.r, more[:]); n == 0 {
			return 0, err
		}
		return 0, &fileLimitError{limitError{fmt.Sprintf("longer than %d bytes: the rest of it is left out (--max-file)", r.limit)}}
	}
	n, err := r.r.Read(p[:min(int64(len(p)), r.limit-r.n)])
	r.n += int64(n)
	return n, err
}

// fileLimitError ends one entry; what stands behind it in the archive can be read.
type fileLimitError struct{ limitError }

func isFileLimit(err error) bool {
	var f *fileLimitError
	return errors.As(err, &f)
}

// isLimit says whether an error is that of a limit.
func isLimit(err error) bool {
	var l *limitError
	return errors.As(err, &l) || isFileLimit(err)
}
