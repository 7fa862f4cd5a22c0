package snapshot

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
)

// matches says whether the rule is for a resource. Rules name resources as
// plural ("secrets", the core group), plural.group, *.group, *. (the core group)
// or *.* (all) (apiserver v0.37 pkg/apis/apiserver/types_encryption.go).
func (rule keyRule) matches(r Resource) bool {
	groups := []string{r.Group}
	if known := builtinGroups()[r.Resource]; r.Group == "" && len(known) > 0 {
		groups = known
	}
	for _, name := range rule.resources {
		plural, group, _ := strings.Cut(name, ".")
		switch {
		case plural != "*" && plural != r.Resource:
		case slices.Contains(groups, group), plural == "*" && group == "*":
			return true
		}
	}
	return false
}

// builtinGroups has the groups of the built-in resources, which keys do not
// name; a resource that moved from one to another has both.
var builtinGroups = sync.OnceValue(func() map[string][]string {
	groups := map[string][]string{}
	for kind := range scheme.Scheme.AllKnownTypes() {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		groups[plural.Resource] = append(groups[plural.Resource], kind.Group)
	}
	return groups
})
