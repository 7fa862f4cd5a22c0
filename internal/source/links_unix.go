//go:build unix

package source

import (
	"io/fs"
	"syscall"
)

// linked says whether a file has more than one name, so that another of them
// could be met. Only such files are compared with each other.
func linked(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || s.Nlink > 1
}
