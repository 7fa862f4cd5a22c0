package logparse

import (
	"bytes"
	"io"
)

// MaxLine is how many bytes of one line are kept. The rest of a longer line is
// read past and counted, so that one broken line cannot fill the memory.
const MaxLine = 1 << 20

const (
	firstBuffer = 256 << 10 // also the head that Identify and the year guess see
	maxEmpty    = 100       // reads of no bytes and no error before giving up
)

// line is one line of a stream without its line end.
type line struct {
	// text is at most MaxLine bytes and valid until the next call.
	text []byte
	// lost counts the bytes past MaxLine that were not kept.
	lost int64
	// offset is where it begins in the stream.
	offset int64
	// nuls counts NUL bytes dropped at both ends: what a filesystem leaves of a
	// log that was open when the power went.
	nuls int64
}

// lineReader cuts a stream into lines. How the source splits its reads changes
// nothing about them.
type lineReader struct {
	src        io.Reader
	buf        []byte
	start, end int
	base       int64 // the stream's offset of buf[0]
	err        error // sticky; io.EOF included
}

func newLineReader(r io.Reader) *lineReader {
	l := &lineReader{src: r, buf: make([]byte, firstBuffer)}
	for l.end < 3 && l.err == nil {
		l.fill()
	}
	if bytes.HasPrefix(l.buf[:l.end], []byte("\xef\xbb\xbf")) {
		l.start = 3
	}
	return l
}

// head returns the first block of the stream without consuming it. It must be
// called before next.
func (l *lineReader) head() []byte {
	for l.end < len(l.buf) && l.err == nil {
		l.fill()
	}
	return l.buf[l.start:l.end]
}

// next returns the next line, false at the end of the stream or on an error,
// after the bytes before it were returned as a last line.
func (l *lineReader) next() (line, bool) {
	nuls := l.skipNULs()
	offset := l.base + int64(l.start)
	x, ok := l.cutLine(nuls)
	x.offset = offset
	return x, ok
}

func (l *lineReader) cutLine(nuls int64) (line, bool) {
	for scan := l.start; ; {
		window := min(l.end, l.start+MaxLine+2) // the line may end in \r\n
		if i := bytes.IndexByte(l.buf[scan:window], '\n'); i >= 0 {
			text := l.buf[l.start : scan+i]
			l.start = scan + i + 1
			return trimLine(text, 0, nuls), true
		}
		if window-l.start == MaxLine+2 {
			text, lost := l.cut()
			return trimLine(text, lost, nuls), true
		}
		if l.err != nil {
			text := l.buf[l.start:l.end]
			l.start = l.end
			return trimLine(text, 0, nuls), len(text) > 0 || nuls > 0
		}
		done := l.end - l.start
		l.fill()
		scan = l.start + done
	}
}

// cut keeps the first MaxLine bytes and reads past the rest of the line.
func (l *lineReader) cut() (text []byte, lost int64) {
	keep := l.start + MaxLine
	for {
		if i := bytes.IndexByte(l.buf[keep:l.end], '\n'); i >= 0 {
			text, lost = l.buf[l.start:keep], lost+int64(i)
			l.start = keep + i + 1
			return text, lost
		}
		lost += int64(l.end - keep)
		l.base += int64(l.end - keep)
		l.end = keep
		if l.err != nil {
			text = l.buf[l.start:keep]
			l.start = l.end
			return text, lost
		}
		l.fill()
		keep = l.start + MaxLine
	}
}

// skipNULs drops the NUL bytes at the start of a line, however many.
func (l *lineReader) skipNULs() (n int64) {
	for {
		for l.start < l.end && l.buf[l.start] == 0 {
			l.start++
			n++
		}
		if l.start < l.end || l.err != nil {
			return n
		}
		l.fill()
	}
}

// fill reads once, after making room: by moving what is unread to the front,
// and by doubling the buffer while a line may still grow.
func (l *lineReader) fill() {
	if l.end == len(l.buf) {
		if l.start > 0 {
			l.base += int64(l.start)
			l.end = copy(l.buf, l.buf[l.start:l.end])
			l.start = 0
		} else {
			grown := make([]byte, 2*len(l.buf))
			copy(grown, l.buf)
			l.buf = grown
		}
	}
	for range maxEmpty {
		n, err := l.src.Read(l.buf[l.end:])
		l.end += n
		l.err = err
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// trimLine drops the line end's \r and the NUL bytes at the end.
func trimLine(text []byte, lost, nuls int64) line {
	if lost == 0 {
		text = bytes.TrimSuffix(text, []byte("\r"))
		n := len(text)
		text = bytes.TrimRight(text, "\x00")
		nuls += int64(n - len(text))
	}
	if len(text) > MaxLine { // a line of MaxLine+1 bytes that did end
		lost += int64(len(text) - MaxLine)
		text = text[:MaxLine]
	}
	return line{text: text, lost: lost, nuls: nuls}
}

// bytes takes n bytes as they are, fewer at the end of the stream. They are valid
// until the next call.
func (l *lineReader) bytes(n int) []byte {
	for l.end-l.start < n && l.err == nil {
		l.fill()
	}
	n = min(n, l.end-l.start)
	b := l.buf[l.start : l.start+n]
	l.start += n
	return b
}

// read gives out what follows as it is, like an io.Reader.
func (l *lineReader) read(p []byte) (int, error) {
	if l.start == l.end && l.err == nil {
		l.fill()
	}
	if l.start == l.end {
		return 0, l.err
	}
	n := copy(p, l.buf[l.start:l.end])
	l.start += n
	return n, nil
}

// atEnd says whether nothing follows.
func (l *lineReader) atEnd() bool {
	for l.start == l.end && l.err == nil {
		l.fill()
	}
	return l.start == l.end
}
