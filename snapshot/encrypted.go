package snapshot

import (
	"bytes"
	"strings"
)

// encryptionMark begins every value that is encrypted at rest; provider, version
// and key name follow, each ended by a colon (apiserver
// pkg/server/options/encryptionconfig).
const encryptionMark = "k8s:enc:"

// maxKeyName is the most bytes to look at for the name of a key.
const maxKeyName = 512

// encrypted returns what an encrypted value says of its key, nil for others. A
// key name with a colon in it is cut there: only the configuration knows better.
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
	return e
}
