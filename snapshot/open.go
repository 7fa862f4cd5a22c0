package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// open reads the store. What is wrong with it becomes Problems; a store of which
// nothing can be read is left closed and without records.
func (s *store) open(ctx context.Context, lockTimeout time.Duration) {
	defer s.meter.finish()
	locked, err := s.openFile(ctx, lockTimeout)
	if err == nil {
		hash := s.hashTrailer(ctx)
		err = s.readPages(ctx, locked, lockTimeout)
		s.judgeTrailer(<-hash)
	}
	if err == nil {
		return
	}
	s.problem("%s", err)
	s.info.Records, s.info.First, s.info.Last = 0, 0, 0
	s.forget()
	if err := s.close(); err != nil {
		s.problem("close: %s", err)
	}
}

// openFile opens the file and looks whether somebody has it locked, or why that
// cannot be known.
func (s *store) openFile(ctx context.Context, lockTimeout time.Duration) (locked, err error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return nil, plain(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if s.file, err = os.Open(s.path); err != nil {
		return nil, plain(err)
	}
	if info, err = s.file.Stat(); err != nil {
		return nil, plain(err)
	}
	s.info.Size, s.meter.size = info.Size(), info.Size()
	s.info.Snapshot = s.info.Size%trailerBlock == trailerSize
	s.stamp = stamp{info.Size(), info.ModTime()}
	err = probeLock(ctx, s.file, lockTimeout)
	if errors.Is(err, errLocked) || errors.Is(err, errNoLock) {
		return err, nil
	}
	return nil, err
}

// readPages reads a sound file through bbolt and any other page by page.
func (s *store) readPages(ctx context.Context, locked error, lockTimeout time.Duration) error {
	l, why := s.readLayout()
	if why == nil && locked == nil {
		before := s.info
		why = s.readSound(ctx, l, lockTimeout)
		if why == nil || ctx.Err() != nil {
			return why
		}
		if err := s.startAnew(before); err != nil {
			return err
		}
	}
	return s.salvage(ctx, l, why, locked)
}

// readSound does its steps in this order: nothing is left to bbolt that was not
// verified, since it trusts a file's page numbers and sizes.
func (s *store) readSound(ctx context.Context, l layout, lockTimeout time.Duration) error {
	leaves, seen, err := verifyPages(ctx, s.file, l, &s.meter)
	if err != nil {
		return err
	}
	s.records, s.hashes = make([]record, 0, leaves), make([]uint64, 0, leaves) // nearly all are in the key bucket
	s.keys = newKeyTable(leaves / 2)
	if err := s.openDB(lockTimeout); err != nil {
		return err
	}
	if err := guard(func() error { return s.db.View(s.readBuckets(ctx)) }); err != nil {
		return err
	}
	if err := s.unchanged(); err != nil {
		return err
	}
	return s.carve(ctx, l, seen)
}

// startAnew forgets what was read of a file that turned out not to be sound.
func (s *store) startAnew(before Store) (err error) {
	if s.db != nil {
		err = s.db.Close()
	}
	s.info, s.db, s.unread, s.places, s.confState = before, nil, nil, nil, false
	s.forget()
	return err
}

// openDB gives the file to bbolt, and takes back the lock at once that bbolt
// puts on it: an etcd that starts meanwhile must not wait for us.
func (s *store) openDB(lockTimeout time.Duration) error {
	return guard(func() error {
		var mapped *os.File
		db, err := bbolt.Open(s.path, 0, &bbolt.Options{
			ReadOnly: true,
			Timeout:  lockTimeout,
			OpenFile: func(path string, _ int, _ os.FileMode) (_ *os.File, err error) {
				mapped, err = s.again(path)
				return mapped, err
			},
		})
		switch {
		case errors.Is(err, bolterrors.ErrTimeout):
			return errLocked
		case err != nil:
			return fmt.Errorf("open: %w", plain(err))
		}
		s.db = db
		return unlock(mapped)
	})
}

// again opens the file a second time, for bbolt to close.
func (s *store) again(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	one, err := s.file.Stat()
	two, other := f.Stat()
	if err := errors.Join(err, other); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !os.SameFile(one, two) {
		return nil, errors.Join(errChanged, f.Close())
	}
	return f, nil
}
