package replay

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// Change is one change of a key: a record of etcd's key bucket.
type Change struct {
	// Main is the revision, Sub the place of the change in it, from 0.
	Main, Sub int64
	Key       string
	// Tombstone is set for a delete, which has no other fields.
	Tombstone bool
	// Create is the revision that began the key's lifetime, Version the number of
	// puts in it.
	Create, Version, Lease int64
	// Value is what the put stored. It points into the entry's Data, at
	// ValueOffset, unless the put kept the value that was there (ValueOffset -1).
	Value       []byte
	ValueOffset int
	// ValueUnknown is set for a kept value that is not known.
	ValueUnknown bool
}

// AppendRevision appends the key that etcd stores the change under: 17 bytes, and
// a "t" for a tombstone (etcd v3.7 server/storage/mvcc/revision.go).
func (c *Change) AppendRevision(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(c.Main))
	b = append(b, '_')
	b = binary.BigEndian.AppendUint64(b, uint64(c.Sub))
	if c.Tombstone {
		b = append(b, 't')
	}
	return b
}

// Field numbers of mvccpb.KeyValue (etcd v3.7 api/mvccpb/kv.proto).
const (
	fieldKey     = 1
	fieldCreate  = 2
	fieldMod     = 3
	fieldVersion = 4
	fieldValue   = 5
	fieldLease   = 6
)

// AppendKeyValue appends the bytes that etcd stores for the change: a
// mvccpb.KeyValue with its fields in order, zeros left out. Of one whose value is
// unknown they are not what etcd stored.
func (c *Change) AppendKeyValue(b []byte) []byte {
	b = appendBytes(b, fieldKey, c.Key)
	if c.Tombstone {
		return b
	}
	b = appendNumber(b, fieldCreate, c.Create)
	b = appendNumber(b, fieldMod, c.Main)
	b = appendNumber(b, fieldVersion, c.Version)
	b = appendBytes(b, fieldValue, c.Value)
	return appendNumber(b, fieldLease, c.Lease)
}

func appendNumber(b []byte, number protowire.Number, v int64) []byte {
	if v == 0 {
		return b
	}
	b = protowire.AppendTag(b, number, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(v))
}

func appendBytes[T string | []byte](b []byte, number protowire.Number, v T) []byte {
	if len(v) == 0 {
		return b
	}
	b = protowire.AppendTag(b, number, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(v)))
	return append(b, v...)
}
