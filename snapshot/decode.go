package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// Object decodes the object that revision i stored: a typed one if
// k8s.io/client-go knows its kind, else a *unstructured.Unstructured (JSON,
// CBOR) or only its metadata, *metav1.PartialObjectMetadata (protobuf). Its
// resourceVersion is the revision's Main, which is what an API server would say;
// stored objects have none. Every call decodes anew and the object is the
// caller's own. What is encrypted at rest is decrypted with the Keys of the
// Options. Errors are ErrTombstone, a *DecodeError, or those of Plain.
func (h *History) Object(i int) (runtime.Object, error) {
	if h.revisions[i].tombstone() {
		return nil, ErrTombstone
	}
	value, err := h.Plain(i)
	if err != nil {
		return nil, err
	}
	return Decode(value, h.revisions[i].main)
}

// Decode decodes a value as Object does, for values that are not from a History;
// an encrypted one is an *EncryptedError. A revision of 0 leaves the object without a resourceVersion.
func Decode(value []byte, revision int64) (object runtime.Object, err error) {
	if e := encrypted(value); e != nil {
		return nil, e
	}
	for _, e := range encodings {
		if !bytes.HasPrefix(value, []byte(e.mark)) {
			continue
		}
		object, reason := decodeWith(e.decode, value)
		if reason != nil {
			return nil, decodeError(e.name, value, e.kind, reason)
		}
		if m, err := meta.Accessor(object); err == nil && revision > 0 {
			m.SetResourceVersion(strconv.FormatInt(revision, 10))
		}
		return object, nil
	}
	if len(value) == 0 {
		return nil, &DecodeError{Reason: "empty"}
	}
	return nil, &DecodeError{Reason: fmt.Sprintf("%d bytes of unknown encoding", len(value))}
}

// encodings are told by the first bytes of a value (apimachinery
// pkg/runtime/serializer).
var encodings = []struct {
	name, mark string
	decode     func(value []byte) (runtime.Object, error)
	kind       func(value []byte) (*schema.GroupVersionKind, error)
}{
	{"protobuf", "k8s\x00", decodeProtobuf, protobufKind},
	{"json", "{", decodeJSON, json.DefaultMetaFactory.Interpret},
	{"cbor", "\xd9\xd9\xf7", decodeCBOR, cborKind},
}

// Serializers of the kinds that client-go knows.
var (
	protobufSerializer = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	jsonSerializer     = json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{})
	cborSerializer     = cbor.NewSerializer(scheme.Scheme, scheme.Scheme)
)

// decodeWith runs a decoder on bytes that may be anything.
func decodeWith(decode func([]byte) (runtime.Object, error), value []byte) (object runtime.Object, err error) {
	err = guard(func() error {
		object, err = decode(value)
		return err
	})
	return object, err
}

// decodeJSON decodes JSON: custom resources and, as API servers store them,
// CustomResourceDefinitions and APIServices.
func decodeJSON(value []byte) (runtime.Object, error) {
	object, kind, err := jsonSerializer.Decode(value, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		object, kind, err = unstructured.UnstructuredJSONScheme.Decode(value, nil, nil)
	}
	return withKind(object, kind, err)
}

// decodeCBOR decodes CBOR: custom resources, with the feature gate for it.
func decodeCBOR(value []byte) (runtime.Object, error) {
	object, kind, err := cborSerializer.Decode(value, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		object, kind, err = cborSerializer.Decode(value, nil, &unstructured.Unstructured{})
	}
	return withKind(object, kind, err)
}

func cborKind(value []byte) (*schema.GroupVersionKind, error) {
	_, kind, err := cborSerializer.Decode(value, nil, nil)
	if kind == nil {
		return nil, err
	}
	return kind, nil
}

// decodeProtobuf decodes the built-in kinds; of one that client-go does not know
// it decodes the metadata.
func decodeProtobuf(value []byte) (runtime.Object, error) {
	object, kind, err := protobufSerializer.Decode(value, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		return partial(value)
	}
	return withKind(object, kind, err)
}

func protobufKind(value []byte) (*schema.GroupVersionKind, error) {
	u, err := envelope(value)
	if err != nil {
		return nil, err
	}
	kind := u.GroupVersionKind()
	return &kind, nil
}

// envelope decodes the message around a stored protobuf object.
func envelope(value []byte) (*runtime.Unknown, error) {
	var u runtime.Unknown
	_, _, err := protobufSerializer.Decode(value, nil, &u)
	return &u, err
}

// partial decodes the metadata of an object: field 1 of every kind.
func partial(value []byte) (runtime.Object, error) {
	u, err := envelope(value)
	if err != nil {
		return nil, err
	}
	p := &metav1.PartialObjectMetadata{}
	if err := p.Unmarshal(u.Raw); err != nil {
		return nil, err
	}
	if p.Name == "" {
		return nil, errors.New("unknown kind, and no metadata in it")
	}
	kind := u.GroupVersionKind()
	return withKind(p, &kind, nil)
}

// withKind makes sure that an object says what it is: decoders differ in that.
func withKind(object runtime.Object, kind *schema.GroupVersionKind, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	if kind != nil {
		object.GetObjectKind().SetGroupVersionKind(*kind)
	}
	return object, nil
}
