package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// contents checks what the store holds.
func (c *checking) contents(ctx context.Context, f File, opts Options) {
	h, err := Load(ctx, []File{f}, opts)
	if err != nil {
		c.add("revisions", CheckUnknown, "", "%s", err)
		return
	}
	defer func() { _ = h.Close() }()
	s := h.stores[0]
	if h.Len() == 0 && s.db == nil {
		c.add("revisions", CheckUnknown, "", "nothing can be read: %s", strings.Join(s.info.Problems, "; "))
		return
	}
	c.revisions(h)
	c.stale(h)
	c.values(ctx, h)
	c.raft(s)
}

// revisions checks the records of the tree against each other.
func (c *checking) revisions(h *History) {
	s := h.stores[0]
	faults := 0
	for kind, o := range s.odd {
		if o.count > 0 && kind != noKey && kind != badValue {
			faults++
			c.add("revisions", CheckFault, o.first, oddSentences[kind], o.count, o.first)
		}
	}
	above, _ := s.coverage()
	count, first := 0, -1
	for key := range h.keys {
		last := -1
		for _, n := range h.of(key) {
			i := int(n)
			if h.revisions[i].isCarved() {
				continue
			}
			if !h.follows(last, i, above) {
				if count++; first < 0 || i < first {
					first = i
				}
			}
			last = i
		}
	}
	gaps, gap := h.gaps(above)
	if gaps > 0 {
		faults++
		c.add("revisions", CheckFault, fmt.Sprintf("revision %d", gap), "%d revisions above %d do not exist, but every revision changes something (the first is %d)", gaps, above, gap)
	}
	switch {
	case count > 0:
		r := h.At(first)
		c.add("revisions", CheckFault, "revision "+revisionName(r.Main, r.Sub),
			"%d revisions do not continue the one before them of their key: create_revision or version is wrong, or one between is missing (the first is of key %q)", count, r.Key)
	case faults > 0:
	case s.partial || len(s.info.Lost) > 0:
		c.add("revisions", CheckUnknown, "", "%d records fit each other, but not all can be read", s.info.Records)
	default:
		c.add("revisions", CheckOK, "", "%d records from revision %d to %d fit each other; complete above %d", s.info.Records, s.info.First, s.info.Last, above)
	}
}

// gaps counts the revisions of the tree that do not exist above one from which
// on they should, and returns the first.
func (h *History) gaps(above int64) (count, first int64) {
	next := max(above+1, 2)
	for i := h.after(above); i < len(h.revisions); i++ {
		r := &h.revisions[i]
		if r.isCarved() || r.main < next {
			continue
		}
		if r.main > next && first == 0 {
			first = next
		}
		count += r.main - next
		next = r.main + 1
	}
	return count, first
}

// follows says whether revision i can come next after revision last of its key,
// -1 for none; above a revision nothing may be missing between them.
func (h *History) follows(last, i int, above int64) bool {
	r := &h.revisions[i]
	if !r.tombstone() && (r.create > r.main || r.version < 1 || r.version > r.main-r.create+1) {
		return false
	}
	if last < 0 {
		return r.main <= above || r.create <= above && !r.tombstone() && r.create != 0 || r.version == 1 && r.create == r.main
	}
	before := &h.revisions[last]
	switch {
	case !fits(before, r):
		return false
	case r.main <= above:
		return true
	case r.tombstone():
		return !before.tombstone()
	case before.tombstone():
		return r.version == 1 && r.create == r.main
	}
	return before.create == r.create && r.version == before.version+1
}

// stale checks the records that lie outside the tree.
func (c *checking) stale(h *History) {
	s := h.stores[0]
	for n, x := range h.contradictions {
		if n == maxFaults {
			c.add("stale pages", CheckFault, "", "%d more records differ", len(h.contradictions)-maxFaults)
			break
		}
		other := fmt.Sprintf("the one at offset %d", x.OtherOffset)
		if x.Reachable {
			other = "the one in the tree"
		}
		c.add("stale pages", CheckFault, fmt.Sprintf("revision %s, offset %d", revisionName(x.Main, x.Sub), x.Offset),
			"a copy of a record of key %q differs from %s", x.Key, other)
	}
	if len(h.contradictions) == 0 {
		c.add("stale pages", CheckOK, "", "%d records outside the tree contradict nothing", s.info.Carved)
	}
}

// values checks that the stored objects decode.
func (c *checking) values(ctx context.Context, h *History) {
	s := h.stores[0]
	if o := s.odd[badValue]; o.count > 0 {
		c.add("values", CheckFault, "revision "+o.first, oddSentences[badValue], o.count, o.first)
	}
	decoded, sealed, bad := 0, 0, 0
	first, why := -1, error(nil)
	for i := range h.revisions {
		if i%256 == 0 && ctx.Err() != nil {
			c.add("values", CheckUnknown, "", "%s", ctx.Err())
			return
		}
		if _, ok := h.Resource(h.keyAt(i)); h.revisions[i].tombstone() || !ok {
			continue
		}
		_, err := h.Object(i)
		_, locked := errors.AsType[*EncryptedError](err)
		switch {
		case err == nil:
			decoded++
		case locked:
			sealed++
		default:
			if bad++; first < 0 {
				first, why = i, err
			}
		}
	}
	switch {
	case bad > 0:
		r := h.At(first)
		c.add("values", CheckFault, "revision "+revisionName(r.Main, r.Sub), "%d objects decode, %d do not (the first is %q: %s), %d are encrypted", decoded, bad, r.Key, why, sealed)
	case sealed > 0:
		c.add("values", CheckUnknown, "", "%d objects decode, %d are encrypted and their keys are not known", decoded, sealed)
	case s.odd[badValue].count == 0:
		c.add("values", CheckOK, "", "%d objects decode", decoded)
	}
}

// raft checks that the store says how far its raft log was applied.
func (c *checking) raft(s *store) {
	i := &s.info
	switch {
	case i.ConsistentIndex == 0 && i.Salvaged != "":
		c.add("raft position", CheckUnknown, "", "the bucket meta cannot be read")
	case i.ConsistentIndex == 0:
		c.add("raft position", CheckFault, "", "no consistent_index: etcd would apply its whole raft log again")
	case i.Term == 0 && i.Schema != "3.4":
		c.add("raft position", CheckFault, "", "consistent_index %d without a term", i.ConsistentIndex)
	case s.restored():
		c.add("raft position", CheckOK, "", "index %d, term %d: fewer entries than its %d revisions take, so it was restored from a snapshot", i.ConsistentIndex, i.Term, i.Last)
	default:
		c.add("raft position", CheckOK, "", "index %d, term %d", i.ConsistentIndex, i.Term)
	}
}
