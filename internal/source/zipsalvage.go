package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/flate"
)

// localHead is what stands before an entry of a zip (APPNOTE.TXT 4.3.7).
type localHead struct {
	flags, method uint16
	size          int64 // compressed, 0 where it stands behind the entry
	name          string
}

const (
	zipStored   = 0
	zipDeflated = 8
	localSize   = 30 // without name and extra field
)

// salvageZip reads the entries of a zip whose directory is lost, by the heads that
// stand before them: what was copied before the cut.
func (u *unpacker) salvageZip(a *bundle, f *File, in *os.File) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(&ctxReader{u.c.ctx, in}, 256<<10)
	for {
		h, err := readLocal(r)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				f.Problems = append(f.Problems, fmt.Sprintf("after %d entries: %v", a.gauge.entries, plainCodec(err)))
			}
			return u.c.ctx.Err()
		}
		var body io.Reader
		switch {
		case h.flags&1 != 0:
			f.Problems = append(f.Problems, fmt.Sprintf("after %d entries: %s is encrypted, and behind it nothing can be found", a.gauge.entries, printableName(h.name)))
			return nil
		case h.method == zipDeflated:
			body = flate.NewReader(r)
		case h.method == zipStored && h.size > 0:
			body = &exact{r, h.size}
		case h.name != "" && h.name[len(h.name)-1] == '/':
			continue
		default:
			f.Problems = append(f.Problems, fmt.Sprintf("after %d entries: the length of %s is not known, and behind it nothing can be found", a.gauge.entries, printableName(h.name)))
			return nil
		}
		goOn, err := u.add(a, h.name, time.Time{}, body)
		if err != nil {
			return err
		}
		if !goOn {
			a.ends(f)
			return nil
		}
		if _, err := io.Copy(io.Discard, body); err != nil { // of an entry that was left out
			continue
		}
		if err := skipDescriptor(r, h.flags); err != nil {
			return u.c.ctx.Err()
		}
	}
}

// exact gives so many bytes, and an error if there are fewer.
type exact struct {
	r    io.Reader
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	if e.left -= int64(n); errors.Is(err, io.EOF) && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// readLocal reads the head of an entry; io.EOF where no entry follows.
func readLocal(r *bufio.Reader) (h localHead, err error) {
	b, err := r.Peek(localSize)
	if len(b) < 4 || string(b[:4]) != "PK\x03\x04" {
		return h, io.EOF
	}
	if err != nil {
		return h, io.ErrUnexpectedEOF
	}
	h.flags, h.method = binary.LittleEndian.Uint16(b[6:]), binary.LittleEndian.Uint16(b[8:])
	h.size = int64(binary.LittleEndian.Uint32(b[18:]))
	if h.flags&8 != 0 || h.size == 0xffffffff {
		h.size = 0
	}
	name, extra := int(binary.LittleEndian.Uint16(b[26:])), int(binary.LittleEndian.Uint16(b[28:]))
	all := make([]byte, localSize+name+extra)
	if _, err := io.ReadFull(r, all); err != nil {
		return h, io.ErrUnexpectedEOF
	}
	h.name = string(all[localSize : localSize+name])
	return h, nil
}

// skipDescriptor passes over the sizes that stand behind an entry: 12 or 16 bytes, with
// a mark before them that most writers set; 8 more where sizes have 64 bits.
func skipDescriptor(r *bufio.Reader, flags uint16) error {
	if flags&8 == 0 {
		return nil
	}
	b, err := r.Peek(28)
	for _, n := range []int{16, 12, 24, 20} {
		if len(b) >= n+4 && string(b[n:n+2]) == "PK" {
			_, err = r.Discard(n)
			return err
		}
	}
	return err
}
