package snapshot

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Decrypt decrypts a value as it is stored under an etcd key; one that is not
// encrypted is returned as it is. Every key whose name the value begins with is
// tried. Errors are an *EncryptedError if k is nil, else a *DecryptError.
func (k *Keys) Decrypt(key string, value []byte) ([]byte, error) {
	e := encrypted(value)
	switch {
	case e == nil:
		return value, nil
	case k == nil:
		return nil, e
	case e.Provider == providerKMS:
		return nil, k.kmsError(key, e)
	}
	sealed := e.sealed(value)
	failed := &DecryptError{Encrypted: e, Key: key, Cause: NoKey}
	for p := range k.providers(key) {
		if p.name != e.Provider || p.version != e.Version {
			continue
		}
		for _, n := range p.keys {
			payload, ok := n.payload(sealed)
			if !ok {
				continue
			}
			plain, err := n.open(key, payload)
			if err == nil {
				return plain, nil
			}
			failed.note(n.name, err)
		}
	}
	return nil, failed
}

// payload is what follows the key's name in a value; ok is false if the value
// does not begin with it.
func (n namedKey) payload(sealed []byte) (payload []byte, ok bool) {
	rest, ok := bytes.CutPrefix(sealed, []byte(n.name))
	if !ok {
		return nil, false
	}
	return bytes.CutPrefix(rest, []byte{':'})
}

// kmsError says that a value needs its KMS.
func (k *Keys) kmsError(key string, e *EncryptedError) error {
	failed := &DecryptError{Encrypted: e, Key: key, Cause: NeedsKMS}
	if e.KMS == nil {
		failed.Cause = DamagedPayload
		return failed
	}
	for p := range k.providers(key) {
		if p.name == providerKMS && p.version == e.Version && len(p.plugin) > len(e.KeyName) && strings.HasPrefix(p.plugin, e.KeyName+":") {
			e.KeyName = p.plugin
		}
	}
	return failed
}

// note notes that a key of the right name failed. The longest name that fits is
// the value's: another one is its beginning, up to a colon.
func (e *DecryptError) note(name string, err error) {
	e.Tried++
	if len(name) > len(e.Encrypted.KeyName) {
		e.Encrypted.KeyName = name
	}
	if err == errPayload && e.Cause == NoKey {
		e.Cause = DamagedPayload
	}
	if err != errPayload {
		e.Cause = WrongKey
	}
}

// plausible says whether bytes are a value that an API server writes.
func plausible(plain []byte) bool {
	for _, e := range encodings {
		if bytes.HasPrefix(plain, []byte(e.mark)) {
			return e.name != "json" || json.Valid(plain)
		}
	}
	return false
}
