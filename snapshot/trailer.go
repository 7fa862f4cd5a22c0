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

// checkTrailer compares the SHA-256 that "snapshot save" appends (etcd v3.6
// etcdutl/snapshot/v3_snapshot.go) with the bytes before it. A mismatch is a
// Problem; whether the pages are usable is seen separately.
func (s *store) checkTrailer(ctx context.Context) error {
	if !s.info.Snapshot {
		return nil
	}
	body := s.info.Size - trailerSize
	sum := sha256.New()
	block := make([]byte, hashBuffer)
	for at := int64(0); at < body; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := s.file.ReadAt(block[:min(hashBuffer, body-at)], at)
		if n == 0 {
			return fmt.Errorf("read at offset %d: %w", at, plain(err))
		}
		_, _ = sum.Write(block[:n])
		at += int64(n)
		s.meter.add(int64(n))
	}
	var want [trailerSize]byte
	if n, err := s.file.ReadAt(want[:], body); n < len(want) {
		return fmt.Errorf("read at offset %d: %w", body, errors.Join(plain(err), io.ErrUnexpectedEOF))
	}
	got := sum.Sum(nil)
	ok := bytes.Equal(got, want[:])
	s.info.HashOK = &ok
	if !ok {
		s.problem("the SHA-256 at its end (%x) does not match its bytes (%x): changed after it was saved, or saved incompletely", want, got)
	}
	return nil
}
