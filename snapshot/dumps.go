package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"

	"etcd-autopsy/snapshot/dump"
)

// Dump describes a text of objects that an API server once answered and somebody
// saved ("kubectl get -o yaml"). Each object is an observation of the revision
// that its resourceVersion is; what was before, after and between is not known.
type Dump struct {
	// Input and Path name the file as source.File does.
	Input, Path string
	// Objects counts those that have a place in the history; Unplaced those that
	// have no resourceVersion: a manifest, or one that somebody took it from.
	Objects, Unplaced int
	// First and Last are the lowest and highest revision of Objects, 0 without any.
	First, Last int64
	// ListRevision is the highest resourceVersion of a list in it, 0 if none says
	// one: the store was at that revision when it was asked.
	ListRevision int64
	// Problems are what could not be read or used, each a sentence.
	Problems []string
	// Rejected is set when its objects could be read but are not of the history of
	// the stores, and why.
	Rejected string
}

// dumpFile is a Dump with its objects.
type dumpFile struct {
	info  Dump
	items []dumpItem
	// right and wrong count what stores say of its objects.
	right, wrong int
	first        *dumpItem // wrong
}

// dumpItem is one object of a dump.
type dumpItem struct {
	main int64
	key  string
	uid  string
	size uint32
	data []byte // JSON, compressed by s2
}

// Dumps describes every file of kind Objects given to Load, in order of Input and
// Path.
func (h *History) Dumps() []Dump {
	list := make([]Dump, len(h.dumps))
	for i, d := range h.dumps {
		list[i] = d.info
	}
	return list
}

// DumpOf returns the index in Dumps of the first one that has revision i, -1 if
// none has.
func (h *History) DumpOf(i int) int {
	if p, ok := h.dumpPlace(i); ok {
		return p.dump
	}
	return -1
}

// readDumps reads the files.
func readDumps(ctx context.Context, files []File, open func(File) (io.ReadCloser, error)) ([]*dumpFile, error) {
	if open == nil {
		open = func(f File) (io.ReadCloser, error) { return os.Open(f.OSPath) }
	}
	var list []*dumpFile
	for _, f := range files {
		d := &dumpFile{info: Dump{Input: f.Input, Path: f.Path}}
		list = append(list, d)
		if err := d.read(ctx, f, open); err != nil {
			if ctx.Err() != nil {
				return list, ctx.Err()
			}
			d.problem("reading stopped after %d objects: %v", len(d.items), plain(err))
		}
	}
	return list, nil
}

// read takes the objects of a file that have a place.
func (d *dumpFile) read(ctx context.Context, f File, open func(File) (io.ReadCloser, error)) (err error) {
	r, err := open(f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	hint := resourceHint(f.Path)
	unknown := map[string]int{}
	sum, err := dump.Read(ctx, r, func(x dump.Item) error {
		d.take(x, hint, unknown)
		return nil
	})
	d.info.ListRevision = sum.ListRevision
	d.info.Problems = append(d.info.Problems, sum.Problems...)
	if n := unknown[""]; n > 0 {
		d.problem("%d objects do not say their kind and are left out", n)
	}
	if d.info.Unplaced > 0 && len(d.items) > 0 {
		d.problem("%d objects have no resourceVersion, so no place in the history, and are left out", d.info.Unplaced)
	}
	slices.SortStableFunc(d.items, func(a, b dumpItem) int { return cmp.Or(cmp.Compare(a.main, b.main), strings.Compare(a.key, b.key)) })
	d.span()
	return err
}

// take keeps one object.
func (d *dumpFile) take(x dump.Item, hint string, unknown map[string]int) {
	raw := x.JSON
	if x.Kind == "" {
		x.APIVersion, x.Kind = builtinKind(hint)
	}
	if x.Kind == "" {
		unknown[""]++
		return
	}
	if x.Revision == 0 {
		d.info.Unplaced++
		return
	}
	raw = withTypeMeta(raw, x.APIVersion, x.Kind)
	d.items = append(d.items, dumpItem{
		main: x.Revision, key: dumpKey(x), uid: strings.Clone(x.UID), size: uint32(min(len(raw), maxSize)),
		data: s2.Encode(nil, raw),
	})
}

// span sets what the description says of the objects.
func (d *dumpFile) span() {
	d.info.Objects, d.info.First, d.info.Last = len(d.items), 0, 0
	if n := len(d.items); n > 0 {
		d.info.First, d.info.Last = d.items[0].main, d.items[n-1].main
	}
}

// problem notes a sentence about the dump.
func (d *dumpFile) problem(format string, args ...any) {
	d.info.Problems = append(d.info.Problems, fmt.Sprintf(format, args...))
}

// resourceHint is the resource that a file's name, or its folder's, says its
// objects are of: troubleshoot.sh writes pods/NAMESPACE.json.
func resourceHint(p string) string {
	name, _, _ := strings.Cut(path.Base(p), ".")
	for _, hint := range []string{name, path.Base(path.Dir(p))} {
		if _, ok := builtin[hint]; ok {
			return hint
		}
	}
	return ""
}

// withTypeMeta makes an object say what it is, as stored ones do: the items of a
// list often do not.
func withTypeMeta(raw []byte, apiVersion, kind string) []byte {
	raw = bytes.TrimSpace(raw)
	if dump.SaysKind(raw) {
		return raw
	}
	head := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, apiVersion, kind)
	return append([]byte(head), bytes.TrimLeft(raw[1:], " \t\r\n")...)
}
