package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrTombstone is what Object returns for a deletion: it stores no object.
var ErrTombstone = errors.New("a deletion stores no object")

// DecodeError says that a value is no object that can be decoded.
type DecodeError struct {
	// Encoding is "protobuf", "json", "cbor", or "" for none of them.
	Encoding string
	// APIVersion and Kind are what the value says of itself, "" if nothing.
	APIVersion, Kind string
	// Reason is what went wrong. It quotes nothing of the value, which may be
	// secret.
	Reason string
}

func (e *DecodeError) Error() string {
	parts := []string{"not a readable object"}
	if e.Encoding != "" {
		parts[0] = "not a readable " + e.Encoding + " object"
	}
	if e.Kind != "" {
		parts = append(parts, strings.TrimSpace(e.APIVersion+" "+e.Kind))
	}
	return strings.Join(append(parts, e.Reason), ": ")
}

// decodeError says why a decoder failed, and what the value says of itself if
// that can be read. The decoder's own words are used only where they cannot
// quote the value.
func decodeError(encoding string, value []byte, kind func([]byte) (*schema.GroupVersionKind, error), err error) error {
	e := &DecodeError{Encoding: encoding}
	_ = guard(func() error {
		k, err := kind(value)
		if err == nil && k != nil {
			e.APIVersion, e.Kind = k.GroupVersion().String(), k.Kind
		}
		return err
	})
	e.Reason = e.reason(value, err)
	return e
}

// reason puts an error of a decoder into words.
func (e *DecodeError) reason(value []byte, err error) string {
	switch {
	case runtime.IsMissingKind(err):
		return "it names no kind"
	case runtime.IsMissingVersion(err):
		return "it names no API version"
	case e.Encoding == "protobuf":
		return err.Error()
	case e.Encoding == "json":
		var raw json.RawMessage
		var syntax *json.SyntaxError
		if errors.As(json.Unmarshal(value, &raw), &syntax) {
			return fmt.Sprintf("not JSON from byte %d on", syntax.Offset)
		}
	}
	if e.Kind != "" {
		return "its fields are not those of the kind"
	}
	return "its bytes do not decode"
}
