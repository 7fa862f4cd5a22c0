package apiservertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2"
	"k8s.io/kms/pkg/service"

	"etcd-autopsy/snapshot"
)

// plugin is a KMS that turns bytes around.
type plugin struct{}

func (plugin) Encrypt(_ context.Context, _ string, data []byte) (*service.EncryptResponse, error) {
	turned := make([]byte, len(data))
	for i, b := range data {
		turned[i] = ^b
	}
	return &service.EncryptResponse{Ciphertext: turned, KeyID: "kek-2024", Annotations: map[string][]byte{"version.example.com": []byte("1"), "a.example.com": []byte("2")}}, nil
}

func (plugin) Decrypt(context.Context, string, *service.DecryptRequest) ([]byte, error) {
	return nil, errors.New("not asked")
}

func (plugin) Status(context.Context) (*service.StatusResponse, error) {
	return &service.StatusResponse{Version: "v2", Healthz: "ok", KeyID: "kek-2024"}, nil
}

// TestKMS reads what is in clear of values that the API server encrypted
// through a KMS, with both kinds of data keys.
func TestKMS(t *testing.T) {
	k := parse(t, config(rule("secrets", "kms: {apiVersion: v2, name: vault, endpoint: 'unix:///kms'}")))
	for _, derived := range []bool{false, true} {
		transformer, object, cacheKey, err := kmsv2.GenerateTransformer(context.Background(), "uid", plugin{}, derived)
		if err != nil {
			t.Fatal(err)
		}
		state := kmsv2.State{
			Transformer: transformer, EncryptedObjectKeyID: object.KeyID, EncryptedObjectEncryptedDEKSource: object.EncryptedDEKSource,
			EncryptedObjectAnnotations: object.Annotations, EncryptedObjectEncryptedDEKSourceType: object.EncryptedDEKSourceType,
			UID: "uid", ExpirationTimestamp: time.Now().Add(time.Hour), CacheKey: cacheKey, KMSProviderName: "vault",
		}
		envelopes := kmsv2.NewEnvelopeTransformer(plugin{}, "vault", func() (kmsv2.State, error) { return state, nil }, "")
		var dek string
		for n := uint64(1); n <= 3; n++ {
			stored := append([]byte("k8s:enc:kms:v2:vault:"), store(t, envelopes, key, []byte(`{"kind":"Secret"}`))...)
			_, err := k.Decrypt(key, stored)
			var d *snapshot.DecryptError
			if !errors.As(err, &d) || d.Cause != snapshot.NeedsKMS || d.Encrypted.KeyName != "vault" || d.Encrypted.KMS == nil {
				t.Fatalf("derived %v: %v", derived, err)
			}
			kms := d.Encrypted.KMS
			if kms.KeyID != "kek-2024" || kms.Derived != derived || len(kms.Annotations) != 2 || kms.Annotations[0] != "a.example.com" || dek != "" && kms.DEK != dek {
				t.Errorf("derived %v: %+v", derived, *kms)
			}
			if want := map[bool]uint64{false: n}[derived]; kms.Sequence != want {
				t.Errorf("derived %v: sequence %d, want %d", derived, kms.Sequence, want)
			}
			dek = kms.DEK
		}
	}
}
