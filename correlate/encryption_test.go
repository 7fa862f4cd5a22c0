package correlate

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"etcd-autopsy/fixtures/world"
)

// encrypted is a value as an API server with an aescbc provider stores it.
func encrypted(t *testing.T, secret []byte, name string, plain []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(secret)
	if err != nil {
		t.Fatal(err)
	}
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	plain = append(bytes.Clone(plain), bytes.Repeat([]byte{byte(pad)}, pad)...)
	iv := bytes.Repeat([]byte{7}, aes.BlockSize)
	out := make([]byte, len(plain))
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, plain)
	return append(append([]byte("k8s:enc:aescbc:v1:"+name+":"), iv...), out...)
}

// TestEncryptedStore: a configuration among the inputs opens the values; without it
// nothing is concluded from what cannot be read.
func TestEncryptedStore(t *testing.T) {
	secret := bytes.Repeat([]byte("0123456789abcdef"), 2)
	w := world.New()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "u", Generation: 1, CreationTimestamp: metav1.NewTime(w.Time(sec))}}
	w.PutRaw(sec, world.Key(d), encrypted(t, secret, "k1", world.Encode(d)))
	dir := t.TempDir()
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	closed := analyzeDir(t, dir)
	if v := closed.Verdict; v.Cause != nil || !strings.Contains(v.Text, "could not be decoded") || len(closed.Rollouts) != 0 {
		t.Errorf("without keys: %+v, %d rollouts", v, len(closed.Rollouts))
	}
	if !strings.Contains(strings.Join(closed.Coverage.Notes, " "), "aescbc") {
		t.Errorf("no note names the provider: %v", closed.Coverage.Notes)
	}
	config := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: ['*.*']\n  providers:\n  - aescbc:\n      keys:\n      - name: k1\n        secret: " +
		base64.StdEncoding.EncodeToString(secret) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "enc.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	open := analyzeDir(t, dir)
	if len(open.Rollouts) != 1 {
		t.Errorf("with keys: %d rollouts, want 1", len(open.Rollouts))
	}
	if strings.Contains(string(marshal(t, open)), base64.StdEncoding.EncodeToString(secret)) {
		t.Error("the analysis holds the secret")
	}
}
