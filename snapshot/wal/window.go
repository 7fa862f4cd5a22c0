package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// windowSize is how much of a file is read at a time.
const windowSize = 1 << 20

// window reads a file forward through a buffer.
type window struct {
	file *os.File
	size int64
	base int64 // where in the file buf begins
	buf  []byte
	room []byte
}

func openWindow(path string) (*window, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, plain(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plain(err)
	}
	return &window{file: f, size: info.Size(), room: make([]byte, windowSize)}, nil
}

// plain drops the path from an error of the operating system.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}

// bytes returns n bytes of the file, which are valid until the next call. There
// must be so many: the caller compares with size.
func (w *window) bytes(at, n int64) ([]byte, error) {
	if at >= w.base && at+n <= w.base+int64(len(w.buf)) {
		return w.buf[at-w.base:][:n:n], nil
	}
	if n > int64(len(w.room)) {
		w.room = make([]byte, n)
	}
	got, err := w.file.ReadAt(w.room[:min(int64(len(w.room)), w.size-at)], at)
	w.base, w.buf = at, w.room[:got]
	if int64(got) >= n {
		return w.buf[:n:n], nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // it was longer when it was opened
	}
	return nil, fmt.Errorf("read at offset %d: %w", at+int64(got), plain(err))
}

// zeros is a block of nothing, to compare with.
var zeros [4096]byte

// dataFrom finds the first byte that is not zero, from an offset on, and returns
// the end of the file if there is none. Holes of the file are not read.
func (w *window) dataFrom(at int64) (int64, error) {
	for at < w.size {
		if next, ok := nextData(w.file, at); ok && next > at {
			at = min(next, w.size)
			continue
		}
		b, err := w.bytes(at, min(windowSize, w.size-at))
		if err != nil {
			return at, err
		}
		for len(b) > 0 {
			n := min(len(b), len(zeros))
			if !bytes.Equal(b[:n], zeros[:n]) {
				return at + int64(bytes.IndexFunc(b[:n], func(r rune) bool { return r != 0 })), nil
			}
			b, at = b[n:], at+int64(n)
		}
	}
	return w.size, nil
}
