package source

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
)

// zip takes a zip apart by its directory, which is at its end.
func (u *unpacker) zip(a *bundle, f *File, in *os.File) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(in, info.Size())
	if err != nil {
		f.Problems = append(f.Problems, fmt.Sprintf("the zip's directory cannot be read (%v): it is cut or damaged; the entries before the cut are used", err))
		return u.salvageZip(a, f, in)
	}
	for _, x := range z.File {
		if err := u.c.ctx.Err(); err != nil {
			return err
		}
		if a.gauge.entries >= a.gauge.limits.Entries {
			u.c.skip(a.owner, a.own, a.gauge.entry().Error())
			return nil
		}
		mode := x.Mode()
		switch {
		case mode.IsDir():
			continue
		case !mode.IsRegular():
			u.c.skip(a.owner, a.prefix+printableName(x.Name), "not a regular file, left out")
			continue
		case x.Flags&1 != 0:
			u.c.skip(a.owner, a.prefix+printableName(x.Name), "encrypted, left out")
			continue
		}
		goOn, err := u.zipped(a, x)
		if err != nil {
			return err
		}
		if !goOn && isDone(a) {
			a.ends(f)
			return nil
		}
	}
	return nil
}

// isDone says whether a limit has ended the archive: another entry of a zip can be
// sound behind a damaged one.
func isDone(a *bundle) bool {
	return a.gauge.entries > a.gauge.limits.Entries || a.gauge.total > a.gauge.limits.Bytes || a.gauge.out > freeBytes && a.gauge.out/a.gauge.limits.Ratio > a.gauge.size
}

func (u *unpacker) zipped(a *bundle, x *zip.File) (goOn bool, err error) {
	r, err := x.Open()
	if err != nil {
		u.c.skip(a.owner, a.prefix+printableName(x.Name), "cannot be read: "+err.Error())
		return true, nil
	}
	defer func() { _ = r.Close() }()
	return u.add(a, x.Name, x.Modified, io.Reader(r))
}
