package snapshot

import (
	"bytes"
	"fmt"
	"strings"
)

// encryptionMark begins every value that is encrypted at rest; provider, version
// and key name follow, each ended by a colon (apiserver v0.37
// pkg/server/options/encryptionconfig/config.go).
const encryptionMark = "k8s:enc:"

// maxKeyName is the most bytes to look at for the name of a key.
const maxKeyName = 512

// The providers that encrypt, as an EncryptionConfiguration and the values spell
// them.
const (
	providerCBC       = "aescbc"
	providerGCM       = "aesgcm"
	providerSecretbox = "secretbox"
	providerKMS       = "kms"
	providerIdentity  = "identity"
)

// EncryptedError says that a value is encrypted at rest, and all that the value
// itself tells of its key.
type EncryptedError struct {
	// Provider is "aescbc", "aesgcm", "secretbox" or "kms", Version that of its
	// format ("v1"); KeyName is the name of the key, or of the KMS plugin. What
	// the value does not say is empty. A name with a colon in it is cut there,
	// unless a configuration has that name.
	Provider, Version, KeyName string
	// KMS is what a KMS envelope says in clear, nil for other providers and for
	// envelopes that are damaged.
	KMS *KMSEnvelope
}

func (e *EncryptedError) Error() string {
	name := "key"
	if e.Provider == providerKMS {
		name = "plugin"
	}
	text := fmt.Sprintf("encrypted at rest (%s %s, %s %q", e.Provider, e.Version, name, e.KeyName)
	if e.KMS != nil && e.KMS.KeyID != "" {
		text += fmt.Sprintf(", key ID %q", e.KMS.KeyID)
	}
	return text + ")"
}

// IsEncrypted says whether a stored value is encrypted at rest.
func IsEncrypted(value []byte) bool { return bytes.HasPrefix(value, []byte(encryptionMark)) }

// encrypted returns what an encrypted value says of its key, nil for others.
func encrypted(value []byte) *EncryptedError {
	rest, ok := bytes.CutPrefix(value, []byte(encryptionMark))
	if !ok {
		return nil
	}
	head := string(rest[:min(len(rest), maxKeyName)])
	e := &EncryptedError{}
	parts := strings.SplitN(head, ":", 4)
	switch {
	case len(parts) == 4:
		e.KeyName = parts[2]
		fallthrough
	case len(parts) == 3:
		e.Provider, e.Version = parts[0], parts[1]
	}
	if e.Provider == providerKMS && len(parts) == 4 {
		e.KMS = parseKMS(e.Version, rest[len(head)-len(parts[3]):])
	}
	return e
}

// sealed is what follows provider and version in an encrypted value: key name,
// colon, payload.
func (e *EncryptedError) sealed(value []byte) []byte {
	return value[min(len(value), len(encryptionMark)+len(e.Provider)+len(e.Version)+2):]
}
