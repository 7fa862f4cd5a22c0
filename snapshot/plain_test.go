package snapshot

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// encryptedStore has a Secret in clear, then with a key of each name, and a
// value that no API server wrote.
func encryptedStore(t testing.TB, k1, k2 []byte) *etcdStore {
	t.Helper()
	s := &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"}}
	plain := encode(t, protobufSerializer, s)
	e := newEtcdStore()
	e.txn(func() { e.set(secretKey, plain, 0) })
	e.txn(func() { e.set(secretKey, sealValue(t, providerCBC, "k1", k1, plain), 0) })
	e.txn(func() { e.set(secretKey, sealValue(t, providerGCM, "k2", k2, plain), 0) })
	e.txn(func() { e.set("/registry/pods/default/web", encode(t, protobufSerializer, pod()), 0) })
	e.put("/registry/pods/default/web", "nonsense")
	e.put("compact_rev_key", "17")
	e.put("/registry/health", `{"health":"true"}`)
	e.put("/bootstrap/00", "k8s:enc:secretbox:v1:k9:x")
	e.del(secretKey)
	return e
}

func loadWith(t testing.TB, keys *Keys, path string) *History {
	t.Helper()
	h, err := Load(context.Background(), []File{{Input: "db", Path: "db", OSPath: path}}, Options{Keys: keys})
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return h
}

func TestObjectWithKeys(t *testing.T) {
	k1, k2 := random(32), random(32)
	path := encryptedStore(t, k1, k2).file(t, filepath.Join(t.TempDir(), "db"))
	h := loadWith(t, parseKeys(t, config(confKey{providerGCM, "k2", k2}, confKey{providerCBC, "k1", k1})), path)
	for i := range 3 {
		o, err := h.Object(i)
		if s, ok := o.(*corev1.Secret); err != nil || !ok || s.Name != "db" {
			t.Errorf("revision %d: %v, %v", h.At(i).Main, o, err)
		}
	}
	stored, err := h.Value(1)
	if err != nil || !IsEncrypted(stored) {
		t.Errorf("Value does not return what is stored: %.20q, %v", stored, err)
	}
	if plain, err := h.Plain(8); plain != nil || err != nil {
		t.Errorf("a deletion has %q, %v", plain, err)
	}
}

func TestUndecodable(t *testing.T) {
	k1, k2 := random(32), random(32)
	path := encryptedStore(t, k1, k2).file(t, filepath.Join(t.TempDir(), "db"))
	h := loadWith(t, parseKeys(t, config(confKey{providerCBC, "k1", k2}, confKey{providerGCM, "k2", k2})), path)
	var revisions []int64
	for i, err := range h.Undecodable(context.Background()) {
		if err == nil {
			t.Error("no error")
		}
		revisions = append(revisions, h.At(i).Main)
	}
	if d := cmp.Diff([]int64{3, 6, 9}, revisions); d != "" {
		t.Errorf("undecodable (-want +got):\n%s", d)
	}
	got, err := h.UndecodableCounts(context.Background())
	must(t, err)
	want := []UndecodableCount{
		{"", `encrypted at rest (secretbox v1, key "k9"): no such key in the configuration`, 1, 9, "/bootstrap/00"},
		{"pods", "not a readable object: 8 bytes of unknown encoding", 1, 6, "/registry/pods/default/web"},
		{"secrets", `encrypted at rest (aescbc v1, key "k1"): the key of that name in the configuration does not fit`, 1, 3, secretKey},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
}

func TestEncryption(t *testing.T) {
	k1, k2 := random(32), random(32)
	path := encryptedStore(t, k1, k2).file(t, filepath.Join(t.TempDir(), "db"))
	h := loadWith(t, parseKeys(t, config(confKey{providerGCM, "k2", k2})), path)
	got, err := h.Encryption(context.Background())
	must(t, err)
	want := []EncryptionCount{
		{Provider: "secretbox", Version: "v1", KeyName: "k9", Values: 1, First: 9, Last: 9, Live: 1, Unreadable: 1,
			Failed: "/bootstrap/00", FailedRevision: 9, Reason: `encrypted at rest (secretbox v1, key "k9"): no such key in the configuration`},
		{Resource: "secrets", Values: 1, First: 2, Last: 2},
		{Resource: "secrets", Provider: "aescbc", Version: "v1", KeyName: "k1", Values: 1, First: 3, Last: 3, Unreadable: 1,
			Failed: secretKey, FailedRevision: 3, Reason: `encrypted at rest (aescbc v1, key "k1"): no such key in the configuration`},
		{Resource: "secrets", Provider: "aesgcm", Version: "v1", KeyName: "k2", Values: 1, First: 4, Last: 4},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestReadersEnd ends the context.
func TestReadersEnd(t *testing.T) {
	h := load(t, story().file(t, filepath.Join(t.TempDir(), "db")))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, one := h.UndecodableCounts(ctx)
	_, two := h.Encryption(ctx)
	if !errors.Is(one, context.Canceled) || !errors.Is(two, context.Canceled) {
		t.Errorf("%v, %v", one, two)
	}
}
