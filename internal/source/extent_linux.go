package source

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// extent finds the next run of data at or after at: from data up to hole. The
// bytes between at and data read as zero. A file system that cannot tell gives
// all as data.
func extent(f *os.File, at, size int64) (data, hole int64) {
	fd := int(f.Fd())
	data, err := unix.Seek(fd, at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return size, size
	}
	if err != nil || data < at || data > size {
		return at, size
	}
	hole, err = unix.Seek(fd, data, unix.SEEK_HOLE)
	if err != nil || hole <= data || hole > size {
		return data, size
	}
	return data, hole
}
