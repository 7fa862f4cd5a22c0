package snapshot

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestEveryKind stores an object of every kind and version of k8s.io/api in every
// encoding, and wants it back as what it was.
func TestEveryKind(t *testing.T) {
	kinds := 0
	for kind := range scheme.Scheme.AllKnownTypes() {
		if strings.HasSuffix(kind.Kind, "List") || kind.Version == runtime.APIVersionInternal {
			continue
		}
		o, err := scheme.Scheme.New(kind)
		must(t, err)
		m, err := meta.Accessor(o)
		if err != nil {
			continue // options of requests
		}
		kinds++
		m.SetName("a")
		m.SetLabels(map[string]string{"k": "v"})
		o.GetObjectKind().SetGroupVersionKind(kind)
		for _, encoder := range []runtime.Encoder{protobufSerializer, jsonSerializer, cborSerializer} {
			got, err := Decode(encode(t, encoder, o), 0)
			if err != nil || !reflect.DeepEqual(got, o) {
				t.Errorf("%s, %s: %v, %v", kind, encoder.Identifier(), got, err)
			}
		}
	}
	if kinds < 100 {
		t.Errorf("only %d kinds", kinds)
	}
	t.Logf("%d kinds", kinds)
}

// TestEveryStoredJSON has what API servers store as JSON whatever the media type,
// in the versions they use.
func TestEveryStoredJSON(t *testing.T) {
	for _, value := range []string{
		storedCRD,
		`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"a.b.c"},"spec":{"versions":[{"name":"v1"}]}}`,
		`{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"v1.apps"},"spec":{"groupPriorityMinimum":17800}}`,
		`{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1beta1","metadata":{"name":"v1.apps"}}`,
	} {
		o, err := Decode([]byte(value), 9)
		must(t, err)
		m, err := meta.Accessor(o)
		must(t, err)
		if kind := o.GetObjectKind().GroupVersionKind(); m.GetName() == "" || m.GetResourceVersion() != "9" || !strings.Contains(value, kind.Kind) {
			t.Errorf("%T %v", o, o)
		}
	}
}
