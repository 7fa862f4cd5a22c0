package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
)

// digestBuffer is how much is read at a time.
const digestBuffer = 1 << 20

// Digest returns the SHA-256 of the file's bytes in hex, of a compressed file those
// that are compressed. progress, if not nil,
// is told the number of bytes of each step, so that the sum of all calls is the
// length of the file. Holes of sparse files are not read where the system tells
// where they are, but their zeros are counted as any byte.
func (f *File) Digest(ctx context.Context, progress func(n int64)) (sum string, err error) {
	if progress == nil {
		progress = func(int64) {}
	}
	d := &digester{ctx: ctx, sum: sha256.New(), progress: progress, buffer: make([]byte, digestBuffer)}
	if f.coded && f.origin == "" {
		return d.content(f)
	}
	file, err := os.Open(cmp.Or(f.origin, f.OSPath))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := d.file(file); err != nil {
		return "", err
	}
	return hex.EncodeToString(d.sum.Sum(nil)), nil
}

// content hashes what is stored in another form.
func (d *digester) content(f *File) (sum string, err error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if _, err := d.read(r); err != nil {
		return "", err
	}
	return hex.EncodeToString(d.sum.Sum(nil)), nil
}

// digester hashes one file.
type digester struct {
	ctx      context.Context
	sum      hash.Hash
	progress func(n int64)
	buffer   []byte
}

// file alternates between the file's data and its holes.
func (d *digester) file(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var at int64
	for at < info.Size() {
		data, hole := extent(f, at, info.Size())
		if err := d.zeros(data - at); err != nil {
			return err
		}
		n, err := d.read(io.NewSectionReader(f, data, hole-data))
		if err != nil {
			return err
		}
		if n < hole-data { // it was cut while being read
			return nil
		}
		at = hole
	}
	// What was added meanwhile, and files whose size is not known before.
	_, err = d.read(&tailReader{f, at})
	return err
}

// read hashes all of r and says how much it was.
func (d *digester) read(r io.Reader) (total int64, err error) {
	for {
		if err := d.ctx.Err(); err != nil {
			return total, err
		}
		n, err := r.Read(d.buffer)
		_, _ = d.sum.Write(d.buffer[:n])
		if n > 0 {
			total += int64(n)
			d.progress(int64(n))
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// zeroBlock is what a hole reads as.
var zeroBlock [digestBuffer]byte

// zeros hashes n zero bytes.
func (d *digester) zeros(n int64) error {
	for n > 0 {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		step := min(n, digestBuffer)
		_, _ = d.sum.Write(zeroBlock[:step])
		d.progress(step)
		n -= step
	}
	return nil
}

// tailReader reads a file from an offset to its end.
type tailReader struct {
	f  *os.File
	at int64
}

func (r *tailReader) Read(p []byte) (int, error) {
	n, err := r.f.ReadAt(p, r.at)
	r.at += int64(n)
	return n, err
}
