package source

import (
	"path/filepath"
	"strings"
)

// owners lists the inputs that something was found for, in order.
func owners(found []entry) []*input {
	var list []*input
	seen := map[*input]bool{}
	for _, e := range found {
		if !seen[e.owner] {
			seen[e.owner] = true
			list = append(list, e.owner)
		}
	}
	return list
}

// label names each input after the last element of its path. Where names are
// equal, all of them get one more parent folder, until no two are.
func label(inputs []*input) map[*input]string {
	parts := map[*input][]string{}
	length := map[*input]int{}
	for _, n := range inputs {
		parts[n], length[n] = elements(n), 1
	}
	name := func(n *input) string {
		p := parts[n]
		return strings.Join(p[len(p)-length[n]:], "/")
	}
	for {
		count := map[string]int{}
		for _, n := range inputs {
			count[name(n)]++
		}
		var longer []*input
		for _, n := range inputs {
			if count[name(n)] > 1 && length[n] < len(parts[n]) {
				longer = append(longer, n)
			}
		}
		if len(longer) == 0 {
			break
		}
		for _, n := range longer {
			length[n]++
		}
	}
	labels := map[*input]string{}
	for _, n := range inputs {
		labels[n] = name(n)
	}
	return labels
}

// elements splits an input's path; there is at least one.
func elements(n *input) []string {
	if n.stdin {
		return []string{StdinLabel}
	}
	p := strings.Trim(filepath.ToSlash(n.path), "/")
	if p == "" {
		return []string{"/"}
	}
	return strings.Split(p, "/")
}
