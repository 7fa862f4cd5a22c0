package snapshot

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"strings"

	"golang.org/x/crypto/nacl/secretbox"
)

// An opener decrypts the payload of a value that is stored under an etcd key.
// Its errors are errPayload or errMismatch. It keeps the secret to itself, so
// that no way of printing the Keys can show it.
type opener func(key string, payload []byte) ([]byte, error)

var (
	// errPayload means that bytes cannot be a payload of the provider, whatever
	// the secret.
	errPayload = errors.New("its length is that of no payload")
	// errMismatch means that a secret does not decrypt a payload.
	errMismatch = errors.New("the secret does not fit")
	// errSecretLen means that a secret is none of the provider's.
	errSecretLen = errors.New("not a secret of the right length")
)

// openers make an opener of a secret, by provider.
var openers = map[string]func(secret []byte) (opener, error){
	providerCBC:       openCBC,
	providerGCM:       openGCM,
	providerSecretbox: openSecretbox,
}

// openCBC opens IV and AES-CBC ciphertext with PKCS #7 padding. Nothing is
// authenticated: one in 256 wrong secrets leaves a valid padding, so that the
// result must look like an object too.
func openCBC(secret []byte) (opener, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, errSecretLen
	}
	return func(_ string, payload []byte) ([]byte, error) {
		if len(payload) < 2*aes.BlockSize || len(payload)%aes.BlockSize != 0 {
			return nil, errPayload
		}
		plain := make([]byte, len(payload)-aes.BlockSize)
		cipher.NewCBCDecrypter(block, payload[:aes.BlockSize]).CryptBlocks(plain, payload[aes.BlockSize:])
		plain, ok := unpad(plain)
		if !ok || !plausible(plain) {
			return nil, errMismatch
		}
		return plain, nil
	}, nil
}

// unpad removes PKCS #7 padding.
func unpad(b []byte) ([]byte, bool) {
	n := int(b[len(b)-1])
	if n == 0 || n > aes.BlockSize || n > len(b) {
		return nil, false
	}
	for _, p := range b[len(b)-n:] {
		if int(p) != n {
			return nil, false
		}
	}
	return b[:len(b)-n], true
}

// openGCM opens nonce and AES-GCM ciphertext. The etcd key is authenticated
// with it, as the API server spelt it: behind an etcd proxy that adds a
// namespace, the key without it.
func openGCM(secret []byte) (opener, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, errSecretLen
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, errSecretLen
	}
	return func(key string, payload []byte) ([]byte, error) {
		if len(payload) < aead.NonceSize()+aead.Overhead() {
			return nil, errPayload
		}
		nonce, sealed := payload[:aead.NonceSize()], payload[aead.NonceSize():]
		for more := true; more; key, more = behindProxy(key) {
			if plain, err := aead.Open(nil, nonce, sealed, []byte(key)); err == nil {
				return plain, nil
			}
		}
		return nil, errMismatch
	}, nil
}

// behindProxy cuts a key before its second slash.
func behindProxy(key string) (string, bool) {
	if key == "" {
		return "", false
	}
	next := strings.IndexByte(key[1:], '/')
	if next < 0 {
		return "", false
	}
	return key[1+next:], true
}

// Lengths of NaCl's secretbox.
const (
	boxSecretLen = 32
	boxNonceLen  = 24
)

// openSecretbox opens nonce and secretbox.
func openSecretbox(secret []byte) (opener, error) {
	if len(secret) != boxSecretLen {
		return nil, errSecretLen
	}
	box := [boxSecretLen]byte(secret)
	return func(_ string, payload []byte) ([]byte, error) {
		if len(payload) < boxNonceLen+secretbox.Overhead {
			return nil, errPayload
		}
		nonce := [boxNonceLen]byte(payload)
		plain, ok := secretbox.Open(nil, payload[boxNonceLen:], &nonce, &box)
		if !ok {
			return nil, errMismatch
		}
		return plain, nil
	}, nil
}
