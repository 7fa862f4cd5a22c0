package source

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// codec is a compression of one stream.
type codec struct {
	name string
	is   func(head []byte) bool
	open func(io.Reader) (io.Reader, func(), error)
}

// maxWindow is the largest zstd window that is decoded, in bytes: what "zstd
// --long=27" needs. It is memory.
const maxWindow = 128 << 20

// codecs are told by the first bytes of a stream.
var codecs = []codec{
	{"gzip", prefix("\x1f\x8b\x08"), func(r io.Reader) (io.Reader, func(), error) {
		z, err := gzip.NewReader(r)
		return z, func() {}, err
	}},
	{"zstd", prefix("\x28\xb5\x2f\xfd"), func(r io.Reader) (io.Reader, func(), error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}},
	{"xz", prefix("\xfd7zXZ\x00"), openXZ},
	{"bzip2", isBzip2, func(r io.Reader) (io.Reader, func(), error) { return bzip2.NewReader(r), func() {}, nil }},
	{"s2", prefix("\xff\x06\x00\x00S2sTwO"), openS2},
	{"snappy", prefix("\xff\x06\x00\x00sNaPpY"), openS2},
}

// openXZ refuses a stream whose first block wants a larger dictionary than maxWindow:
// the decoder allocates what the head says.
func openXZ(r io.Reader) (io.Reader, func(), error) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(12 + 32)
	if xzDictionary(head) > maxWindow {
		return nil, nil, fmt.Errorf("needs a dictionary of more than %d MiB: decompress it with xz first", maxWindow>>20)
	}
	z, err := xz.NewReader(in)
	return z, func() {}, err
}

// xzDictionary reads the size of the dictionary off the first block, where its only
// filter is LZMA2, as xz writes it (The .xz File Format 1.2, 3.1 and 5.3.1); else 0.
// With several threads xz writes the sizes of the block before the filter.
func xzDictionary(head []byte) int64 {
	const filterLZMA2, hasSize, hasFullSize = 0x21, 0x40, 0x80
	if len(head) < 18 || head[13]&0x03 != 0 {
		return 0
	}
	filter := head[14:]
	for _, flag := range []byte{hasSize, hasFullSize} {
		if head[13]&flag == 0 {
			continue
		}
		_, n := binary.Uvarint(filter)
		if n <= 0 {
			return 0
		}
		filter = filter[n:]
	}
	if len(filter) < 3 || filter[0] != filterLZMA2 || filter[1] != 1 {
		return 0
	}
	bits := filter[2] & 0x3f
	return int64(2|bits&1) << (bits/2 + 11)
}

func openS2(r io.Reader) (io.Reader, func(), error) { return s2.NewReader(r), func() {}, nil }

func prefix(mark string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(mark)) }
}

// codecOf finds the compression of a stream, nil if it has none.
func codecOf(head []byte) *codec {
	for i := range codecs {
		if codecs[i].is(head) {
			return &codecs[i]
		}
	}
	return nil
}

// plainCodec words what a decoder says where users can do something about it.
func plainCodec(err error) error {
	switch {
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("needs a zstd window of more than %d MiB: decompress it with zstd --long=31 first", maxWindow>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("it is cut")
	}
	return err
}

// headOf looks at the first bytes of a stream.
func headOf(r *bufio.Reader) []byte {
	head, _ := r.Peek(blockSize) // of a shorter stream all of it
	return head
}

// isTar recognises POSIX and GNU archives, and older ones by their checksum.
func isTar(head []byte) bool {
	if len(head) < 512 {
		return false
	}
	if bytes.HasPrefix(head[257:], []byte("ustar")) {
		return true
	}
	sum := 8 * int64(' ')
	for i, b := range head[:512] {
		if i < 148 || i >= 156 {
			sum += int64(b)
		}
	}
	field := bytes.Trim(head[148:156], " \x00")
	if len(field) == 0 || head[0] == 0 {
		return false
	}
	var want int64
	for _, b := range field {
		if b < '0' || b > '7' {
			return false
		}
		want = 8*want + int64(b-'0')
	}
	return want == sum
}

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}
