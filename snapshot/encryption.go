package snapshot

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// EncryptionCount counts the values of one resource that are encrypted with one
// key, or stored in clear.
type EncryptionCount struct {
	// Resource is the name that KeysOf takes, "" for keys of no object.
	Resource string `json:"resource"`
	// Provider, Version and KeyName are those of EncryptedError, KeyID that of
	// its KMS envelope; all are "" for values in clear.
	Provider string `json:"provider,omitempty"`
	Version  string `json:"version,omitempty"`
	KeyName  string `json:"key,omitempty"`
	KeyID    string `json:"keyID,omitempty"`
	// Values is how many revisions there are, First and Last their lowest and
	// highest main revision.
	Values int   `json:"values"`
	First  int64 `json:"firstRevision"`
	Last   int64 `json:"lastRevision"`
	// Live is how many of them are the newest value of a key that exists: what
	// an API server reads today.
	Live int `json:"live"`
	// Unreadable is how many the Keys of the Options do not decrypt, Failed and
	// FailedRevision the first of them and Reason why.
	Unreadable     int    `json:"unreadable,omitempty"`
	Failed         string `json:"failed,omitempty"`
	FailedRevision int64  `json:"failedRevision,omitempty"`
	Reason         string `json:"reason,omitempty"`
}

// Encryption counts the values by resource and key, in that order. Values in
// clear are counted for those resources of which others are encrypted, or which
// an API server with the Keys of the Options would encrypt: they are of the time
// before, or were never rewritten. An error means that ctx ended.
func (h *History) Encryption(ctx context.Context) ([]EncryptionCount, error) {
	counts := map[EncryptionCount]*EncryptionCount{} // by their first five fields
	encrypts := map[string]bool{}                    // resources
	for i := range h.revisions {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if h.revisions[i].tombstone() {
			continue
		}
		value, err := h.Value(i)
		if err != nil {
			continue // Undecodable has it
		}
		h.countEncryption(counts, encrypts, i, value)
	}
	var list []EncryptionCount
	for _, c := range counts {
		if c.Provider != "" || encrypts[c.Resource] {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b EncryptionCount) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.KeyName, b.KeyName), cmp.Compare(a.KeyID, b.KeyID))
	})
	return list, nil
}

// countEncryption counts the value of revision i.
func (h *History) countEncryption(counts map[EncryptionCount]*EncryptionCount, encrypts map[string]bool, i int, value []byte) {
	r := h.At(i)
	resource, object := h.Resource(r.Key)
	group := EncryptionCount{}
	if object {
		group.Resource = resource.String()
		if _, ok := h.secrets.writes(resource); ok {
			encrypts[group.Resource] = true
		}
	}
	e := encrypted(value)
	_, err := h.secrets.Decrypt(r.Key, value)
	if e != nil {
		errors.As(err, &e) // the name as the configuration has it
		group.Provider, group.Version, group.KeyName = e.Provider, e.Version, e.KeyName
		if e.KMS != nil {
			group.KeyID = e.KMS.KeyID
		}
		encrypts[group.Resource] = encrypts[group.Resource] || object
	}
	c := counts[group]
	if c == nil {
		c = &EncryptionCount{}
		*c = group
		c.First = r.Main
		counts[group] = c
	}
	c.add(h, i, err)
}

// add counts revision i, which did not decrypt if err is not nil.
func (c *EncryptionCount) add(h *History, i int, err error) {
	r := h.At(i)
	c.Values++
	c.Last = r.Main
	if all := h.of(int(h.revisions[i].key)); int(all[len(all)-1]) == i {
		c.Live++
	}
	if err == nil {
		return
	}
	if c.Unreadable == 0 {
		c.Failed, c.FailedRevision, c.Reason = r.Key, r.Main, err.Error()
	}
	c.Unreadable++
}
