package dump

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// feed is a text that can be read by bytes, by lines and by a decoder that takes
// too much and gives it back.
type feed struct {
	back []byte // given back
	r    *bufio.Reader
}

func newFeed(r io.Reader) *feed { return &feed{r: bufio.NewReaderSize(r, 64<<10)} }

// peek returns the next byte without reading it.
func (f *feed) peek() (byte, error) {
	if len(f.back) > 0 {
		return f.back[0], nil
	}
	b, err := f.r.Peek(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// skip passes over the byte that peek returned.
func (f *feed) skip() {
	if len(f.back) > 0 {
		f.back = f.back[1:]
		return
	}
	_, _ = f.r.Discard(1) // it is in the buffer
}

// piece returns the rest of a line, or as much of it as there is at once; whole
// says that the line ends with it. It is valid until the next call.
func (f *feed) piece() (text []byte, whole bool, err error) {
	if n := len(f.back); n > 0 {
		if i := bytes.IndexByte(f.back, '\n'); i >= 0 {
			n = i + 1
		}
		text, f.back = f.back[:n], f.back[n:]
		return text, text[n-1] == '\n', nil
	}
	text, err = f.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return text, false, nil
	}
	return text, true, err
}

func (f *feed) Read(p []byte) (int, error) {
	if len(f.back) > 0 {
		n := copy(p, f.back)
		f.back = f.back[n:]
		return n, nil
	}
	return f.r.Read(p)
}

// unread gives bytes back.
func (f *feed) unread(b []byte) { f.back = append(b, f.back...) }

// budget passes on what it reads until more was read for one object than any has.
// It begins with small pieces, so that little has to be given back.
type budget struct {
	r    io.Reader
	left int64
	step int
	err  error // the last of r
}

var errTooLong = errors.New("an object is longer than 32 MiB")

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.err = errTooLong
		return 0, errTooLong
	}
	b.step = min(max(2*b.step, 512), 64<<10)
	n, err := b.r.Read(p[:min(len(p), b.step)])
	b.left -= int64(n)
	b.err = err
	return n, err
}
