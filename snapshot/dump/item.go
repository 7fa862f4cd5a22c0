package dump

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Item is one object of a dump.
type Item struct {
	// APIVersion and Kind are those of the object, or of the list it stands in
	// where the object has none. Both are empty in a bare array of a release of
	// troubleshoot.sh that wrote none: the file's name says what its objects are.
	APIVersion, Kind string
	// Namespace is "" for what has none. UID may be empty.
	Namespace, Name, UID string
	// Revision is the resourceVersion, 0 if there is none or it is no number.
	Revision int64
	// Offset is where the object begins in the text, in bytes, or the document or
	// list that it is in where that is all that is known.
	Offset int64
	// JSON is the object as JSON, as it was printed.
	JSON []byte
}

// Summary is what a dump says besides its objects.
type Summary struct {
	// Objects counts the items.
	Objects int
	// Lists are the resourceVersions of its lists, highest last, without those
	// that are empty: a list shows the state of the store at that revision.
	ListRevision int64
	// Problems are what could not be read, each a sentence with an offset.
	Problems []string
}

// head is what is looked at of an object.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string          `json:"name"`
		Namespace       string          `json:"namespace"`
		UID             string          `json:"uid"`
		ResourceVersion json.RawMessage `json:"resourceVersion"`
	} `json:"metadata"`
}

// errNoObject is for JSON that is no object of Kubernetes.
type errNoObject string

func (e errNoObject) Error() string { return string(e) }

// newItem looks at the JSON of an object.
func newItem(raw []byte, offset int64) (Item, error) {
	var h head
	if err := json.Unmarshal(raw, &h); err != nil {
		return Item{}, errNoObject(fmt.Sprintf("the object at offset %d is none of Kubernetes: %v", offset, err))
	}
	if h.Metadata.Name == "" {
		return Item{}, errNoObject(fmt.Sprintf("the object at offset %d has no name", offset))
	}
	return Item{
		APIVersion: h.APIVersion, Kind: h.Kind, Namespace: h.Metadata.Namespace, Name: h.Metadata.Name, UID: h.Metadata.UID,
		Revision: revision(h.Metadata.ResourceVersion), Offset: offset, JSON: raw,
	}, nil
}

// revision reads a resourceVersion, which YAML without quotes makes a number.
func revision(raw json.RawMessage) int64 {
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
