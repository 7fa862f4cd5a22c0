package snapshot

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
)

// configHead is a line of YAML that names the kind.
var configHead = regexp.MustCompile(`(?m)^["']?kind["']?[ \t]*:[ \t]*["']?EncryptionConfig(uration)?["']?[ \t]*(#.*)?\r?$`)

// LooksLikeEncryptionConfig says whether a file that begins with head may be an
// EncryptionConfiguration: a YAML line or a JSON field at the top level names
// its kind. What else is in it, ParseEncryptionConfig tells.
func LooksLikeEncryptionConfig(head []byte) bool {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	if bytes.HasPrefix(head, []byte("{")) {
		return slices.Contains(configKinds, jsonKind(head))
	}
	return configHead.Match(head)
}

// jsonKind is the kind that an object names, "" if it is cut before it.
func jsonKind(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	depth := 0
	key := "" // the field of the outermost object that comes next
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		text, isText := token.(string)
		switch {
		case token == json.Delim('{') || token == json.Delim('['):
			depth++
		case token == json.Delim('}') || token == json.Delim(']'):
			depth--
			key = ""
		case depth == 1 && key == "" && isText:
			key = text
		case depth == 1 && key == "kind":
			return text
		case depth == 1:
			key = ""
		}
		if depth == 0 {
			return ""
		}
	}
}
