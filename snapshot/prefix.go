package snapshot

import (
	"maps"
	"slices"
	"strings"
)

// Resource tells which object is stored under one of the history's keys. It is
// ParseKey, which knows the usual prefixes; and below a prefix that all keys
// together show to be one (Prefixes) it takes every resource, as it does below
// /registry.
func (h *History) Resource(key string) (r Resource, ok bool) {
	for _, p := range h.prefixes {
		if rest, found := strings.CutPrefix(key, p); found {
			return parsePath(strings.Split(rest, "/"))
		}
	}
	return ParseKey(key)
}

// Prefixes returns the roots of the keys that store objects ("/registry/"),
// sorted: an API server's --etcd-prefix, one for each that shares the store.
func (h *History) Prefixes() []string {
	roots := slices.Clone(h.prefixes)
	for _, p := range knownPrefixes {
		i, _ := slices.BinarySearch(h.keys, p)
		if i < len(h.keys) && strings.HasPrefix(h.keys[i], p) {
			roots = append(roots, p)
		}
	}
	slices.Sort(roots)
	return roots
}

// telltale are resources that every cluster has and that nothing else names so.
var telltale = map[string]bool{"minions": true, "namespaces": true, "masterleases": true, "clusterroles": true}

// detectPrefixes finds the prefixes that are not well known: those with keys of
// a telltale resource, or of several built-in ones, directly below them. The
// root itself needs more of both. Longer ones come first.
func detectPrefixes(keys []string) []string {
	seen := map[string]map[string]bool{} // prefix to first segments
	folder := ""
	for _, k := range keys {
		slash := strings.LastIndexByte(k, '/') + 1
		if slash > 0 && k[:slash] == folder {
			continue // it says what its neighbour said
		}
		folder = k[:slash]
		if prefix, segment := builtinAt(k); segment != "" {
			if seen[prefix] == nil {
				seen[prefix] = map[string]bool{}
			}
			seen[prefix][segment] = true
		}
	}
	var found []string
	for _, p := range slices.Sorted(maps.Keys(seen)) {
		told := 0
		for segment := range seen[p] {
			if telltale[segment] {
				told++
			}
		}
		if many := len(seen[p]); p == "/" && told > 1 && many > 3 || p != "/" && told+many > 1 {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return len(b) - len(a) })
	return found
}

// builtinAt splits a key where a built-in resource begins, if it is not an object
// below a well-known prefix; segment is "" if there is none.
func builtinAt(key string) (prefix, segment string) {
	first := 0
	for _, p := range knownPrefixes {
		if strings.HasPrefix(key, p) {
			if _, ok := ParseKey(key); ok {
				return "", ""
			}
			first = 2
		}
	}
	if !strings.HasPrefix(key, "/") {
		return "", ""
	}
	path := strings.Split(key[1:], "/")
	for i := first; i < len(path); i++ {
		if r, ok := parsePath(path[i:]); ok && r.Group == "" && r.likely(i) {
			return key[:len(key)-len(strings.Join(path[i:], "/"))], path[i]
		}
	}
	return "", ""
}
