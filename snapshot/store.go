package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

// store is one file while it is open.
type store struct {
	info           Store
	index          int // in History.Stores
	path           string
	meter          meter
	file           *os.File
	closing        sync.Once
	db             *bbolt.DB // nil for a store that is salvaged
	stamp          stamp
	confState      bool          // the meta bucket has it
	keys           *keyTable     // of records and carved; empty after the merge
	records        []record      // of the tree, in order of main and sub; nil after the merge
	hashes         []uint64      // of the records' bytes, and of being a tombstone
	unread         []revisionKey // of the tree, that are there but cannot be used
	carved         []carved      // in order of main and sub; nil after the merge
	places         []place       // of what bbolt cannot be asked for, in the same order
	contradictions []Contradiction
	odd            [oddKinds]oddity // of the tree
	// partial is true if the tree may lack revisions without saying which.
	partial bool
}

// forget drops what only the merge needs.
func (s *store) forget() {
	s.keys, s.records, s.hashes, s.carved, s.contradictions = &keyTable{}, nil, nil, nil, nil
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

// errChanged means that somebody wrote to the file: pages that were verified
// may no longer be what they were.
var errChanged = errors.New("the file is being written to: copy it, or take a snapshot")

// plain drops the path from an error of the operating system.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
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
	if p := s.find(main, sub); p != nil {
		b, err := s.fetch(p)
		if err != nil {
			return nil, err
		}
		return valueOf(b)
	}
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
			value, err = valueOf(b)
			return err
		})
	})
	return value, err
}

// valueOf copies the value out of a record.
func valueOf(b []byte) ([]byte, error) {
	kv, err := parseKeyValue(b)
	if err != nil {
		return nil, err
	}
	return append(make([]byte, 0, len(kv.value)), kv.value...), nil
}

// close closes the file; a second call does nothing.
func (s *store) close() (err error) {
	s.closing.Do(func() {
		if s.db != nil {
			err = s.db.Close()
		}
		if s.file != nil {
			err = errors.Join(err, s.file.Close())
		}
	})
	return err
}
