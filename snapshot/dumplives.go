package snapshot

import "k8s.io/apimachinery/pkg/api/meta"

// bindDumps gives the revisions that only dumps have the lifetime that they are
// of: a dump says no create_revision, but its UID tells the lifetime. Of one that
// no store has, the lowest revision that is known of it stands for it.
func (h *History) bindDumps() {
	for key := range h.keys {
		indexes := h.of(key)
		var creates map[string]int64
		for _, i := range indexes {
			if h.onlyDumped(int(i)) {
				creates = h.lifetimes(indexes)
				break
			}
		}
		for _, i := range indexes {
			if r := &h.revisions[i]; creates != nil && h.onlyDumped(int(i)) {
				r.create = creates[h.uidAt(int(i))]
			}
		}
	}
}

// onlyDumped is true for a revision that nothing but dumps has.
func (h *History) onlyDumped(i int) bool {
	r := &h.revisions[i]
	return r.isDumped() && !r.isReplayed() && len(h.sets[r.set()]) == 0
}

// lifetimes are the create_revisions of the lifetimes of one key, by UID.
func (h *History) lifetimes(indexes []uint32) map[string]int64 {
	out, told := map[string]int64{}, map[string]bool{}
	for _, i := range indexes {
		r := &h.revisions[i]
		if r.tombstone() {
			continue
		}
		uid := h.uidAt(int(i))
		switch only := h.onlyDumped(int(i)); {
		case !only && r.create > 0 && !told[uid]:
			out[uid], told[uid] = r.create, true
		case only && out[uid] == 0:
			out[uid] = r.main
		}
	}
	return out
}

// uidAt is the UID of the object at revision i, "" if it cannot be read.
func (h *History) uidAt(i int) string {
	if p, ok := h.dumpPlace(i); ok {
		return h.item(p).uid
	}
	o, err := h.Object(i)
	if err != nil {
		return ""
	}
	x, err := meta.Accessor(o)
	if err != nil {
		return ""
	}
	return string(x.GetUID())
}
