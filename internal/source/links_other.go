//go:build !unix

package source

import "io/fs"

// linked says whether a file can have more than one name; here that is unknown.
func linked(fs.FileInfo) bool { return true }
