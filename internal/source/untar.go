package source

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
)

// tarLeftOut names the entries of a tar that are not files.
var tarLeftOut = map[byte]string{
	tar.TypeLink: "hard link in an archive, left out", tar.TypeSymlink: "symbolic link, not followed", tar.TypeChar: "device, not opened",
	tar.TypeBlock: "device, not opened", tar.TypeFifo: "named pipe, not opened",
}

// tar takes a tar apart as it comes.
func (u *unpacker) tar(a *bundle, f *File, in io.Reader) error {
	a.metered = true
	t := tar.NewReader(a.gauge.counted(in))
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return u.c.ctx.Err()
		}
		if err != nil {
			if e := u.hard(err); e != nil {
				return e
			}
			if isLimit(err) {
				f.Problems = append(f.Problems, err.Error())
				return nil
			}
			f.Problems = append(f.Problems, fmt.Sprintf("the tar is cut or damaged after %d entries: %v; what came before is used", a.gauge.entries, plainCodec(err)))
			return nil
		}
		switch {
		case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
			if err := a.gauge.entry(); err != nil {
				u.c.skip(a.owner, a.own, err.Error())
				return nil
			}
			continue
		case tarLeftOut[h.Typeflag] != "":
			if err := a.gauge.entry(); err != nil {
				u.c.skip(a.owner, a.own, err.Error())
				return nil
			}
			u.c.skip(a.owner, a.prefix+printableName(h.Name), tarLeftOut[h.Typeflag])
			continue
		}
		goOn, err := u.add(a, h.Name, h.ModTime, t)
		if err != nil {
			return err
		}
		if !goOn {
			a.ends(f)
			return nil
		}
	}
}
