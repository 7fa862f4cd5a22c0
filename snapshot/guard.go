package snapshot

import (
	"fmt"
	"runtime/debug"
)

// guard runs f so that nothing in a damaged file can end the program: a page of
// the mapping that is no longer there (the file was cut or the disk failed), and
// a panic of bbolt or of a decoder, become errors. It is the only place of the
// package that recovers.
func guard(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	return f()
}
