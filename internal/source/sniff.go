package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// blockSize is how much of a file is looked at to tell its kind.
const blockSize = 8 << 10

// sniff sets the file's kind, reading its first block (and for an unusual bolt
// file a few bytes more).
func (f *File) sniff() (err error) {
	if f.coded {
		f.Kind = KindText
		return nil
	}
	r, err := os.Open(f.OSPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	block := make([]byte, blockSize)
	n, err := io.ReadFull(r, block)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	info, err := r.Stat()
	if err != nil {
		return err
	}
	f.Kind = kindOf(block[:n], r, info.Size(), f.OSPath)
	return nil
}

// tests are tried in order on a block that is not empty; the first that holds
// gives the kind.
var tests = []struct {
	kind Kind
	is   func(block []byte) bool
}{
	{KindBolt, isBolt},
	{KindWAL, isWAL},
	{KindArchive, isArchive},
	{KindText, isText},
}

// kindOf tells a file's kind from its first block. The whole file is there for
// bolt files whose first page is damaged, and the name for WAL segments whose
// first block is zero: preallocated ones, and those that lost their head.
func kindOf(block []byte, file io.ReaderAt, size int64, path string) Kind {
	if len(block) == 0 {
		return KindEmpty
	}
	if isSnap(block, size) {
		return KindSnap
	}
	for _, t := range tests {
		if t.is(block) {
			return t.kind
		}
	}
	zeros := len(bytes.Trim(block, "\x00")) == 0
	switch {
	case zeros && walName(path):
		return KindWAL
	case hasSecondMeta(file):
		return KindBolt
	case zeros:
		return KindZeros
	}
	return KindBinary
}

// boltMark is the magic and the version of a bbolt meta page, at offset 16 of
// the page; boltMarkBE is what a big-endian machine writes.
var (
	boltMark   = []byte{0xed, 0xda, 0x0c, 0xed, 2, 0, 0, 0}
	boltMarkBE = []byte{0xed, 0x0c, 0xda, 0xed, 0, 0, 0, 2}
)

func isBolt(block []byte) bool {
	return len(block) >= 24 && (bytes.Equal(block[16:24], boltMark) || bytes.Equal(block[16:24], boltMarkBE))
}

// hasSecondMeta looks for a valid meta page 1 at every page size that bbolt
// knows (1 KiB to 16 MiB). The checksum is FNV-1a over the page's bytes 16..71.
func hasSecondMeta(file io.ReaderAt) bool {
	var meta [80]byte
	for size := int64(1 << 10); size <= 1<<24; size <<= 1 {
		if n, _ := file.ReadAt(meta[:], size); n < len(meta) {
			return false
		}
		if !bytes.Equal(meta[16:24], boltMark) || int64(binary.LittleEndian.Uint32(meta[24:])) != size {
			continue
		}
		sum := fnv.New64a()
		_, _ = sum.Write(meta[16:72])
		if sum.Sum64() == binary.LittleEndian.Uint64(meta[72:]) {
			return true
		}
	}
	return false
}

// isWAL recognises the first record of an etcd WAL segment: a frame of 4 to 8
// bytes and its padding, holding a record of type 4 (crc). The length of the
// frame depends on the checksum's varint.
func isWAL(block []byte) bool {
	if len(block) < 16 || !bytes.HasPrefix(block[8:], []byte{0x08, 0x04, 0x10}) {
		return false
	}
	frame := binary.LittleEndian.Uint64(block)
	size := frame & (1<<56 - 1)
	if size < 4 || size > 8 {
		return false
	}
	pad := 8 - size
	mark := byte(0)
	if pad > 0 {
		mark = 0x80 | byte(pad)
	}
	return byte(frame>>56) == mark
}

// isSnap recognises etcd's raft snapshots (etcd v3.6 server/etcdserver/api/snap):
// a message of a checksum (field 1) and of data (field 2) that fill the file.
func isSnap(block []byte, size int64) bool {
	if len(block) < 4 || block[0] != 0x08 {
		return false
	}
	_, n := binary.Uvarint(block[1:])
	if n <= 0 || n > 5 || len(block) < n+2 || block[n+1] != 0x12 {
		return false
	}
	data, m := binary.Uvarint(block[n+2:])
	return m > 0 && data > 0 && size-int64(n+m+2) == int64(data)
}

// walSegment and walSpare are the names that etcd gives to WAL segments and to
// the ones it prepares.
var (
	walSegment = regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-f]{16}\.wal(\.broken)?$`)
	walSpare   = regexp.MustCompile(`^[0-9]+\.tmp$`)
)

// walName says whether a file of zeros is a WAL segment by its name; a spare
// one must lie in a folder named wal or beside segments.
func walName(path string) bool {
	base, folder := filepath.Base(path), filepath.Dir(path)
	if walSegment.MatchString(base) {
		return true
	}
	if !walSpare.MatchString(base) {
		return false
	}
	if filepath.Base(folder) == "wal" {
		return true
	}
	beside, err := os.ReadDir(folder)
	return err == nil && slices.ContainsFunc(beside, func(e os.DirEntry) bool { return walSegment.MatchString(e.Name()) })
}
