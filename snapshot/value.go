package snapshot

import (
	"errors"
	"fmt"
)

// Value reads the value that revision i stored: a copy, the caller's own. It is
// nil for a tombstone. The store is asked anew at each call; if it changed since
// Load, or can no longer be read, the next store that has the revision is asked.
func (h *History) Value(i int) ([]byte, error) {
	r := h.At(i)
	if r.Tombstone {
		return nil, nil
	}
	var errs []error
	for _, n := range r.Stores {
		s := h.stores[n]
		value, err := s.value(r.Main, r.Sub)
		if err == nil {
			return value, nil
		}
		errs = append(errs, fmt.Errorf("read revision %s of %s: %w", revisionName(r.Main, r.Sub), s.name(), err))
	}
	return nil, errors.Join(errs...)
}
