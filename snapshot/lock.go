package snapshot

import "errors"

// errLocked means that the lock could not be had in time.
var errLocked = errors.New("locked by another process (a running etcd?): stop it, copy the file, or take a snapshot")
