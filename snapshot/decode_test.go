package snapshot

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func encode(t testing.TB, s runtime.Encoder, o runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, s.Encode(o, &b))
	return b.Bytes()
}

func pod() *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u-1", Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "c", Image: "web:1"}}},
	}
}

func deployment() *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Generation: 3},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 2},
	}
}

func certificate() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
		"metadata": map[string]any{"name": "web", "namespace": "default"},
		"spec":     map[string]any{"secretName": "web-tls", "renew": int64(7)},
	}}
}

const storedCRD = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","metadata":{"name":"certificates.cert-manager.io"},"spec":{"group":"cert-manager.io","version":"v1"}}`

func TestObject(t *testing.T) {
	tests := []struct {
		name  string
		value []byte
		want  runtime.Object
	}{
		{"protobuf pod", encode(t, protobufSerializer, pod()), pod()},
		{"protobuf deployment", encode(t, protobufSerializer, deployment()), deployment()},
		{"json pod", encode(t, jsonSerializer, pod()), pod()},
		{"cbor pod", encode(t, cborSerializer, pod()), pod()},
		{"json custom resource", encode(t, jsonSerializer, certificate()), certificate()},
		{"cbor custom resource", encode(t, cborSerializer, certificate()), certificate()},
	}
	e := newEtcdStore()
	for _, tt := range tests {
		e.txn(func() { e.set("/registry/things/default/"+tt.name, tt.value, 0) })
	}
	h := load(t, e.file(t, filepath.Join(t.TempDir(), "db")))
	for i, tt := range tests {
		got, err := h.Object(i)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		m, err := meta.Accessor(tt.want)
		must(t, err)
		m.SetResourceVersion(revisionName(h.At(i).Main, 0))
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestDecodeCRD(t *testing.T) {
	o, err := Decode([]byte(storedCRD), 0)
	must(t, err)
	u, ok := o.(*unstructured.Unstructured)
	if !ok || u.GetName() != "certificates.cert-manager.io" || u.GetAPIVersion() != "apiextensions.k8s.io/v1beta1" || u.GetResourceVersion() != "" {
		t.Errorf("decoded %T %v", o, o)
	}
}

// TestDecodeUnknownKind has a built-in kind of a release to come.
func TestDecodeUnknownKind(t *testing.T) {
	p := pod()
	raw, err := p.Marshal()
	must(t, err)
	u := &runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "new/v9", Kind: "Thing"}, Raw: raw}
	o, err := Decode(encode(t, protobufSerializer, u), 12)
	must(t, err)
	got, ok := o.(*metav1.PartialObjectMetadata)
	if !ok || got.Kind != "Thing" || got.APIVersion != "new/v9" || got.Name != "web" || got.UID != "u-1" || got.ResourceVersion != "12" {
		t.Errorf("decoded %T %v", o, o)
	}
}

func TestDecodeErrors(t *testing.T) {
	wrongField := encode(t, protobufSerializer, &runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: []byte{0xff}})
	nameless := encode(t, protobufSerializer, &runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "new/v9", Kind: "Thing"}, Raw: []byte{}})
	tests := []struct {
		name  string
		value string
		want  string
	}{
		{"empty", "", "not a readable object: empty"},
		{"compact_rev_key", "1234", "not a readable object: 4 bytes of unknown encoding"},
		{"kine health", `{"health":"true"}`, "not a readable json object: it names no kind"},
		{"no version", `{"kind":"Secret","data":{"hidden":"x"}}`, "not a readable json object: Secret: it names no API version"},
		{"broken json", `{"kind":"hidden"`, "not a readable json object: not JSON from byte 16 on"},
		{"wrong json", `{"kind":"Pod","apiVersion":"v1","spec":"hidden"}`, "not a readable json object: v1 Pod: its fields are not those of the kind"},
		{"protobuf alone", "k8s\x00", "not a readable protobuf object: "},
		{"broken envelope", "k8s\x00\xff\xff", "not a readable protobuf object: "},
		{"broken object", string(wrongField), "not a readable protobuf object: v1 Pod: "},
		{"no metadata", string(nameless), "not a readable protobuf object: new/v9 Thing: "},
		{"cbor without kind", "\xd9\xd9\xf7\xa1\x46hidden\x01", "not a readable cbor object: it names no kind"},
		{"broken cbor", "\xd9\xd9\xf7\xa1", "not a readable cbor object: its bytes do not decode"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := Decode([]byte(tt.value), 5)
			var d *DecodeError
			if o != nil || !errors.As(err, &d) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("decoded %v, %v", o, err)
			}
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("the error quotes the value: %v", err)
			}
		})
	}
}

