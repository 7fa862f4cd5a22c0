package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Lengths of the keys of etcd's key bucket: eight bytes main revision, '_',
// eight bytes sub revision, and 't' for a tombstone (etcd v3.6
// server/storage/mvcc/revision.go).
const (
	revisionLen  = 17
	tombstoneLen = 18
)

// revisionKey is a decoded key of the key bucket.
type revisionKey struct {
	main, sub int64
	tombstone bool
}

// parseRevisionKey decodes a key of the key bucket; ok is false for anything
// that etcd would not have written.
func parseRevisionKey(b []byte) (r revisionKey, ok bool) {
	if len(b) != revisionLen && len(b) != tombstoneLen || b[8] != '_' {
		return r, false
	}
	r.main = int64(binary.BigEndian.Uint64(b))
	r.sub = int64(binary.BigEndian.Uint64(b[9:]))
	r.tombstone = len(b) == tombstoneLen
	if r.tombstone && b[revisionLen] != 't' {
		return r, false
	}
	return r, r.main > 0 && r.sub >= 0 && r.sub <= maxSub
}

// append encodes the key, the reverse of parseRevisionKey.
func (r revisionKey) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(r.main))
	b = append(b, '_')
	b = binary.BigEndian.AppendUint64(b, uint64(r.sub))
	if r.tombstone {
		b = append(b, 't')
	}
	return b
}

// name is revisionName of the key.
func (r revisionKey) name() string { return revisionName(r.main, r.sub) }

// revisionName writes a revision as etcd does, without a sub of 0.
func revisionName(main, sub int64) string {
	if sub == 0 {
		return fmt.Sprint(main)
	}
	return fmt.Sprintf("%d_%d", main, sub)
}

// keyValue is a mvccpb.KeyValue whose bytes still lie in the record.
type keyValue struct {
	key, value                   []byte
	create, mod, version, leased int64
}

// errKeyValue means that bytes are no mvccpb.KeyValue.
var errKeyValue = errors.New("not a KeyValue message")

// Field numbers of mvccpb.KeyValue (etcd v3.6 api/mvccpb/kv.proto).
const (
	fieldKey     = 1
	fieldCreate  = 2
	fieldMod     = 3
	fieldVersion = 4
	fieldValue   = 5
	fieldLease   = 6
)

// parseKeyValue decodes a mvccpb.KeyValue without copying. It accepts what
// proto.Unmarshal accepts: unknown fields are passed over, of repeated ones the
// last counts.
func parseKeyValue(b []byte) (kv keyValue, err error) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 || number > protowire.MaxValidNumber {
			return kv, errKeyValue
		}
		b = b[n:]
		switch {
		case kind == protowire.VarintType && number >= fieldCreate && number <= fieldLease && number != fieldValue:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return kv, errKeyValue
			}
			*kv.number(number) = int64(v)
			b = b[n:]
		case kind == protowire.BytesType && (number == fieldKey || number == fieldValue):
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return kv, errKeyValue
			}
			if number == fieldKey {
				kv.key = v
			} else {
				kv.value = v
			}
			b = b[n:]
		default:
			n := protowire.ConsumeFieldValue(number, kind, b)
			if n < 0 {
				return kv, errKeyValue
			}
			b = b[n:]
		}
	}
	return kv, nil
}

// number is where a varint field goes.
func (kv *keyValue) number(field protowire.Number) *int64 {
	switch field {
	case fieldCreate:
		return &kv.create
	case fieldMod:
		return &kv.mod
	case fieldVersion:
		return &kv.version
	}
	return &kv.leased
}
