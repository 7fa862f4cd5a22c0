package logparse

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readLines returns what a lineReader makes of a text, each line with its notes.
func readLines(r io.Reader) []string {
	l := newLineReader(r)
	var out []string
	for {
		x, ok := l.next()
		if !ok {
			return out
		}
		s := string(x.text)
		if len(s) > 50 {
			s = fmt.Sprintf("%d bytes", len(s))
		}
		if x.lost > 0 {
			s += fmt.Sprintf(" -%d", x.lost)
		}
		if x.nuls > 0 {
			s += fmt.Sprintf(" nul%d", x.nuls)
		}
		out = append(out, s)
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"only a byte order mark", "\ufeff", nil},
		{"byte order mark", "\ufeffa\n", []string{"a"}},
		{"newline", "\n", []string{""}},
		{"no final newline", "a\nb", []string{"a", "b"}},
		{"carriage returns", "a\r\nb\r\n\r\nc\r", []string{"a", "b", "", "c"}},
		{"carriage return inside", "a\rb\n", []string{"a\rb"}},
		{"nul bytes around", "\x00\x00a\x00b\x00\x00\x00\nc\n", []string{"a\x00b nul5", "c"}},
		{"only nul bytes", "\x00\x00\n\x00", []string{" nul2", " nul1"}},
		{"nul bytes past the limit", strings.Repeat("\x00", 2*MaxLine) + "a\nb", []string{fmt.Sprintf("a nul%d", 2*MaxLine), "b"}},
		{"as long as may be", long + "\nb\n", []string{fmt.Sprintf("%d bytes", MaxLine), "b"}},
		{"as long as may be, carriage return", long + "\r\nb\n", []string{fmt.Sprintf("%d bytes", MaxLine), "b"}},
		{"one too long", long + "y\nb\n", []string{fmt.Sprintf("%d bytes -1", MaxLine), "b"}},
		{"two too long", long + "yy\nb\n", []string{fmt.Sprintf("%d bytes -2", MaxLine), "b"}},
		{"too long to the end", "a\n" + long + long + "yy", []string{"a", fmt.Sprintf("%d bytes -%d", MaxLine, MaxLine+2)}},
		{"too long between", "a\n" + strings.Repeat(long, 3) + "\nb\n\nc", []string{"a", fmt.Sprintf("%d bytes -%d", MaxLine, 2*MaxLine), "b", "", "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			readers := map[string]io.Reader{
				"whole":     strings.NewReader(tt.in),
				"halves":    iotest.HalfReader(strings.NewReader(tt.in)),
				"error eof": iotest.DataErrReader(strings.NewReader(tt.in)),
			}
			if len(tt.in) < 1000 {
				readers["bytes"] = iotest.OneByteReader(strings.NewReader(tt.in))
			} else {
				readers["odd"] = &chunkReader{s: tt.in, n: 65521}
			}
			for name, r := range readers {
				if got := readLines(r); strings.Join(got, "|") != strings.Join(tt.want, "|") || len(got) != len(tt.want) {
					t.Errorf("%s: lines = %q, want %q", name, got, tt.want)
				}
			}
		})
	}
}

// chunkReader hands out n bytes at a time.
type chunkReader struct {
	s string
	n int
}

func (c *chunkReader) Read(p []byte) (int, error) {
	if c.s == "" {
		return 0, io.EOF
	}
	n := copy(p, c.s[:min(c.n, len(c.s))])
	c.s = c.s[n:]
	return n, nil
}

// A line of a gigabyte must cost no more memory than MaxLine.
func TestLineReaderBounded(t *testing.T) {
	const size = 1 << 30
	if testing.Short() {
		t.Skip("reads a gigabyte")
	}
	l := newLineReader(io.LimitReader(repeatReader('x'), size))
	x, ok := l.next()
	if !ok || len(x.text) != MaxLine || x.lost != size-MaxLine {
		t.Errorf("line of %d bytes, %d lost, %v", len(x.text), x.lost, ok)
	}
	if len(l.buf) > 4*MaxLine {
		t.Errorf("buffer has grown to %d bytes", len(l.buf))
	}
}

type repeatReader byte

func (r repeatReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

func TestLineReaderNoProgress(t *testing.T) {
	l := newLineReader(stuckReader{})
	if _, ok := l.next(); ok || l.err != io.ErrNoProgress {
		t.Errorf("err = %v, want %v", l.err, io.ErrNoProgress)
	}
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }
