package snapshot

import "errors"

// errLocked means that the lock could not be had in time.
var errLocked = errors.New("locked by another process (a running etcd?)")

// errNoLock means that the file system knows no locks.
var errNoLock = errors.New("the file system refuses to lock the file")
