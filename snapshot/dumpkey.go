package snapshot

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"

	"etcd-autopsy/snapshot/dump"
)

// dumpKey is the key that an object is stored under, below the usual prefix: the
// reverse of ParseKey. The plural of a custom resource is guessed from its kind,
// as apimachinery does.
func dumpKey(x dump.Item) string {
	group, versionName, ok := strings.Cut(x.APIVersion, "/")
	if !ok {
		group, versionName = "", x.APIVersion
	}
	guess, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Version: versionName, Kind: x.Kind})
	path := []string{guess.Resource}
	switch {
	case !slices.Contains(builtinGroups()[guess.Resource], group):
		path = []string{group, guess.Resource}
	case segments()[guess.Resource] != "":
		path = []string{segments()[guess.Resource]}
	}
	if x.Namespace != "" {
		path = append(path, x.Namespace)
	}
	return knownPrefixes[0] + strings.Join(append(path, x.Name), "/")
}

// segments are the first parts of the keys of resources whose keys do not begin
// with their plural.
var segments = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for segment, plural := range renamed {
		out[plural] = segment
	}
	for segment, plural := range nested["services"] {
		out[plural] = "services/" + segment
	}
	return out
})

// builtinKind is the kind of a built-in resource, in its most stable version; ""
// for another resource.
func builtinKind(resource string) (apiVersion, kind string) {
	x := builtinKinds()[resource]
	if x.Kind == "" {
		return "", ""
	}
	return x.GroupVersion().String(), x.Kind
}

var builtinKinds = sync.OnceValue(func() map[string]schema.GroupVersionKind {
	out := map[string]schema.GroupVersionKind{}
	for kind := range scheme.Scheme.AllKnownTypes() {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		if _, ok := builtin[plural.Resource]; !ok {
			continue
		}
		if old, ok := out[plural.Resource]; !ok || moreStable(kind, old) {
			out[plural.Resource] = kind
		}
	}
	return out
})

// moreStable prefers the older group name ("" to events.k8s.io), but not the
// retired one, and the newer version.
func moreStable(a, b schema.GroupVersionKind) bool {
	if a.Group != b.Group {
		if retired := "extensions"; a.Group == retired || b.Group == retired {
			return b.Group == retired
		}
		return a.Group < b.Group
	}
	return version.CompareKubeAwareVersionStrings(a.Version, b.Version) > 0
}
