package replay

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// errWire means that bytes are no protobuf message.
var errWire = errors.New("not a protobuf message")

// wire reads the fields of a message that lies somewhere in an entry's data, so
// that what it finds has its place there.
type wire struct {
	data    []byte
	at, end int
	bad     bool // set at the first bytes that are no field

	// The field that next found: its value if it is a number, or where its bytes
	// begin and end.
	field    protowire.Number
	kind     protowire.Type
	varint   uint64
	from, to int
}

// next goes to the next field that is a number or bytes; others are passed over.
func (w *wire) next() bool {
	for w.at < w.end {
		number, kind, n := protowire.ConsumeTag(w.data[w.at:w.end])
		if n < 0 || number > protowire.MaxValidNumber {
			w.bad = true
			return false
		}
		w.at += n
		w.field, w.kind, w.varint, w.from, w.to = number, kind, 0, 0, 0
		rest := w.data[w.at:w.end]
		switch kind {
		case protowire.VarintType:
			w.varint, n = protowire.ConsumeVarint(rest)
		case protowire.BytesType:
			var b []byte
			b, n = protowire.ConsumeBytes(rest)
			w.to = w.at + n
			w.from = w.to - len(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, rest)
		}
		if n < 0 {
			w.bad = true
			return false
		}
		w.at += n
		if kind == protowire.VarintType || kind == protowire.BytesType {
			return true
		}
	}
	return false
}

// bytes returns those of the field, nil if it has none. Nothing that is appended
// to them gets into the entry.
func (w *wire) bytes() []byte {
	if w.from == w.to {
		return nil
	}
	return w.data[w.from:w.to:w.to]
}

// isNumber says whether next found the field n, a number. A field of another
// type than it should have is none, as to protobuf itself.
func (w *wire) isNumber(n protowire.Number) bool {
	return w.field == n && w.kind == protowire.VarintType
}

// isBytes says whether next found the field n, bytes or a message, be it empty.
func (w *wire) isBytes(n protowire.Number) bool {
	return w.field == n && w.kind == protowire.BytesType
}

// message returns a reader for the message that the field holds.
func (w *wire) message() wire { return wire{data: w.data, at: w.from, end: w.to} }

// err is errWire after the first bad bytes.
func (w *wire) err() error {
	if w.bad {
		return errWire
	}
	return nil
}
