package snapshot

// Plain reads the value that revision i stored as an API server sees it:
// decrypted with the Keys of the Options if it is encrypted at rest. (Value
// returns the bytes that are stored.) It is the caller's own, and nil for a
// tombstone. Errors are those of Value and of Keys.Decrypt.
func (h *History) Plain(i int) ([]byte, error) {
	value, err := h.Value(i)
	if err != nil {
		return nil, err
	}
	return h.secrets.Decrypt(h.keyAt(i), value)
}
