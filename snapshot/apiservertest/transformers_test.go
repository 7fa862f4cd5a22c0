package apiservertest

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/storage/value"
	aestransformer "k8s.io/apiserver/pkg/storage/value/encrypt/aes"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/apiserver/pkg/storage/value/encrypt/secretbox"

	"etcd-autopsy/snapshot"
)

const key = "/registry/secrets/default/db"

// values are of every encoding, and of lengths around the blocks of AES.
func values() [][]byte {
	list := [][]byte{[]byte("\xd9\xd9\xf7\xa1\x44kind\x46Secret")}
	for n := range 40 {
		list = append(list, append([]byte("k8s\x00"), bytes.Repeat([]byte{byte(n)}, n)...))
		list = append(list, fmt.Appendf(nil, `{"kind":%q}`, strings.Repeat("x", n)))
	}
	return append(list, append([]byte("k8s\x00"), bytes.Repeat([]byte("large"), 200_000)...))
}

// secret is a random one, and as a configuration spells it.
func secret(t *testing.T, size int) ([]byte, string) {
	t.Helper()
	b := make([]byte, size)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return b, base64.StdEncoding.EncodeToString(b)
}

func parse(t *testing.T, text string) *snapshot.Keys {
	t.Helper()
	k, err := snapshot.ParseEncryptionConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// store encrypts as the API server does for an etcd key.
func store(t *testing.T, w value.Write, key string, plain []byte) []byte {
	t.Helper()
	stored, err := w.TransformToStorage(context.Background(), bytes.Clone(plain), value.DefaultContext(key))
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// check wants a value back.
func check(t *testing.T, k *snapshot.Keys, key string, stored, plain []byte) {
	t.Helper()
	got, err := k.Decrypt(key, stored)
	if err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%s, %d bytes: %v", key, len(plain), err)
	}
}

// TestTransformers uses every transformer by itself, with every size of secret.
func TestTransformers(t *testing.T) {
	for _, provider := range []string{"aescbc", "aesgcm", "secretbox", "identity"} {
		for _, size := range []int{16, 24, 32} {
			if provider == "secretbox" && size != 32 {
				continue
			}
			t.Run(fmt.Sprint(provider, size), func(t *testing.T) {
				b, text := secret(t, size)
				block, err := aes.NewCipher(b)
				if err != nil {
					t.Fatal(err)
				}
				var tr value.Transformer
				prefix := "k8s:enc:" + provider + ":v1:key:1:"
				entry := provider + ": {keys: [{name: 'key:1', secret: " + text + "}]}"
				switch provider {
				case "aescbc":
					tr = aestransformer.NewCBCTransformer(block)
				case "aesgcm":
					if tr, err = aestransformer.NewGCMTransformer(block); err != nil {
						t.Fatal(err)
					}
				case "secretbox":
					tr = secretbox.NewSecretboxTransformer([32]byte(b))
				default:
					tr, prefix, entry = identity.NewEncryptCheckTransformer(), "", "identity: {}"
				}
				k := parse(t, config(rule("secrets", entry)))
				for _, plain := range values() {
					check(t, k, key, append([]byte(prefix), store(t, tr, key, plain)...), plain)
				}
			})
		}
	}
}

// rule writes one entry of a configuration.
func rule(resources string, providers ...string) string {
	return "- resources: [" + resources + "]\n  providers:\n  - " + strings.Join(providers, "\n  - ") + "\n"
}

func config(rules ...string) string {
	return "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" + strings.Join(rules, "")
}

// load has the API server read a configuration.
func load(t *testing.T, text string) value.ResourceTransformers {
	t.Helper()
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := encryptionconfig.LoadEncryptionConfig(context.Background(), path, false, "")
	if err != nil {
		t.Fatal(err)
	}
	return encryptionconfig.StaticTransformers(c.Transformers)
}

// TestConfiguration has both sides read one configuration, with a rule for each
// kind of resource name.
func TestConfiguration(t *testing.T) {
	secrets := make([]string, 6)
	for i := range secrets {
		_, secrets[i] = secret(t, 32)
	}
	entry := func(provider, name string, i int) string {
		return fmt.Sprintf("%s: {keys: [{name: %q, secret: %s}]}", provider, name, secrets[i])
	}
	text := config(
		rule("secrets", entry("aescbc", "a", 0), entry("aescbc", "b", 1), "identity: {}"),
		rule("'*.apps', things.example.com", entry("aesgcm", "a:b", 2), entry("aesgcm", "a", 3)),
		rule("'*.*'", entry("secretbox", "a", 4), entry("secretbox", "b", 5)),
	)
	server, k := load(t, text), parse(t, text)
	for key, resource := range map[string]schema.GroupResource{
		key:                                    {Resource: "secrets"},
		"/registry/deployments/default/web":    {Group: "apps", Resource: "deployments"},
		"/registry/example.com/things/a/b":     {Group: "example.com", Resource: "things"},
		"/registry/pods/default/web":           {Resource: "pods"},
		"/somewhere/else/pods/default/web":     {Resource: "pods"},
		"/registry/other.io/widgets/default/x": {Group: "other.io", Resource: "widgets"},
	} {
		for _, plain := range values() {
			stored := store(t, server.TransformerForResource(resource), key, plain)
			if !snapshot.IsEncrypted(stored) {
				t.Fatalf("%s is stored in clear", resource)
			}
			check(t, k, key, stored, plain)
		}
	}
}

// TestRotation reads what was written before keys were exchanged, one step after
// the other, with the last configuration.
func TestRotation(t *testing.T) {
	var entries []string
	plain := []byte(`{"kind":"Secret"}`)
	stored := map[string][]byte{}
	for i, provider := range []string{"aescbc", "aescbc", "aesgcm", "secretbox", "aesgcm"} {
		_, text := secret(t, 32)
		entries = append([]string{fmt.Sprintf("%s: {keys: [{name: key, secret: %s}]}", provider, text)}, entries...)
		server := load(t, config(rule("secrets", entries...)))
		stored[fmt.Sprint(provider, i)] = store(t, server.TransformerForResource(schema.GroupResource{Resource: "secrets"}), key, plain)
	}
	k := parse(t, config(rule("secrets", entries...)))
	for name, value := range stored {
		if got, err := k.Decrypt(key, value); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWrongSecret has another secret under the same name.
func TestWrongSecret(t *testing.T) {
	for _, provider := range []string{"aescbc", "aesgcm", "secretbox"} {
		configs := make([]string, 2)
		for i := range configs {
			_, text := secret(t, 32)
			configs[i] = config(rule("secrets", fmt.Sprintf("%s: {keys: [{name: key, secret: %s}]}", provider, text)))
		}
		stored := store(t, load(t, configs[0]).TransformerForResource(schema.GroupResource{Resource: "secrets"}), key, []byte(`{"kind":"Secret"}`))
		_, err := parse(t, configs[1]).Decrypt(key, stored)
		var d *snapshot.DecryptError
		if !errors.As(err, &d) || d.Cause != snapshot.WrongKey || d.Encrypted.Provider != provider || d.Encrypted.KeyName != "key" {
			t.Errorf("%s: %v", provider, err)
		}
	}
}
