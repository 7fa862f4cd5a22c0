package correlate

import (
	"fmt"
	"io"
	"io/fs"
	"strings"

	"etcd-autopsy/snapshot"
)

// openObjects opens a file of objects for the reader of the stores.
func (c *Case) openObjects(f snapshot.File) (io.ReadCloser, error) {
	i := c.inputOf(f.Input, f.Path)
	if i < 0 {
		return nil, fs.ErrNotExist
	}
	return c.set.Files[i].Open()
}

// describeDumps writes what was read of files of objects to their inputs.
func (c *Case) describeDumps() {
	for _, d := range c.hist.Dumps() {
		in := &c.inputs[c.inputOf(d.Input, d.Path)]
		in.Records, in.Foreign = d.Objects, d.Rejected != ""
		in.Problems = append(in.Problems, d.Problems...)
		if d.Rejected != "" {
			in.Problems = append(in.Problems, d.Rejected)
		}
		if d.Objects == 0 && d.Unplaced > 0 {
			in.Kind = kindConfig
			in.Why = fmt.Sprintf("%s without a resourceVersion: no observation of a cluster", count(d.Unplaced, "object"))
		}
	}
}

// dateDumps gives the files of objects the times of their first and last revision.
func (c *Case) dateDumps() {
	for _, d := range c.hist.Dumps() {
		if d.Objects > 0 {
			in := &c.inputs[c.inputOf(d.Input, d.Path)]
			in.First, in.Last = timePtr(c.clock.AtOrAfter(d.First)), timePtr(c.clock.AtOrAfter(d.Last))
		}
	}
}

// dumpNotes say what rests on saved objects, and what that leaves unseen.
func (c *Case) dumpNotes(add func(string, ...any)) {
	objects, files, foreign := 0, 0, []string{}
	for _, d := range c.hist.Dumps() {
		objects += d.Objects
		if d.Objects > 0 {
			files++
		}
		if d.Rejected != "" {
			foreign = append(foreign, join(d.Input, d.Path))
		}
	}
	if len(foreign) > 0 {
		add("Objects of another cluster are left out: %s", list(shorten(foreign)))
	}
	if files == 0 {
		return
	}
	where := fmt.Sprintf("%s of %s", count(objects, "object"), count(files, "file"))
	if len(c.hist.Stores()) == 0 && len(c.hist.WALs()) == 0 {
		add("No store was given: the history is that of %s saved from an API server, each as it was at one revision; what they were before, and objects that were deleted or not saved, cannot be seen", where)
		return
	}
	add("%s saved from an API server are in the history, each as it was at one revision", strings.ToUpper(where[:1])+where[1:])
}

// shorten keeps a list of names readable.
func shorten(names []string) []string {
	const most = 5
	if len(names) <= most {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
}
