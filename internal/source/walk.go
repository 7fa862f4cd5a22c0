package source

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// entry is a file that was found, or with a reason something that was left out.
type entry struct {
	owner  *input
	path   string // inside the owner, with slashes
	file   *File
	reason string
}

// collector gathers the entries of all inputs. Inputs come outer folder first,
// so what lies in two of them belongs to the outer one.
type collector struct {
	ctx   context.Context
	found []entry
	paths map[string]bool // canonical paths seen
	infos []seenFile      // to find hard links
}

// seenFile is a file with its place, to be told apart by os.SameFile.
type seenFile struct {
	info fs.FileInfo
	name string
}

// input collects a file or the content of a folder.
func (c *collector) input(n *input) error {
	info, err := os.Stat(n.real)
	switch {
	case err != nil:
		c.skip(n, filepath.Base(n.path), reason(err))
	case info.IsDir():
		n.folder = true
		before := len(c.found)
		if err := c.folder(n, n.real, ""); err != nil {
			return err
		}
		if len(c.found) == before && !c.within(n.real) {
			c.skip(n, dotFor(""), "the folder holds no file")
		}
	default:
		c.file(n, n.real, filepath.Base(n.path), info)
	}
	return nil
}

// within says whether a folder lies in another input, whose it then is.
func (c *collector) within(real string) bool {
	for dir := filepath.Dir(real); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if c.paths[dir] {
			return true
		}
	}
	return false
}

// folder collects what is in the folder at real, which is prefix inside n.
func (c *collector) folder(n *input, real, prefix string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.paths[real] {
		return nil
	}
	c.paths[real] = true
	entries, err := os.ReadDir(real)
	if err != nil {
		c.skip(n, dotFor(prefix), reason(err))
	}
	for _, e := range entries {
		place, sub := filepath.Join(real, e.Name()), path.Join(prefix, e.Name())
		if e.IsDir() {
			if err := c.folder(n, place, sub); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if err != nil {
			c.skip(n, sub, reason(err))
			continue
		}
		c.file(n, place, sub, info)
	}
	return nil
}

// dotFor names the folder itself, whose path inside its input is empty.
func dotFor(p string) string {
	if p == "" {
		return "."
	}
	return p
}

// irregular names what is never opened, by its mode.
var irregular = []struct {
	mode   fs.FileMode
	reason string
}{
	{fs.ModeSymlink, "symbolic link, not followed"},
	{fs.ModeNamedPipe, "named pipe, not opened"},
	{fs.ModeSocket, "socket, not opened"},
	{fs.ModeDevice, "device, not opened"},
	{fs.ModeIrregular, "not a regular file, not opened"},
}

// file collects one file, unless it is irregular or known already.
func (c *collector) file(n *input, real, sub string, info fs.FileInfo) {
	for _, i := range irregular {
		if info.Mode()&i.mode != 0 {
			c.skip(n, sub, i.reason)
			return
		}
	}
	if c.paths[real] {
		return
	}
	c.paths[real] = true
	if first := c.same(info); first != "" {
		c.skip(n, sub, "same file as "+first)
		return
	}
	f := &File{Size: info.Size(), ModTime: info.ModTime(), OSPath: real}
	if err := f.sniff(); err != nil {
		c.skip(n, sub, reason(err))
		return
	}
	c.found = append(c.found, entry{owner: n, path: sub, file: f})
	if linked(info) {
		c.infos = append(c.infos, seenFile{info, sub})
	}
}

// same returns the path of an earlier file that is a hard link of this one.
func (c *collector) same(info fs.FileInfo) string {
	if !linked(info) {
		return ""
	}
	for _, s := range c.infos {
		if os.SameFile(s.info, info) {
			return s.name
		}
	}
	return ""
}

func (c *collector) skip(n *input, sub, why string) {
	c.found = append(c.found, entry{owner: n, path: sub, reason: why})
}
