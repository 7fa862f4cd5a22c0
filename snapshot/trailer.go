package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// hashBuffer is how much of a file is hashed at a time.
const hashBuffer = 1 << 20

// trailer is the outcome of comparing the SHA-256 that "snapshot save" appends
// (etcd v3.6 etcdutl/snapshot/v3_snapshot.go) with the bytes before it.
type trailer struct {
	want, got []byte
	err       error
}

// hashTrailer computes the hash beside whatever else is done with the file; the
// channel gives the outcome, nil for a file without a trailer.
func (s *store) hashTrailer(ctx context.Context) <-chan *trailer {
	out := make(chan *trailer, 1)
	if !s.info.Snapshot || s.info.Size == trailerSize {
		out <- nil
		return out
	}
	go func() {
		t := &trailer{}
		t.err = guard(func() error { return t.compute(ctx, s.file, s.info.Size-trailerSize, &s.meter) })
		out <- t
	}()
	return out
}

// compute reads the bytes before the trailer, and the trailer.
func (t *trailer) compute(ctx context.Context, file io.ReaderAt, body int64, meter *meter) error {
	sum := sha256.New()
	block := make([]byte, hashBuffer)
	for at := int64(0); at < body; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := file.ReadAt(block[:min(hashBuffer, body-at)], at)
		if n == 0 {
			return fmt.Errorf("read at offset %d: %w", at, plain(err))
		}
		_, _ = sum.Write(block[:n])
		at += int64(n)
		meter.add(int64(n))
	}
	t.want, t.got = make([]byte, trailerSize), sum.Sum(nil)
	if n, err := file.ReadAt(t.want, body); n < len(t.want) {
		return fmt.Errorf("read at offset %d: %w", body, errors.Join(plain(err), io.ErrUnexpectedEOF))
	}
	return nil
}

// judgeTrailer makes the outcome known. A mismatch is a Problem; whether the
// pages are usable is seen separately.
func (s *store) judgeTrailer(t *trailer) {
	switch {
	case t == nil:
	case t.err != nil:
		s.problem("the SHA-256 at its end cannot be checked: %s", t.err)
	default:
		ok := bytes.Equal(t.got, t.want)
		s.info.HashOK = &ok
		if !ok {
			s.problem("the SHA-256 at its end (%x) does not match its bytes (%x): changed after it was saved, or saved incompletely", t.want, t.got)
		}
	}
}
