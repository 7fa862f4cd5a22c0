package snapshot

import (
	"errors"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// WireType is what the bytes of a protobuf field are, or look like.
type WireType string

const (
	WireVarint  WireType = "varint"
	WireFixed32 WireType = "fixed32"
	WireFixed64 WireType = "fixed64"
	// WireText, WireMessage and WireBytes have the same mark on the wire. Text is
	// what is printable; a message is what is not and can be decoded as one; the
	// rest is bytes.
	WireText    WireType = "text"
	WireMessage WireType = "message"
	WireBytes   WireType = "bytes"
	// WireGroup is the old way to nest (types 3 and 4).
	WireGroup WireType = "group"
)

// WireField is one field of a protobuf message of which no type is known: a kind
// of a later release, or of an aggregated API server. The encoding is that of
// protobuf.dev/programming-guides/encoding.
type WireField struct {
	Number int      `json:"number"`
	Type   WireType `json:"type"`
	// Value is that of a varint or of a fixed one, as an unsigned number.
	Value uint64 `json:"value,omitempty"`
	// Text and Bytes are those of text and bytes, cut at 4,096 bytes; Size is the
	// whole length on the wire, of messages too.
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
	Size  int    `json:"size,omitempty"`
	// Fields are those of a message or group, in the order they are stored in.
	Fields []WireField `json:"fields,omitempty"`
}

// Limits of a dump.
const (
	maxWireDepth  = 32     // messages in each other; deeper ones are bytes
	maxWireFields = 20_000 // fields of a whole dump
	maxWireText   = 4096   // bytes of a text, and of bytes
)

// errWire means that bytes are no protobuf message.
var errWire = errors.New("not a protobuf message")

// errWireFields means that a message has more fields than a dump may have.
var errWireFields = errors.New("too many fields")

// DumpFields decodes a protobuf message without its type. Of one with more than
// 20,000 fields there are the first ones and an error; of bytes that are no
// message there is nothing and an error.
func DumpFields(message []byte) ([]WireField, error) {
	d := &wireDump{left: maxWireFields}
	fields, err := d.message(message, 0)
	if err == nil && d.left < 0 {
		err = errWireFields
	}
	return fields, err
}

// wireDump is a dump while it is made.
type wireDump struct {
	left int // fields that may still come; negative after one too many
}

// message dumps a message, whole or not at all, save when the fields run out.
func (d *wireDump) message(b []byte, depth int) ([]WireField, error) {
	if !isMessage(b) {
		return nil, errWire
	}
	var fields []WireField
	for len(b) > 0 {
		if d.left--; d.left < 0 {
			return fields, nil
		}
		number, kind, n := protowire.ConsumeTag(b)
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		fields = append(fields, d.field(number, kind, b[n:n+size], depth))
		b = b[n+size:]
	}
	return fields, nil
}

// field dumps one field that is known to be well-formed.
func (d *wireDump) field(number protowire.Number, kind protowire.Type, b []byte, depth int) WireField {
	f := WireField{Number: int(number)}
	switch kind {
	case protowire.VarintType:
		f.Type = WireVarint
		f.Value, _ = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		f.Type = WireFixed32
		v, _ := protowire.ConsumeFixed32(b)
		f.Value = uint64(v)
	case protowire.Fixed64Type:
		f.Type = WireFixed64
		f.Value, _ = protowire.ConsumeFixed64(b)
	case protowire.StartGroupType:
		content, _ := protowire.ConsumeGroup(number, b)
		d.content(&f, content, depth)
		if f.Type == WireMessage {
			f.Type = WireGroup
		}
	default:
		content, _ := protowire.ConsumeBytes(b)
		d.content(&f, content, depth)
	}
	return f
}

// content dumps what a field with a length holds.
func (d *wireDump) content(f *WireField, b []byte, depth int) {
	f.Size = len(b)
	switch {
	case isText(b):
		f.Type = WireText
		f.Text = string(cutText(b))
		return
	case depth < maxWireDepth && d.left > 0:
		if fields, err := d.message(b, depth+1); err == nil {
			f.Type, f.Fields = WireMessage, fields
			return
		}
	}
	f.Type = WireBytes
	f.Bytes = append([]byte(nil), b[:min(len(b), maxWireText)]...)
}

// isMessage says whether all bytes are well-formed fields.
func isMessage(b []byte) bool {
	for len(b) > 0 {
		number, _, n := protowire.ConsumeField(b)
		if n < 0 || number > protowire.MaxValidNumber {
			return false
		}
		b = b[n:]
	}
	return true
}

// isText says whether bytes read as text. One that begins with a line break is
// rather a message: 0x0a is the tag of a text in field 1.
func isText(b []byte) bool {
	if !utf8.Valid(b) || len(b) > 0 && b[0] == '\n' && isMessage(b) {
		return false
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

// cutText cuts a text at maxWireText, between characters.
func cutText(b []byte) []byte {
	if len(b) <= maxWireText {
		return b
	}
	b = b[:maxWireText]
	for !utf8.Valid(b) {
		b = b[:len(b)-1]
	}
	return b
}
