//go:build unix && !solaris && !aix && !android

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockRetry is the pause between two attempts to lock.
const lockRetry = 10 * time.Millisecond

// probeLock waits until nobody has the file locked for writing, and does not
// keep the lock. A running etcd holds an exclusive one for as long as it lives.
func probeLock(ctx context.Context, f *os.File, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		err := flock(f, syscall.LOCK_SH|syscall.LOCK_NB)
		switch {
		case err == nil:
			return unlock(f)
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("%w (%w)", errNoLock, err)
		case time.Now().After(deadline):
			return errLocked
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockRetry):
		}
	}
}

// unlock gives up the lock on an open file.
func unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
