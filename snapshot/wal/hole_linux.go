package wal

import (
	"os"

	"golang.org/x/sys/unix"
)

// nextData returns where the next part of a file that is no hole begins; ok is
// false if the file system does not tell. Segments are made 64 MB long at once,
// and most of the last one is a hole.
func nextData(f *os.File, at int64) (next int64, ok bool) {
	next, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
	if err == unix.ENXIO { // nothing but a hole up to the end
		info, err := f.Stat()
		if err != nil {
			return 0, false
		}
		return info.Size(), true
	}
	return next, err == nil
}
