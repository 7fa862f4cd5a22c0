package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// plainSecret is what stands for an object.
const plainSecret = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"}}`

var sealing = []string{providerCBC, providerGCM, providerSecretbox}

func TestDecrypt(t *testing.T) {
	for _, provider := range sealing {
		for _, size := range []int{16, 24, 32} {
			if provider == providerSecretbox && size != 32 {
				continue
			}
			secret := random(size)
			k := parseKeys(t, config(confKey{provider, "key1", secret}))
			for _, plain := range []string{plainSecret, plainSecret + " ", "k8s\x00" + strings.Repeat("x", 4096), "\xd9\xd9\xf7\xa0"} {
				value := sealValue(t, provider, "key1", secret, []byte(plain))
				got, err := k.Decrypt(secretKey, value)
				if err != nil || string(got) != plain {
					t.Errorf("%s with %d bytes: %q, %v", provider, size, got, err)
				}
			}
		}
	}
}

func TestJoinNoKeys(t *testing.T) {
	if k := JoinKeys(nil, nil); k != nil || k.String() != "no keys" {
		t.Errorf("%v", k)
	}
	_, err := JoinKeys().Decrypt(secretKey, []byte("k8s:enc:aescbc:v1:k1:x"))
	if want := `encrypted at rest (aescbc v1, key "k1")`; fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestDecryptPlain(t *testing.T) {
	for _, k := range []*Keys{nil, {}, parseKeys(t, config(confKey{providerCBC, "key1", random(32)}))} {
		got, err := k.Decrypt(secretKey, []byte(plainSecret))
		if err != nil || string(got) != plainSecret {
			t.Errorf("%v: %q, %v", k, got, err)
		}
	}
}

// TestDecryptCauses has what cannot be decrypted, and the reason for it.
func TestDecryptCauses(t *testing.T) {
	right, wrong := random(32), random(32)
	for _, provider := range sealing {
		value := sealValue(t, provider, "key1", right, []byte(plainSecret))
		head := len("k8s:enc:" + provider + ":v1:key1:")
		changed := bytes.Clone(value)
		changed[len(changed)-20] ^= 1 // of CBC this spoils the last block's padding
		changed[head+1] ^= 1          // and this the first character
		other := providerGCM
		if provider == providerGCM {
			other = providerCBC
		}
		tests := []struct {
			name  string
			keys  confKey
			value []byte
			want  DecryptCause
			tried int
		}{
			{"wrong secret", confKey{provider, "key1", wrong}, value, WrongKey, 1},
			{"other name", confKey{provider, "key2", right}, value, NoKey, 0},
			{"longer name", confKey{provider, "key11", right}, value, NoKey, 0},
			{"shorter name", confKey{provider, "key", right}, value, NoKey, 0},
			{"other provider", confKey{other, "key1", right}, value, NoKey, 0},
			{"changed", confKey{provider, "key1", right}, changed, WrongKey, 1},
			{"no payload", confKey{provider, "key1", right}, value[:head], DamagedPayload, 1},
			{"short", confKey{provider, "key1", right}, value[:head+17], DamagedPayload, 1},
			{"no name", confKey{provider, "key1", right}, value[:head-1], NoKey, 0},
		}
		for _, tt := range tests {
			plain, err := parseKeys(t, config(tt.keys)).Decrypt(secretKey, tt.value)
			var d *DecryptError
			if plain != nil || !errors.As(err, &d) || d.Cause != tt.want || d.Tried != tt.tried || d.Key != secretKey {
				t.Errorf("%s, %s: %q, %v", provider, tt.name, plain, err)
				continue
			}
			var e *EncryptedError
			if !errors.As(err, &e) || e.Provider != provider || e.Version != "v1" {
				t.Errorf("%s, %s: the error does not tell the key: %v", provider, tt.name, err)
			}
		}
	}
}

// TestDecryptTruncated cuts a value everywhere.
func TestDecryptTruncated(t *testing.T) {
	for _, provider := range sealing {
		secret := random(32)
		k := parseKeys(t, config(confKey{provider, "key1", secret}))
		value := sealValue(t, provider, "key1", secret, []byte(plainSecret))
		for n := len(encryptionMark); n < len(value); n++ {
			if plain, err := k.Decrypt(secretKey, value[:n]); err == nil {
				t.Errorf("%s: the first %d of %d bytes decrypt to %q", provider, n, len(value), plain)
			}
		}
	}
}

// TestKeyNames has names that are the beginning of one another, before a colon
// and elsewhere, in both orders.
func TestKeyNames(t *testing.T) {
	one, two, three := random(32), random(32), random(32)
	for _, provider := range sealing {
		keys := []confKey{{provider, "a", one}, {provider, "a:b", two}, {provider, "ab", three}}
		for range len(keys) {
			keys = append(keys[1:], keys[0])
			k := parseKeys(t, config(keys...))
			for _, key := range keys {
				got, err := k.Decrypt(secretKey, sealValue(t, provider, key.name, key.secret, []byte(plainSecret)))
				if err != nil || string(got) != plainSecret {
					t.Errorf("%s %q: %q, %v", provider, key.name, got, err)
				}
			}
			_, err := k.Decrypt(secretKey, sealValue(t, provider, "a:b", random(32), []byte(plainSecret)))
			var d *DecryptError
			if !errors.As(err, &d) || d.Tried != 2 || d.Encrypted.KeyName != "a:b" {
				t.Errorf("%s: %v", provider, err)
			}
		}
	}
}

// TestSameName has one name with several secrets, as after a restore, and in a
// configuration joined with an older one.
func TestSameName(t *testing.T) {
	secrets := [][]byte{random(32), random(32), random(32)}
	for _, provider := range sealing {
		k := JoinKeys(parseKeys(t, config(confKey{provider, "key1", secrets[0]}, confKey{provider, "key1", secrets[1]})), nil,
			parseKeys(t, config(confKey{provider, "key1", secrets[2]})))
		for i, s := range secrets {
			if _, err := k.Decrypt(secretKey, sealValue(t, provider, "key1", s, []byte(plainSecret))); err != nil {
				t.Errorf("%s, secret %d: %v", provider, i, err)
			}
		}
	}
}

// TestDecryptOtherKey moves values to other etcd keys: only aesgcm minds.
func TestDecryptOtherKey(t *testing.T) {
	secret := random(32)
	for _, provider := range sealing {
		k := parseKeys(t, config(confKey{provider, "key1", secret}))
		value := sealValue(t, provider, "key1", secret, []byte(plainSecret))
		if _, err := k.Decrypt("/registry/secrets/default/copy", value); (err == nil) != (provider != providerGCM) {
			t.Errorf("%s, another key: %v", provider, err)
		}
		if _, err := k.Decrypt("/tenant"+secretKey, value); err != nil {
			t.Errorf("%s, behind a proxy: %v", provider, err)
		}
	}
}

// TestWrongCBCKey tries so many wrong secrets that some leave valid padding.
func TestWrongCBCKey(t *testing.T) {
	value := sealCBC(t, random(32), []byte(plainSecret))
	for range 20_000 {
		open, err := openCBC(random(32))
		must(t, err)
		if plain, err := open("", value); err == nil {
			t.Fatalf("a wrong secret gives %q", plain)
		}
	}
}

func TestDecryptKMS(t *testing.T) {
	k := parseKeys(t, "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: ['*.*']\n  providers:\n"+
		"  - kms: {apiVersion: v2, name: vault, endpoint: 'unix:///x'}\n  - kms: {name: old, endpoint: 'unix:///x'}\n")
	nonce := append(random(4), 0x05, 0xca, 0x9a, 0x3b, 0, 0, 0, 0) // 1,000,000,005
	for _, tt := range []struct{ value, want string }{
		{"k8s:enc:kms:v2:vault:" + string(kmsV2("kek-7", random(40), 1, random(60))), `encrypted at rest (kms v2, plugin "vault", key ID "kek-7"): the key is in the KMS, which is not asked`},
		{"k8s:enc:kms:v2:vault:" + string(kmsV2("kek-7", random(40), 0, append(nonce, random(40)...))), `encrypted at rest (kms v2, plugin "vault", key ID "kek-7"): the key is in the KMS, which is not asked`},
		{"k8s:enc:kms:v1:old:" + string(kmsV1(random(40), random(60))), `encrypted at rest (kms v1, plugin "old"): the key is in the KMS, which is not asked`},
		{"k8s:enc:kms:v1:old:\xff\xff", `encrypted at rest (kms v1, plugin "old"): damaged: not of the form that the provider writes`},
		{"k8s:enc:kms:v2:vault:\x0a\x05", `encrypted at rest (kms v2, plugin "vault"): damaged: not of the form that the provider writes`},
	} {
		if _, err := k.Decrypt(secretKey, []byte(tt.value)); fmt.Sprint(err) != tt.want {
			t.Errorf("%.30q: %v", tt.value, err)
		}
	}
}

// TestKMSEnvelope reads what is in clear.
func TestKMSEnvelope(t *testing.T) {
	dek := random(40)
	nonce := append(random(4), 0x05, 0xca, 0x9a, 0x3b, 0, 0, 0, 0)
	want := KMSEnvelope{KeyID: "kek-7", DEK: dekName(dek), Sequence: 5, Annotations: []string{"k.x"}, Size: 52}
	got := parseKMS("v2", kmsV2("kek-7", dek, 0, append(nonce, random(40)...)))
	if fmt.Sprintf("%+v", *got) != fmt.Sprintf("%+v", want) {
		t.Errorf("v2 %+v, want %+v", *got, want)
	}
	if got := parseKMS("v2", kmsV2("kek-7", dek, 1, random(60))); !got.Derived || got.Sequence != 0 {
		t.Errorf("v2 derived: %+v", *got)
	}
	if got := parseKMS("v1", kmsV1(dek, random(60))); got.DEK != dekName(dek) || got.Size != 60 {
		t.Errorf("v1 %+v", *got)
	}
}

// FuzzDecrypt wants no panic, and no plaintext for bytes that were not sealed.
func FuzzDecrypt(f *testing.F) {
	secret := bytes.Repeat([]byte{7}, 32)
	var keys []confKey
	for _, p := range sealing {
		keys = append(keys, confKey{p, "key1", secret})
		f.Add(secretKey, sealValue(f, p, "key1", secret, []byte(plainSecret))[:40])
	}
	f.Add(secretKey, append([]byte("k8s:enc:kms:v2:vault:"), kmsV2("id", []byte("dek"), 1, []byte("data"))...))
	f.Add(secretKey, append([]byte("k8s:enc:kms:v1:vault:"), kmsV1([]byte("dek"), []byte("data"))...))
	k := parseKeys(f, config(keys...))
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		plain, err := k.Decrypt(key, value)
		_, noKeys := (*Keys)(nil).Decrypt(key, value)
		if (noKeys == nil) == IsEncrypted(value) {
			t.Fatalf("without keys: %v", noKeys)
		}
		var d *DecryptError
		switch {
		case !IsEncrypted(value):
			if err != nil || !bytes.Equal(plain, value) {
				t.Fatalf("in clear: %q, %v", plain, err)
			}
		case err != nil && !errors.As(err, &d):
			t.Fatalf("an untyped error: %v", err)
		case err != nil && (plain != nil || d.Cause == 0 || d.Encrypted == nil):
			t.Fatalf("%q, %+v", plain, d)
		}
	})
}

// FuzzEnvelope wants names and payload to make up the value again.
func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{"k8s:enc:", "k8s:enc:aescbc:v1:a:b:", "k8s:enc:kms:v2:x:\x0a\x01a", "k8s:enc:::::", "k8s:enc:kms:v1:x:\x00\x01ab"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		e := encrypted(value)
		if (e != nil) != IsEncrypted(value) {
			t.Fatal("not recognized")
		}
		if e == nil || e.KeyName == "" {
			return
		}
		head := encryptionMark + e.Provider + ":" + e.Version + ":"
		if got := head + string(e.sealed(value)); got != string(value) || !strings.HasPrefix(got, head+e.KeyName+":") {
			t.Fatalf("%q gives %+v", value, e)
		}
		if e.KMS != nil && (e.KMS.Size < 0 || e.KMS.Size > len(value)) {
			t.Fatalf("%+v", e.KMS)
		}
	})
}
