package snapshot

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/nacl/secretbox"
	"google.golang.org/protobuf/encoding/protowire"
)

const secretKey = "/registry/secrets/default/db"

// random returns n random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// sealCBC encrypts as the provider aescbc does.
func sealCBC(t testing.TB, secret, plain []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(secret)
	must(t, err)
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	padded := append(bytes.Clone(plain), bytes.Repeat([]byte{byte(pad)}, pad)...)
	iv := random(aes.BlockSize)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(padded, padded)
	return append(iv, padded...)
}

// sealGCM encrypts as the provider aesgcm does.
func sealGCM(t testing.TB, secret []byte, key string, plain []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(secret)
	must(t, err)
	aead, err := cipher.NewGCM(block)
	must(t, err)
	nonce := random(aead.NonceSize())
	return aead.Seal(nonce, nonce, plain, []byte(key))
}

// sealBox encrypts as the provider secretbox does.
func sealBox(secret, plain []byte) []byte {
	box, nonce := [32]byte(secret), [24]byte(random(24))
	return secretbox.Seal(nonce[:], plain, &nonce, &box)
}

// sealValue makes the value that a provider stores under secretKey.
func sealValue(t testing.TB, provider, name string, secret []byte, plain []byte) []byte {
	t.Helper()
	head := []byte("k8s:enc:" + provider + ":v1:" + name + ":")
	switch provider {
	case providerCBC:
		return append(head, sealCBC(t, secret, plain)...)
	case providerGCM:
		return append(head, sealGCM(t, secret, secretKey, plain)...)
	}
	return append(head, sealBox(secret, plain)...)
}

// kmsV2 makes an envelope of KMS v2.
func kmsV2(keyID string, dek []byte, kind uint64, data []byte) []byte {
	var b []byte
	for i, field := range [][]byte{data, []byte(keyID), dek, append([]byte{0x0a, 3}, "k.x\x12\x01y"...)} {
		b = protowire.AppendTag(b, protowire.Number(i+1), protowire.BytesType)
		b = protowire.AppendBytes(b, field)
	}
	b = protowire.AppendTag(b, 5, protowire.VarintType)
	return protowire.AppendVarint(b, kind)
}

// kmsV1 makes an envelope of KMS v1.
func kmsV1(dek, data []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(dek)))
	return append(append(b, dek...), data...)
}

// confKey is one key of a configuration.
type confKey struct {
	provider, name string
	secret         []byte
}

// config writes a configuration with one provider for each key.
func config(keys ...confKey) string {
	var b strings.Builder
	b.WriteString("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers:\n")
	for _, k := range keys {
		fmt.Fprintf(&b, "  - %s: {keys: [{name: %q, secret: %q}]}\n", k.provider, k.name, base64.StdEncoding.EncodeToString(k.secret))
	}
	return b.String() + "  - identity: {}\n"
}

// parseKeys reads a configuration.
func parseKeys(t testing.TB, text string) *Keys {
	t.Helper()
	k, err := ParseEncryptionConfig([]byte(text))
	must(t, err)
	return k
}
