package snapshot

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Unstructured decodes the object that revision i stored as Object does and
// returns it as maps and lists, whatever its kind. Errors are those of Object.
func (h *History) Unstructured(i int) (*unstructured.Unstructured, error) {
	o, err := h.Object(i)
	if err != nil {
		return nil, err
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u, nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		kind := o.GetObjectKind().GroupVersionKind()
		return nil, &DecodeError{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Reason: "it cannot be written as maps and lists"}
	}
	return &unstructured.Unstructured{Object: fields}, nil
}
