package logparse

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// decoded turns UTF-16 into UTF-8, where a byte order mark tells of it: Windows
// tools write logs so. Other text stays as it is.
func decoded(r io.Reader) io.Reader {
	var mark [2]byte
	n, err := io.ReadFull(r, mark[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return io.MultiReader(bytes.NewReader(mark[:n]), failing{err})
	}
	whole := io.MultiReader(bytes.NewReader(mark[:n]), r)
	if isUTF16(mark[:n]) {
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(whole)
	}
	return whole
}

// isUTF16 says whether a text begins with the byte order mark of UTF-16.
func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
}

// failing is a reader that gives an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// decodedHead is the start of a file as UTF-8.
func decodedHead(head []byte) []byte {
	if !isUTF16(head) {
		return head
	}
	text, err := io.ReadAll(decoded(bytes.NewReader(head)))
	if err != nil {
		return head
	}
	return text
}
