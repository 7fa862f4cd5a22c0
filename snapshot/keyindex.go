package snapshot

import (
	"cmp"
	"slices"
	"strings"
)

// keyIndex finds revisions by key.
type keyIndex struct {
	keys []string // sorted
	// order has the indexes of all revisions, those of key n from starts[n] on,
	// ascending.
	starts, order []uint32
	resources     map[string][]keyRange // by the names that KeysOf takes
}

// keyRange are the keys from one number up to, not including, another.
type keyRange struct{ from, to int }

// of returns the indexes of the revisions of key n.
func (x *keyIndex) of(n int) []uint32 { return x.order[x.starts[n]:x.starts[n+1]] }

// index fills in what is looked up by key, and renumbers the keys of the
// revisions in the order of the keys.
func (h *History) index() {
	counts := make([]uint32, len(h.table.names))
	for i := range h.revisions {
		counts[h.revisions[i].key]++
	}
	ranks := h.sortKeys(counts)
	h.order = make([]uint32, len(h.revisions))
	next := slices.Clone(h.starts)
	for i := range h.revisions {
		r := &h.revisions[i]
		r.key = ranks[r.key]
		h.order[next[r.key]] = uint32(i)
		next[r.key]++
	}
	h.prefixes = detectPrefixes(h.keys)
	h.classify()
}

// sortKeys takes over the keys that have revisions, and returns the place of each
// by its number in the table.
func (h *History) sortKeys(counts []uint32) (ranks []uint32) {
	names := h.table.names
	h.table, h.hashes = nil, nil
	used := make([]uint32, 0, len(names))
	for n, count := range counts {
		if count > 0 {
			used = append(used, uint32(n))
		}
	}
	slices.SortFunc(used, func(a, b uint32) int { return cmp.Compare(names[a], names[b]) })
	ranks = make([]uint32, len(names))
	h.keys, h.starts = make([]string, len(used)), make([]uint32, len(used)+1)
	for rank, n := range used {
		ranks[n] = uint32(rank)
		h.keys[rank] = names[n]
		h.starts[rank+1] = h.starts[rank] + counts[n]
	}
	return ranks
}

// classify finds the keys of each resource. Neighbours that differ only in their
// last segment are of one resource.
func (h *History) classify() {
	h.resources = map[string][]keyRange{}
	folder, resource := "", ""
	for n, key := range h.keys {
		slash := strings.LastIndexByte(key, '/') + 1
		if same := slash > 0 && slash < len(key) && key[:slash] == folder; !same {
			folder, resource = key[:slash], h.resourceName(key)
		}
		if resource == "" {
			folder = ""
			continue
		}
		list := h.resources[resource]
		if last := len(list) - 1; last >= 0 && list[last].to == n {
			list[last].to++
			continue
		}
		h.resources[resource] = append(list, keyRange{n, n + 1})
	}
}
