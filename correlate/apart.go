package correlate

import (
	"context"
	"iter"

	"etcd-autopsy/correlate/revclock"
	"etcd-autopsy/snapshot"
)

// ownStores are the stores of the cluster, with their indexes in hist.Stores():
// all but those of another etcd. Of a contradicting store it is not known whose
// word is right, so it is among them.
func (c *Case) ownStores() iter.Seq2[int, snapshot.Store] {
	return func(yield func(int, snapshot.Store) bool) {
		for k, s := range c.hist.Stores() {
			if !s.Foreign && !yield(k, s) {
				return
			}
		}
	}
}

// foreignNotes tell the alarms of other etcds among the inputs. That nothing else
// of them is used is among the problems of each.
func (c *Case) foreignNotes(add func(string, ...any)) {
	for _, s := range c.hist.Stores() {
		if !s.Foreign {
			continue
		}
		for _, a := range s.Alarms {
			add("%s holds the alarm %s of member %s, which is no member of the cluster that is looked at", join(s.Input, s.Path), a.Kind, a.MemberID)
		}
	}
}

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
