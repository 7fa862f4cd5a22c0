package source

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"time"
)

// unpacker takes archives apart: every entry becomes a file of its own in the spool,
// under the path that it has in its archive, archives in archives too.
type unpacker struct {
	c     *collector
	spool *spool
	meter meter
	// seen are the paths that are taken, by input.
	seen map[*input]map[string]bool
	next int // number of the next archive
}

// bundle is an archive that is being unpacked.
type bundle struct {
	owner *input
	// path is that of the archive inside its input, with a slash behind it, ""
	// where the archive is the input itself.
	prefix string
	// own is its path as it is listed.
	own   string
	depth int
	gauge *gauge
	// folder is where its entries are stored, inside the spool.
	folder string
	// metered is true where all that comes out is counted already: a tar.
	metered bool
}

// content is what is read of one entry.
func (a *bundle) content(r io.Reader) io.Reader {
	if !a.metered {
		r = a.gauge.counted(r)
	}
	return a.gauge.oneFile(r)
}

// ends says that what stands behind the entry that was read last is not read.
func (a *bundle) ends(f *File) {
	f.Problems = append(f.Problems, fmt.Sprintf("what stands behind entry %d is not read", a.gauge.entries))
}

// unpackAll takes the archives apart that were found.
func (c *collector) unpackAll(set *Set, opts Options) error {
	u := &unpacker{c: c, spool: &spool{ctx: c.ctx, temp: opts.TempDir, folder: set.private}, meter: meter{limits: opts.Limits.orDefault()}, seen: map[*input]map[string]bool{}}
	defer func() { set.private = u.spool.folder }()
	for _, e := range c.found {
		u.taken(e.owner, e.path)
	}
	for i := range len(c.found) {
		if e := c.found[i]; e.file != nil && e.file.Kind == KindArchive {
			if err := u.unpack(&e, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpack takes a file apart that looks like an archive; it says false for one that is
// none, and one that is compressed text or data only becomes its content.
func (u *unpacker) unpack(e *entry, depth int) error {
	f := e.file
	in, err := f.openRaw()
	if err != nil {
		u.c.skip(e.owner, e.path, reason(err))
		return nil
	}
	defer func() { _ = in.Close() }()
	u.next++
	a := &bundle{
		owner: e.owner, own: e.path, depth: depth, folder: fmt.Sprint(u.next),
		gauge: &gauge{meter: &u.meter, size: f.Size},
	}
	if depth > 1 || e.owner.folder {
		a.prefix = e.path + "/"
	}
	head := make([]byte, blockSize)
	n, _ := io.ReadFull(in, head)
	head = head[:n]
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if depth > u.meter.limits.Depth && (isTar(head) || isZip(head) || codecOf(head) != nil) {
		f.Problems = append(f.Problems, fmt.Sprintf("lies %d archives deep and is not unpacked (--max-depth)", depth))
		return nil
	}
	switch name := otherArchive(head); {
	case name != "":
		f.Problems = append(f.Problems, name+" archives are not unpacked: unpack it and name the folder")
		return nil
	case isZip(head):
		f.Unpacked = true
		return u.zip(a, f, in)
	case isTar(head):
		f.Unpacked = true
		return u.tar(a, f, in)
	}
	return u.stream(a, e, in, head)
}

// stream decompresses one stream: an archive in it is taken apart as it comes, what
// else it is becomes the content of the file itself.
func (u *unpacker) stream(a *bundle, e *entry, in io.Reader, head []byte) error {
	c, f := codecOf(head), e.file
	plainIn := bufio.NewReaderSize(&ctxReader{u.c.ctx, in}, 256<<10)
	r, done, err := c.open(plainIn)
	if err != nil {
		f.Problems = append(f.Problems, fmt.Sprintf("the %s stream cannot be read: %v", c.name, plainCodec(err)))
		return nil
	}
	defer done()
	out := bufio.NewReaderSize(&named{r, c.name}, 256<<10)
	if isTar(headOf(out)) {
		f.Unpacked = true
		return u.tar(a, f, out)
	}
	s, err := u.spool.store(a.folder+"/"+storedName(f), a.content(out))
	if err := u.hard(err); err != nil {
		return err
	}
	if err != nil {
		f.Problems = append(f.Problems, partly(s.size, err))
	}
	if s.size == 0 && err != nil {
		return nil
	}
	f.take(s)
	if err := f.sniff(); err != nil {
		return err
	}
	if f.Kind == KindArchive {
		return u.unpack(e, a.depth+1)
	}
	return nil
}

// named words the errors of a decoder.
type named struct {
	r    io.Reader
	name string
}

func (n *named) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !isLimit(err) {
		err = fmt.Errorf("%s: %w", n.name, plainCodec(err))
	}
	return k, err
}

// storedName is the base name of the content of a compressed file.
func storedName(f *File) string {
	base := path.Base(strings.ReplaceAll(f.OSPath, string(os.PathSeparator), "/"))
	for _, end := range []string{".gz", ".zst", ".xz", ".bz2", ".s2", ".sz"} {
		if short, ok := strings.CutSuffix(base, end); ok && short != "" {
			return short
		}
	}
	return base
}

// hard returns an error that ends everything: that of the context, or of the disk.
func (u *unpacker) hard(err error) error {
	if e := u.c.ctx.Err(); e != nil {
		return e
	}
	var d *diskError
	if errors.As(err, &d) {
		return d
	}
	return nil
}

// entryName is the path of an entry as it is taken, "" with the reason why it is not.
func entryName(name string) (clean, why string) {
	slashed := strings.ReplaceAll(name, "\\", "/") // Windows writes these, systemd has "\\x2d" in names
	switch {
	case name == "" || strings.ContainsRune(name, 0):
		return "", "has no name"
	case strings.HasPrefix(slashed, "/"), len(slashed) > 2 && slashed[1:3] == ":/":
		return "", "absolute path, left out"
	case len(name) > 4096:
		return "", "its name is longer than 4096 bytes, left out"
	}
	for _, part := range strings.Split(slashed, "/") {
		if part == ".." {
			return "", "path with .., left out"
		}
	}
	if runtime.GOOS != "windows" {
		slashed = name
	}
	if clean = path.Clean(slashed); clean == "." {
		return "", "has no name"
	}
	return clean, ""
}

// add stores one entry of an archive and collects it; false ends the archive.
func (u *unpacker) add(a *bundle, name string, mod time.Time, r io.Reader) (goOn bool, err error) {
	if err := a.gauge.entry(); err != nil {
		u.c.skip(a.owner, a.own, err.Error())
		return false, nil
	}
	clean, why := entryName(name)
	if why != "" {
		u.c.skip(a.owner, a.prefix+printableName(name), why)
		return true, nil
	}
	sub := a.prefix + clean
	if u.taken(a.owner, sub) {
		u.c.skip(a.owner, sub, "a second entry of this name, left out")
		return true, nil
	}
	s, err := u.spool.store(a.folder+"/"+clean, a.content(r))
	if e := u.hard(err); e != nil {
		return false, e
	}
	goOn = err == nil || isFileLimit(err) || isPath(err)
	if s.size == 0 && err != nil {
		u.c.skip(a.owner, sub, entryReason(err))
		return goOn, nil
	}
	f := &File{ModTime: mod, Size: s.size, OSPath: s.path, private: true, coded: s.coded, inSpool: true}
	if err != nil {
		f.Problems = append(f.Problems, partly(s.size, err))
	}
	if err := f.sniff(); err != nil {
		return false, err
	}
	x := entry{owner: a.owner, path: sub, file: f}
	if f.Kind == KindArchive {
		if err := u.unpack(&x, a.depth+1); err != nil {
			return false, err
		}
	}
	u.c.found = append(u.c.found, x)
	return goOn, nil
}

// partly says why only the beginning of a content is there.
func partly(size int64, err error) string {
	if isLimit(err) {
		return fmt.Sprintf("used up to byte %d: %v", size, err)
	}
	return fmt.Sprintf("cut or damaged after %d bytes: %v; what came before is used", size, err)
}

// isPath is for errors about the place of one entry: a name that the file system does
// not take, or a file where another entry has a folder.
func isPath(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p)
}

func entryReason(err error) string {
	if isPath(err) {
		return "cannot be stored: " + reason(err)
	}
	return err.Error()
}

// printableName keeps a listed name short and on one line.
func printableName(name string) string {
	name = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, name), "?")
	if len(name) > 256 {
		name = name[:256] + "…"
	}
	return name
}

// taken says whether a path of an input is there already, and takes it.
func (u *unpacker) taken(n *input, sub string) bool {
	if u.seen[n] == nil {
		u.seen[n] = map[string]bool{}
	}
	if u.seen[n][sub] {
		return true
	}
	u.seen[n][sub] = true
	return false
}
