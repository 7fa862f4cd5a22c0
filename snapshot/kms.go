package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// KMSEnvelope is what a value that was encrypted through a KMS plugin says in
// clear. The data is encrypted with a key (DEK) that the value carries encrypted
// by the KMS: without the KMS it cannot be read.
type KMSEnvelope struct {
	// KeyID names the KMS's own key as the plugin does; only v2 stores it.
	KeyID string
	// DEK tells data keys apart: the first 16 hexadecimal digits of the SHA-256
	// of the encrypted one. With v2 an API server uses one from its start until
	// the KMS's key changes, so values with the same DEK are of one API server's
	// run.
	DEK string
	// Derived is true if the DEK is a seed from which every value's key is
	// derived (v2 from Kubernetes 1.29 on).
	Derived bool
	// Sequence counts the encryptions with the DEK, from 1; 0 if the value does
	// not tell (v1, and derived keys).
	Sequence uint64
	// Annotations are the names of what the plugin stored along, sorted.
	Annotations []string
	// Size is the length of the encrypted data in bytes.
	Size int
}

// Field numbers of the v2 envelope (apiserver v0.37
// pkg/storage/value/encrypt/envelope/kmsv2/v2/api.proto).
const (
	fieldKMSData        = 1
	fieldKMSKeyID       = 2
	fieldKMSDEK         = 3
	fieldKMSAnnotations = 4
	fieldKMSDEKType     = 5
)

// Of a nonce the first four bytes are random, the others a little-endian counter
// that starts here (apiserver v0.37 pkg/storage/value/encrypt/aes/aes.go).
const (
	nonceLen     = 12
	nonceCounter = 4
	nonceStart   = 1_000_000_000
)

// parseKMS reads an envelope; nil if it is damaged or of an unknown version.
func parseKMS(version string, b []byte) *KMSEnvelope {
	switch version {
	case "v1":
		return parseKMSv1(b)
	case "v2":
		return parseKMSv2(b)
	}
	return nil
}

// parseKMSv1 reads two bytes length, the encrypted DEK, and the data.
func parseKMSv1(b []byte) *KMSEnvelope {
	if len(b) < 2 {
		return nil
	}
	n := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; n == 0 || len(b) < n {
		return nil
	}
	return &KMSEnvelope{DEK: dekName(b[:n]), Size: len(b) - n}
}

// parseKMSv2 reads an EncryptedObject.
func parseKMSv2(b []byte) *KMSEnvelope {
	var k KMSEnvelope
	var data, dek []byte
	annotations := map[string]bool{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return nil
		}
		field := b[n : n+size]
		b = b[n+size:]
		if kind == protowire.VarintType && number == fieldKMSDEKType {
			v, _ := protowire.ConsumeVarint(field)
			k.Derived = v == 1
		}
		if kind != protowire.BytesType {
			continue
		}
		content, _ := protowire.ConsumeBytes(field)
		switch number {
		case fieldKMSData:
			data = content
		case fieldKMSKeyID:
			k.KeyID = string(content)
		case fieldKMSDEK:
			dek = content
		case fieldKMSAnnotations:
			annotations[mapKey(content)] = true
		}
	}
	if len(data) == 0 || len(dek) == 0 {
		return nil
	}
	k.DEK, k.Size = dekName(dek), len(data)
	k.Annotations = slices.Sorted(maps.Keys(annotations))
	if !k.Derived {
		k.Sequence = sequence(data)
	}
	return &k
}

// mapKey is the key of a map entry, field 1; "" if there is none.
func mapKey(entry []byte) string {
	number, kind, n := protowire.ConsumeTag(entry)
	if n < 0 || number != 1 || kind != protowire.BytesType {
		return ""
	}
	key, n := protowire.ConsumeBytes(entry[n:])
	if n < 0 {
		return ""
	}
	return string(key)
}

// dekName is KMSEnvelope.DEK.
func dekName(encrypted []byte) string {
	sum := sha256.Sum256(encrypted)
	return hex.EncodeToString(sum[:8])
}

// sequence reads the counter of a nonce; 0 if it is none.
func sequence(data []byte) uint64 {
	if len(data) < nonceLen {
		return 0
	}
	n := binary.LittleEndian.Uint64(data[nonceCounter:nonceLen])
	if n <= nonceStart || n-nonceStart > 1<<48 {
		return 0
	}
	return n - nonceStart
}
