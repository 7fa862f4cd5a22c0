package snapshot

import (
	"errors"
	"fmt"
	"slices"
)

// Value reads the value that revision i stored: a copy, the caller's own. It is
// nil for a tombstone. The store is asked anew at each call; if it changed since
// Load, or can no longer be read, the next store that has the revision is asked.
func (h *History) Value(i int) ([]byte, error) {
	r := h.At(i)
	if r.Tombstone {
		return nil, nil
	}
	if len(r.Stores) == 0 {
		return h.logged(i)
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

// logged reads the value of a revision that only a log has.
func (h *History) logged(i int) ([]byte, error) {
	r := &h.revisions[i]
	p, ok := h.placeOf(r.main, r.sub)
	if !ok {
		return h.dumped(i)
	}
	if p.offset < 0 {
		return h.kept(i)
	}
	l := h.logs[p.log]
	value, err := l.value(p)
	if err != nil {
		return nil, fmt.Errorf("read revision %s of %s: %w", r.name(), l.name(), err)
	}
	return value, nil
}

// kept reads the value of a put that kept the one which its key had: that of the
// last revision before it in the same lifetime that has one of its own.
func (h *History) kept(i int) ([]byte, error) {
	r := &h.revisions[i]
	all := h.of(int(r.key))
	n, _ := slices.BinarySearch(all, uint32(i))
	for version := r.version - 1; n > 0; version-- {
		n--
		before := &h.revisions[all[n]]
		if before.isCarved() || before.tombstone() || before.create != r.create || before.version != version {
			break
		}
		if p, ok := h.placeOf(before.main, before.sub); len(h.sets[before.set()]) > 0 || ok && p.offset >= 0 {
			return h.Value(int(all[n]))
		}
	}
	return nil, fmt.Errorf("read revision %s: the put kept a value that is not known", r.name())
}
