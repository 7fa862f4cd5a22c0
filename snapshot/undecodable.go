package snapshot

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
)

// checkEvery is how many revisions are read between two looks at the context.
const checkEvery = 1024

// Undecodable yields, in order, the index of every revision whose value Object
// cannot decode, and its error. Deletions are none of them, nor are values under
// keys of no object, unless they are encrypted at rest or protobuf of
// Kubernetes. The sequence ends early if ctx ends: the caller looks at ctx.Err.
func (h *History) Undecodable(ctx context.Context) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range h.revisions {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return
			}
			if err := h.undecodable(i); err != nil && !yield(i, err) {
				return
			}
		}
	}
}

// undecodable is the error of Undecodable, nil for a revision that is not of it.
func (h *History) undecodable(i int) error {
	if h.revisions[i].tombstone() {
		return nil
	}
	_, err := h.Object(i)
	var wrong *DecodeError
	if errors.As(err, &wrong) && wrong.Encoding != "protobuf" {
		if _, ok := h.Resource(h.keyAt(i)); !ok {
			return nil
		}
	}
	return err
}

// UndecodableCount counts the undecodable values of one resource and reason.
type UndecodableCount struct {
	// Resource is the name that KeysOf takes, "" for keys of no object.
	Resource string `json:"resource"`
	// Reason is the text of the error that Object returns, or "cannot be read"
	// for one of Value.
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// First is the lowest main revision, Key its etcd key.
	First int64  `json:"firstRevision"`
	Key   string `json:"key"`
}

// UndecodableCounts counts what Undecodable yields, sorted by resource and
// reason. An error means that ctx ended.
func (h *History) UndecodableCounts(ctx context.Context) ([]UndecodableCount, error) {
	type group struct{ resource, reason string }
	counts := map[group]*UndecodableCount{}
	for i, err := range h.Undecodable(ctx) {
		r := h.At(i)
		g := group{h.resourceName(r.Key), undecodableReason(err)}
		if counts[g] == nil {
			counts[g] = &UndecodableCount{Resource: g.resource, Reason: g.reason, First: r.Main, Key: r.Key}
		}
		counts[g].Count++
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var list []UndecodableCount
	for _, c := range counts {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b UndecodableCount) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Reason, b.Reason))
	})
	return list, nil
}

// undecodableReason is UndecodableCount.Reason.
func undecodableReason(err error) string {
	var wrong *DecodeError
	var sealed *EncryptedError
	if errors.As(err, &wrong) || errors.As(err, &sealed) {
		return err.Error()
	}
	return "cannot be read"
}

// resourceName is the name that KeysOf takes for the resource of a key, or "".
func (h *History) resourceName(key string) string {
	if r, ok := h.Resource(key); ok {
		return r.String()
	}
	return ""
}
