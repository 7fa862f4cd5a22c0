package snapshot

import "fmt"

// DecryptCause says why a value could not be decrypted though there was a
// configuration.
type DecryptCause int

const (
	// NoKey means that the configuration has no key of the provider and name.
	NoKey DecryptCause = iota + 1
	// WrongKey means that the keys of that name do not fit: they are other ones,
	// the value is damaged, or (aesgcm) it was written under another etcd key.
	WrongKey
	// DamagedPayload means that what follows the name is not of the provider's
	// form: cut, or for a KMS no envelope.
	DamagedPayload
	// NeedsKMS means that the key is in a key management service.
	NeedsKMS
)

func (c DecryptCause) String() string {
	switch c {
	case NoKey:
		return "no such key in the configuration"
	case WrongKey:
		return "the key of that name in the configuration does not fit"
	case DamagedPayload:
		return "damaged: not of the form that the provider writes"
	case NeedsKMS:
		return "the key is in the KMS, which is not asked"
	}
	return "unknown"
}

// DecryptError says that the keys at hand do not decrypt a value. Its text does
// not name the value, so that equal failures have equal texts.
type DecryptError struct {
	// Encrypted is what the value says; errors.As finds it too.
	Encrypted *EncryptedError
	// Key is the etcd key of the value.
	Key string
	// Cause is why; Tried is how many keys of the right name were tried.
	Cause DecryptCause
	Tried int
}

func (e *DecryptError) Error() string { return fmt.Sprintf("%v: %v", e.Encrypted, e.Cause) }

// Unwrap returns Encrypted.
func (e *DecryptError) Unwrap() error { return e.Encrypted }
