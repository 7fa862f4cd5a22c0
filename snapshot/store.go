package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// store is one file while it is open.
type store struct {
	info      Store
	path      string
	meter     meter
	file      *os.File // the one that db has mapped
	closing   sync.Once
	db        *bbolt.DB
	stamp     stamp
	confState bool     // the meta bucket has it
	records   []record // in order of main and sub; nil after the merge
}

// record is the index entry of one record of a store.
type record struct {
	revisionKey
	key                     string
	create, version, leased int64
	size                    int
	hash                    uint64 // of the record's bytes, and of being a tombstone
}

// stamp tells whether a file was written to.
type stamp struct {
	size int64
	mod  time.Time
}

// name is what sentences call the store.
func (s *store) name() string {
	if s.info.Input == "" || s.info.Input == s.info.Path {
		return s.info.Path
	}
	return s.info.Input + "/" + s.info.Path
}

// problem notes a sentence about the store.
func (s *store) problem(format string, args ...any) {
	s.info.Problems = append(s.info.Problems, fmt.Sprintf(format, args...))
}

// open reads the store. What is wrong with it becomes Problems; a store that
// cannot be read is left closed and without records.
func (s *store) open(ctx context.Context, lockTimeout time.Duration) {
	defer s.meter.finish()
	err := s.read(ctx, lockTimeout)
	if err == nil {
		return
	}
	s.problem("%s", err)
	s.info.Records, s.info.First, s.info.Last, s.records = 0, 0, 0, nil
	if err := s.close(); err != nil {
		s.problem("close: %s", err)
	}
}

// read does the steps of open in order: nothing is left to bbolt that was not
// verified, since it trusts a file's page numbers and sizes.
func (s *store) read(ctx context.Context, lockTimeout time.Duration) error {
	if err := s.openFile(ctx, lockTimeout); err != nil {
		return err
	}
	layout, err := s.readLayout()
	if err != nil {
		return err
	}
	if err := s.checkTrailer(ctx); err != nil {
		return err
	}
	leaves, err := verifyPages(ctx, s.file, layout, &s.meter)
	if err != nil {
		return salvage(err)
	}
	s.records = make([]record, 0, leaves) // nearly all are in the key bucket
	if err := s.openDB(lockTimeout); err != nil {
		return err
	}
	if err := guard(func() error { return s.db.View(s.readBuckets(ctx)) }); err != nil {
		return err
	}
	return s.unchanged()
}

// errChanged means that somebody wrote to the file: pages that were verified
// may no longer be what they were.
var errChanged = errors.New("the file is being written to: copy it, or take a snapshot")

// salvage adds to a damage what it means for the store.
func salvage(err error) error {
	var d *damage
	if errors.As(err, &d) {
		return fmt.Errorf("damaged: %w; the store is not used, what its other pages hold is not salvaged", err)
	}
	return err
}

// openFile opens the file and makes sure that nobody has it locked.
func (s *store) openFile(ctx context.Context, lockTimeout time.Duration) error {
	info, err := os.Stat(s.path)
	if err != nil {
		return plain(err)
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	if s.file, err = os.Open(s.path); err != nil {
		return plain(err)
	}
	if info, err = s.file.Stat(); err != nil {
		return plain(err)
	}
	s.info.Size, s.meter.size = info.Size(), info.Size()
	s.stamp = stamp{info.Size(), info.ModTime()}
	return probeLock(ctx, s.file, lockTimeout)
}

// plain drops the path from an error of the operating system.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}

// openDB gives the open file to bbolt, and takes back the lock at once that
// bbolt puts on it: an etcd that starts meanwhile must not wait for us.
func (s *store) openDB(lockTimeout time.Duration) error {
	return guard(func() error {
		db, err := bbolt.Open(s.path, 0, &bbolt.Options{
			ReadOnly: true,
			Timeout:  lockTimeout,
			OpenFile: func(string, int, os.FileMode) (*os.File, error) { return s.file, nil },
		})
		if err != nil {
			s.file = nil // bbolt closed it
			if errors.Is(err, bolterrors.ErrTimeout) {
				return errLocked
			}
			return fmt.Errorf("open: %w", plain(err))
		}
		s.db = db
		return unlock(s.file)
	})
}

// unchanged returns errChanged if the file was written to since it was opened.
func (s *store) unchanged() error {
	info, err := s.file.Stat()
	if err != nil {
		return plain(err)
	}
	if info.Size() != s.stamp.size || !info.ModTime().Equal(s.stamp.mod) {
		return errChanged
	}
	return nil
}

// value reads the value of a put.
func (s *store) value(main, sub int64) (value []byte, err error) {
	if s.db == nil {
		return nil, fs.ErrClosed
	}
	if err := s.unchanged(); err != nil {
		return nil, err
	}
	name := revisionKey{main: main, sub: sub}.append(make([]byte, 0, tombstoneLen))
	err = guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket(keyBucket)
			if bucket == nil {
				return errNoKeys
			}
			b := bucket.Get(name)
			if b == nil {
				return errors.New("no such record")
			}
			kv, err := parseKeyValue(b)
			if err != nil {
				return err
			}
			value = append(make([]byte, 0, len(kv.value)), kv.value...)
			return nil
		})
	})
	return value, err
}

// close closes the file; a second call does nothing.
func (s *store) close() (err error) {
	s.closing.Do(func() {
		switch {
		case s.db != nil:
			err = s.db.Close()
		case s.file != nil:
			err = s.file.Close()
		}
	})
	return err
}