func TestEncrypted(t *testing.T) {
	tests := []struct {
		value string
		want  EncryptedError
	}{
		{"k8s:enc:aescbc:v1:key1:\x00\x01:\x02", EncryptedError{Provider: "aescbc", Version: "v1", KeyName: "key1"}},
		{"k8s:enc:aesgcm:v1:key1:xx", EncryptedError{Provider: "aesgcm", Version: "v1", KeyName: "key1"}},
		{"k8s:enc:secretbox:v1:key1:xx", EncryptedError{Provider: "secretbox", Version: "v1", KeyName: "key1"}},
		{"k8s:enc:kms:v1:vault:xx", EncryptedError{Provider: "kms", Version: "v1", KeyName: "vault"}},
		{"k8s:enc:kms:v2:vault:xx", EncryptedError{Provider: "kms", Version: "v2", KeyName: "vault"}},
		{"k8s:enc:", EncryptedError{}},
		{"k8s:enc:aescbc:v1:", EncryptedError{Provider: "aescbc", Version: "v1", KeyName: ""}},
		{"k8s:enc:aescbc:v1:" + strings.Repeat("n", 10_000), EncryptedError{Provider: "aescbc", Version: "v1", KeyName: ""}},
	}
	for _, tt := range tests {
		_, err := Decode([]byte(tt.value), 1)
		var e *EncryptedError
		if !errors.As(err, &e) || *e != tt.want {
			t.Errorf("%.40q: %v", tt.value, err)
		}
	}
}

func TestObjectOfTombstone(t *testing.T) {
	h := load(t, story().file(t, filepath.Join(t.TempDir(), "db")))
	if o, err := h.Object(4); o != nil || !errors.Is(err, ErrTombstone) {
		t.Errorf("object %v, %v", o, err)
	}
}

// TestConcurrentReads is for the race detector.
func TestConcurrentReads(t *testing.T) {
	e := newEtcdStore()
	for range 50 {
		e.txn(func() { e.set(podKey, encode(t, protobufSerializer, pod()), 0) })
	}
	h := load(t, e.file(t, filepath.Join(t.TempDir(), "db")))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range h.Len() {
				if o, err := h.Object(i); err != nil || o.(*corev1.Pod).ResourceVersion != revisionName(h.At(i).Main, 0) {
					t.Errorf("revision %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
}

// FuzzObject decodes any bytes as a stored object: no panic, an error of one of two
// kinds, and no word of it from the value, which may be secret.
func FuzzObject(f *testing.F) {
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"},
		Data:       map[string][]byte{"k": []byte(fuzzSecret)},
		StringData: map[string]string{"k": fuzzSecret},
	}
	for _, s := range []runtime.Encoder{protobufSerializer, jsonSerializer, cborSerializer} {
		for _, o := range []runtime.Object{secret, pod(), deployment()} {
			value := encode(f, s, o)
			f.Add(value)
			f.Add(value[:len(value)/2])
		}
	}
	f.Add(encode(f, cborSerializer, certificate()))
	f.Add([]byte(storedCRD))
	f.Add([]byte("k8s:enc:aescbc:v1:key1:" + fuzzSecret))
	f.Fuzz(func(t *testing.T, value []byte) {
		o, err := Decode(value, 7)
		var wrong *DecodeError
		var sealed *EncryptedError
		switch {
		case err == nil:
			if m, e := meta.Accessor(o); e == nil && m.GetResourceVersion() != "7" {
				t.Errorf("resourceVersion %q", m.GetResourceVersion())
			}
		case o != nil:
			t.Errorf("%T with %v", o, err)
		case errors.As(err, &wrong):
			if strings.Contains(wrong.Reason, fuzzSecret) {
				t.Errorf("the value is shown: %v", err)
			}
		case !errors.As(err, &sealed):
			t.Errorf("%T: %v", err, err)
		}
		w, err := DecodeWire(value)
		if err != nil && errors.As(err, &wrong) && strings.Contains(wrong.Reason, fuzzSecret) {
			t.Errorf("the value is shown: %v", err)
		}
		if err == nil && w == nil {
			t.Error("neither an object nor an error")
		}
	})
}

// fuzzSecret is what no message may show.
const fuzzSecret = "hunter2hunter2"
