package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// json reads JSON values: lists, whose items are read one by one, objects, and
// arrays of objects.
func (d *reader) json() error {
	begin := d.at
	in := &budget{r: d.in, left: maxItem}
	dec := json.NewDecoder(in)
	err := d.values(dec, in, begin)
	rest, _ := io.ReadAll(dec.Buffered()) // of memory
	d.in.unread(rest)
	d.at = begin + dec.InputOffset()
	var given giveError
	switch {
	case err == nil || d.ctx.Err() != nil:
		return err
	case errors.As(err, &given):
		return given.error
	case in.err != nil && !errors.Is(in.err, io.EOF) && !errors.Is(in.err, errTooLong):
		return in.err
	}
	d.problem("the JSON ends or is damaged at offset %d: %v", d.at, plainJSON(err))
	return d.resume()
}

// values reads values for as long as they follow each other.
func (d *reader) values(dec *json.Decoder, in *budget, begin int64) error {
	for {
		in.left = maxItem
		at := begin + dec.InputOffset()
		if err := d.value(dec, in, begin, at); err != nil {
			return err
		}
		if !dec.More() {
			return nil
		}
	}
}

// giveError is an error of the receiver of the items, which ends the reading.
type giveError struct{ error }

// plainJSON words the errors of a decoder.
func plainJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is cut")
	}
	return err
}

// value reads what the decoder stands before.
func (d *reader) value(dec *json.Decoder, in *budget, begin, at int64) error {
	t, err := dec.Token()
	switch {
	case err != nil:
		return err
	case t == json.Delim('['):
		return d.items(dec, in, begin, &waiting{}, &list{}, true)
	case t == json.Delim('{'):
		return d.object(dec, in, begin, at)
	}
	return errors.New("a value that is no object")
}

// object reads the members of an object up to its end. Members before and after
// the items of a list are kept; all of them, if there are none. The decoder began
// at one offset, the object at another.
func (d *reader) object(dec *json.Decoder, in *budget, begin, at int64) error {
	var l list
	w, members, isList := &waiting{}, &bytes.Buffer{}, false
	members.WriteByte('{')
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		if name == "items" && !isList {
			if isList, err = d.startItems(dec, in, begin, w, &l); err != nil {
				return err
			}
			continue
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return err
		}
		l.take(name, v)
		if !isList {
			addMember(members, name, v)
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return err
	}
	if isList {
		d.noteList(l)
		return d.given(d.flush(w, l))
	}
	members.WriteByte('}')
	return d.given(d.item(members.Bytes(), at, list{}))
}

// given marks an error of the receiver.
func (d *reader) given(err error) error {
	if err == nil {
		return nil
	}
	return giveError{err}
}

// take notes a member of the list itself.
func (l *list) take(name json.Token, v json.RawMessage) {
	switch name {
	case "apiVersion":
		_ = json.Unmarshal(v, &l.APIVersion) // what is no text is none
	case "kind":
		_ = json.Unmarshal(v, &l.Kind)
	case "metadata":
		_ = json.Unmarshal(v, &l.Metadata)
	}
}

// addMember writes a member of an object.
func addMember(b *bytes.Buffer, name json.Token, v json.RawMessage) {
	if b.Len() > 1 {
		b.WriteByte(',')
	}
	key, _ := json.Marshal(name)
	b.Write(key)
	b.WriteByte(':')
	b.Write(v)
}

// startItems reads a member "items": isList is false if it is no array.
func (d *reader) startItems(dec *json.Decoder, in *budget, begin int64, w *waiting, l *list) (isList bool, err error) {
	t, err := dec.Token()
	if err != nil || t == nil {
		return true, err // "items": null is a list of nothing
	}
	if t != json.Delim('[') {
		return true, fmt.Errorf("the member items is no list")
	}
	return true, d.items(dec, in, begin, w, l, false)
}

// items reads the elements of an array. Those that do not say what they are wait
// for the list to do so, unless none will.
func (d *reader) items(dec *json.Decoder, in *budget, begin int64, w *waiting, l *list, bare bool) error {
	for dec.More() {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		in.left = maxItem
		offset := begin + dec.InputOffset()
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return err
		}
		switch {
		case bare, l.itemKind() != "", SaysKind(v):
			if err := d.given(d.item(v, offset, *l)); err != nil {
				return err
			}
		case !w.add(v, offset):
			d.problem("the object at offset %d does not say its kind, and its list says it too late", offset)
		}
	}
	_, err := dec.Token() // the closing bracket
	return err
}

// resume goes on behind damaged JSON: at the next line that begins an object or a
// list at the left margin.
func (d *reader) resume() error {
	for {
		text, whole, err := d.in.piece()
		d.at += int64(len(text))
		if err != nil {
			return err
		}
		if b, err := d.in.peek(); whole && err == nil && (b == '{' || b == '[') {
			return nil
		}
	}
}
