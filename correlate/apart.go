package correlate

import (
	"context"

	"etcd-autopsy/correlate/revclock"
	"etcd-autopsy/snapshot"
)

// readApart reads each store that is not of the history by itself, for its own
// clock: the same revision has another time there.
func (c *Case) readApart(ctx context.Context) error {
	c.apart = map[int]*revclock.Clock{}
	for k, s := range c.hist.Stores() {
		if s.Rejected == "" {
			continue
		}
		f := c.set.Files[c.stores[k]]
		h, err := snapshot.Load(ctx, []snapshot.File{{Input: f.Input, Path: f.Path, OSPath: f.OSPath}}, c.storeOptions())
		if err != nil {
			return err
		}
		clock, err := revclock.New(ctx, h, nil)
		if err != nil {
			_ = h.Close() // only read from, and the first error counts
			return err
		}
		if err := h.Close(); err != nil {
			c.problem(c.stores[k], "close: "+plainError(err))
		}
		c.apart[k] = clock
	}
	return nil
}

// storeClock is the clock by which the revisions of store k are dated.
func (c *Case) storeClock(k int) *revclock.Clock {
	if own := c.apart[k]; own != nil {
		return own
	}
	return c.clock
}

// storeLabel is what sentences call store k: the member whose database it is where
// that is known, else its file.
func (c *Case) storeLabel(k int) string {
	in := &c.inputs[c.stores[k]]
	if in.Member != "" {
		return in.Member
	}
	return join(in.Label, in.Path)
}

// storeLabels are the names of several stores, each once.
func (c *Case) storeLabels(stores []int) []string {
	var out []string
	seen := map[string]bool{}
	for _, k := range stores {
		if l := c.storeLabel(k); !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return out
}

// ownersOf are the IDs of the members whose databases some stores are, sorted.
func (c *Case) ownersOf(stores []int, m *members) []string {
	owners := map[string]bool{}
	for _, k := range stores {
		name := c.inputs[c.stores[k]].Member
		for _, id := range m.ids {
			if name != "" && m.names[id] == name {
				owners[id] = true
			}
		}
	}
	return sortedKeys(owners)
}
