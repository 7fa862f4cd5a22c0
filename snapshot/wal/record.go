package wal

import (
	"encoding/binary"
	"hash/crc32"

	"google.golang.org/protobuf/encoding/protowire"
)

// Types of records (etcd v3.6 server/storage/wal/wal.go).
const (
	typeMetadata = 1
	typeEntry    = 2
	typeState    = 3
	typeCRC      = 4
	typeSnapshot = 5
)

// frameHead is the length field in front of a record.
const frameHead = 8

// castagnoli is the polynomial of all of etcd's checksums.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is where a record lies.
type frame struct {
	offset    int64 // of the length field
	size, pad int64 // of the record, and of the zeros behind it
}

// end is where the next frame begins.
func (f frame) end() int64 { return f.offset + frameHead + f.size + f.pad }

// parseFrame reads a length field; ok is false for one that etcd does not write:
// records and their padding fill words of eight bytes, and no record is empty.
func parseFrame(offset int64, head []byte) (f frame, ok bool) {
	n := binary.LittleEndian.Uint64(head)
	f = frame{offset: offset, size: int64(n & (1<<56 - 1))}
	if top := byte(n >> 56); top != 0 {
		if top&0xf8 != 0x80 || top == 0x80 {
			return f, false
		}
		f.pad = int64(top & 7)
	}
	return f, f.size > 0 && (f.size+f.pad)%8 == 0
}

// record is a walpb.Record. Its data point into a buffer.
type record struct {
	frame
	kind int64
	crc  uint32
	data []byte
}

// parseRecord decodes a walpb.Record; ok is false for bytes that are none. Fields
// that are not known are passed over.
func parseRecord(f frame, b []byte) (r record, ok bool) {
	r.frame = f
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return r, false
		}
		b = b[n:]
		switch {
		case number <= 2 && kind == protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return r, false
			}
			if number == 1 {
				r.kind = int64(v)
			} else {
				r.crc = uint32(v)
			}
			b = b[n:]
		case number == 3 && kind == protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return r, false
			}
			r.data, b = v, b[n:]
		default:
			n := protowire.ConsumeFieldValue(number, kind, b)
			if n < 0 {
				return r, false
			}
			b = b[n:]
		}
	}
	return r, r.kind > 0
}

// follows says whether the record's checksum continues that of the record before.
// The checksum runs over the data of all records.
func (r *record) follows(before uint32) bool {
	return crc32.Update(before, castagnoli, r.data) == r.crc
}

// numbers decodes a message of varint fields; fields of other kinds and above the
// last that is asked for are passed over.
func numbers(b []byte, fields []uint64) bool {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		if kind == protowire.VarintType {
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return false
			}
			if int(number) <= len(fields) {
				fields[number-1] = v
			}
			b = b[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// hasField says whether a message that numbers could decode has a field.
func hasField(b []byte, field protowire.Number) bool {
	for len(b) > 0 {
		number, _, n := protowire.ConsumeField(b)
		if n < 0 || number == field {
			return n >= 0
		}
		b = b[n:]
	}
	return false
}
