package dump

import (
	"encoding/json"
	"strings"
)

// list is what a list says of itself.
type list struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		ResourceVersion json.RawMessage `json:"resourceVersion"`
	} `json:"metadata"`
}

// itemKind is the kind of the items of a list of one kind: PodList has Pods, but a
// List, which kubectl makes, has anything.
func (l *list) itemKind() string {
	kind, ok := strings.CutSuffix(l.Kind, "List")
	if !ok {
		return ""
	}
	return kind
}

// noteList takes the revision of a list.
func (d *reader) noteList(l list) {
	d.sum.ListRevision = max(d.sum.ListRevision, revision(l.Metadata.ResourceVersion))
}

// waiting are the items of a list that do not say what they are, until the list
// does.
type waiting struct {
	items []rawItem
	bytes int
}

type rawItem struct {
	raw    []byte
	offset int64
}

// maxWaiting bounds the text of the items that wait.
const maxWaiting = 64 << 20

// add keeps an item; false if there is no more room.
func (w *waiting) add(raw []byte, offset int64) bool {
	if w.bytes+len(raw) > maxWaiting {
		return false
	}
	w.items, w.bytes = append(w.items, rawItem{raw, offset}), w.bytes+len(raw)
	return true
}

// flush gives the items that waited.
func (d *reader) flush(w *waiting, l list) error {
	for _, x := range w.items {
		if err := d.item(x.raw, x.offset, l); err != nil {
			return err
		}
	}
	w.items, w.bytes = nil, 0
	return nil
}

// SaysKind is true for the JSON of an object with a kind of its own.
func SaysKind(raw []byte) bool {
	var h struct {
		Kind string `json:"kind"`
	}
	return json.Unmarshal(raw, &h) == nil && h.Kind != ""
}
