package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// document is a YAML document while it is read: the lines of a list are cut into
// items, so that no more than one is in memory. Block scalars are deeper than the
// dash of their item, so the left margin tells.
type document struct {
	begin int64  // offset
	head  []byte // the lines that are of no item
	item  []byte
	from  int64 // offset of item
	// dash is the indentation of the items' dashes, -1 before the first.
	dash  int
	items bool // in the items
	list  bool // there were some
	wait  waiting
}

// yaml reads documents up to the end of the text, or to a line that begins JSON.
func (d *reader) yaml() error {
	doc := &document{begin: d.at, dash: -1}
	for {
		if b, err := d.in.peek(); err == nil && b == '{' {
			return d.endDocument(doc)
		}
		at := d.at
		line, err := d.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		switch text := string(bytes.TrimRight(line, " \r\n")); {
		case text == "---" || text == "..." || strings.HasPrefix(text, "--- "):
			if err := d.endDocument(doc); err != nil {
				return err
			}
			doc = &document{begin: d.at, dash: -1}
		default:
			if err := d.yamlLine(doc, line, at); err != nil {
				return err
			}
		}
		if err != nil {
			return errors.Join(d.endDocument(doc), err)
		}
	}
}

// line reads a line; of one that is longer than any object can be, no more.
func (d *reader) line() (line []byte, err error) {
	for whole := false; !whole && err == nil; {
		var part []byte
		part, whole, err = d.in.piece()
		if len(line) <= maxItem {
			line = append(line, part...)
		}
		d.at += int64(len(part))
	}
	return line, err
}

// yamlLine takes one line of a document.
func (d *reader) yamlLine(doc *document, line []byte, at int64) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	margin := len(line) - len(bytes.TrimLeft(line, " "))
	blank := len(bytes.TrimSpace(line)) == 0
	dashed := bytes.HasPrefix(line[margin:], []byte("- "))
	switch {
	case doc.dash < 0 && dashed && (doc.items || len(bytes.TrimSpace(doc.head)) == 0):
		doc.dash, doc.items, doc.list = margin, true, true // the first item, of a list or of a bare array
	case !doc.items && bytes.HasPrefix(line, []byte("items:")):
		doc.items, doc.list = bytes.Equal(bytes.TrimSpace(line), []byte("items:")), true
		return nil
	}
	switch {
	case blank && doc.items:
		doc.item = append(doc.item, line...)
	case doc.items && dashed && margin == doc.dash:
		if err := d.endItem(doc); err != nil {
			return err
		}
		doc.from = at
		doc.item = append(doc.item[:0], line...)
		doc.item[margin] = ' '
	case doc.items && doc.dash >= 0 && margin > doc.dash:
		doc.item = append(doc.item, line...)
	default:
		doc.items = false
		doc.head = append(doc.head, line...)
	}
	if len(doc.item) > maxItem || len(doc.head) > maxItem {
		d.problem("the object at offset %d is longer than 32 MiB and is left out", max(doc.from, doc.begin))
		doc.item, doc.head = doc.item[:0], doc.head[:0]
	}
	return nil
}

// endItem gives the item that was read.
func (d *reader) endItem(doc *document) error {
	if len(bytes.TrimSpace(doc.item)) == 0 {
		return nil
	}
	raw, ok := d.toJSON(doc.item, doc.from)
	doc.item = doc.item[:0]
	if !ok {
		return nil
	}
	if SaysKind(raw) {
		return d.item(raw, doc.from, list{})
	}
	if !doc.wait.add(raw, doc.from) {
		d.problem("the object at offset %d does not say its kind, and its list says it too late", doc.from)
	}
	return nil
}

// endDocument gives the last item of a list, or the object that the document is.
func (d *reader) endDocument(doc *document) error {
	if err := d.endItem(doc); err != nil {
		return err
	}
	if len(bytes.TrimSpace(doc.head)) == 0 && !doc.list {
		return nil
	}
	raw, ok := d.toJSON(doc.head, doc.begin)
	if !doc.list {
		if !ok || bytes.Equal(raw, []byte("null")) {
			return nil
		}
		return d.item(raw, doc.begin, list{})
	}
	var l list
	if ok {
		_ = json.Unmarshal(raw, &l) // a bare array says nothing of itself
	}
	d.noteList(l)
	return d.flush(&doc.wait, l)
}

// toJSON converts YAML; what is none is listed.
func (d *reader) toJSON(text []byte, offset int64) (raw []byte, ok bool) {
	if len(text) > maxItem {
		d.problem("the object at offset %d is longer than 32 MiB and is left out", offset)
		return nil, false
	}
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		d.problem("the YAML at offset %d cannot be read: %s", offset, firstLine(err.Error()))
		return nil, false
	}
	return raw, true
}

// firstLine keeps a message to one line.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
