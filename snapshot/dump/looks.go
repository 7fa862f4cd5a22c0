package dump

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// Looks says whether a text whose first block is head holds objects with a
// resourceVersion: a list, an object, a bare array of objects, or several
// documents. Audit events are objects too, but a log.
func Looks(head []byte) bool {
	head = trimStart(head)
	if len(head) == 0 || bytes.Contains(head, []byte(`audit.k8s.io/`)) {
		return false
	}
	switch {
	case head[0] == '[':
		return looksArray(head)
	case head[0] == '{':
		return looksJSON(head)
	}
	return yamlVersion.Match(head) && yamlRevision.Match(head) && (yamlKind.Match(head) || yamlItems.Match(head))
}

// trimStart drops a byte order mark and blanks.
func trimStart(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
}

// Lines that a dump in YAML has at its left margin or in its first item, and what
// tells it from a manifest. Of a long list the kind may lie behind the block.
var (
	yamlVersion  = regexp.MustCompile(`(?m)^(- | {0,2})apiVersion: *[a-z0-9./"-]+ *\r?$`)
	yamlKind     = regexp.MustCompile(`(?m)^(- | {0,4})kind: *"?[A-Z][A-Za-z0-9]+"? *\r?$`)
	yamlItems    = regexp.MustCompile(`(?m)^items: *\r?$`)
	yamlRevision = regexp.MustCompile(`(?m)resourceVersion: *"?[0-9]+`)
)

// looksArray is for arrays whose first element is an object with metadata.
func looksArray(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	if _, err := d.Token(); err != nil {
		return false
	}
	return hasMember(d, "metadata")
}

// looksJSON is for an object with metadata that says what it is, and for a list of
// such; members come in any order, and the block may end anywhere.
func looksJSON(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	if _, err := d.Token(); err != nil {
		return false
	}
	version, kind := false, false
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		switch name {
		case "apiVersion":
			version = true
		case "kind":
			kind = true
		case "items":
			return listItems(d)
		}
		if skipValue(d) != nil {
			break
		}
	}
	return version && kind && bytes.Contains(head, []byte(`"resourceVersion"`))
}

// listItems says whether an array holds objects of Kubernetes, or nothing.
func listItems(d *json.Decoder) bool {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return false
	}
	return !d.More() || hasMember(d, "metadata")
}

// hasMember says whether the object that follows has a member; one that the block
// cuts before it could show has not.
func hasMember(d *json.Decoder, member string) bool {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return false
		}
		if name == member {
			return true
		}
		if skipValue(d) != nil {
			return false
		}
	}
	return false
}

// skipValue passes over the value that follows.
func skipValue(d *json.Decoder) error {
	var v json.RawMessage
	return d.Decode(&v)
}
