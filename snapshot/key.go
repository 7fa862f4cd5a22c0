package snapshot

import "strings"

// String is the name that KeysOf takes: the plural, and the group if the key
// has one ("pods", "certificates.cert-manager.io").
func (r Resource) String() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// knownPrefixes are the roots that API servers use unless --etcd-prefix says
// otherwise: Kubernetes, OpenShift's kube-apiserver, OpenShift's own servers.
var knownPrefixes = []string{"/registry/", "/kubernetes.io/", "/openshift.io/"}

// ParseKey tells which object is stored under an etcd key. Below the well-known
// prefixes every resource is taken; below another prefix only those that
// Kubernetes itself has, and custom resources directly below it (History.Resource
// knows more of a store's own prefixes). ok is false for keys of no object
// (compact_rev_key, /registry/health) and foreign keys. The layout is that of
// kubernetes v1.34 pkg/kubeapiserver and apiserver's storage_factory.go.
func ParseKey(key string) (r Resource, ok bool) {
	for _, p := range knownPrefixes {
		if rest, found := strings.CutPrefix(key, p); found {
			return parsePath(strings.Split(rest, "/"))
		}
	}
	if !strings.HasPrefix(key, "/") {
		return Resource{}, false
	}
	path := strings.Split(key[1:], "/")
	for i := 1; i < len(path); i++ {
		if r, ok := parsePath(path[i:]); ok && r.likely(i) {
			return r, true
		}
	}
	return Resource{}, false
}

// likely says whether a resource found after depth unknown segments is one.
func (r Resource) likely(depth int) bool {
	if r.Group != "" {
		return depth == 1 && isLetters(r.Resource)
	}
	namespaced, known := builtin[r.Resource]
	return known && namespaced == (r.Namespace != "")
}

// parsePath parses what follows the prefix: resource, namespace if it has one,
// and name.
func parsePath(path []string) (r Resource, ok bool) {
	if len(path) < 2 {
		return r, false
	}
	first, rest := path[0], path[1:]
	switch {
	case nested[first] != nil && nested[first][rest[0]] != "":
		r.Resource, rest = nested[first][rest[0]], rest[1:]
	case strings.Contains(first, "."):
		r.Group, r.Resource, rest = first, rest[0], rest[1:]
	case renamed[first] != "":
		r.Resource = renamed[first]
	default:
		r.Resource = first
	}
	switch len(rest) {
	case 1:
		r.Name = rest[0]
	case 2:
		r.Namespace, r.Name = rest[0], rest[1]
		ok = r.Namespace != ""
	}
	ok = r.Resource != "" && r.Name != "" && (len(rest) == 1 || ok)
	if !ok {
		return Resource{}, false
	}
	return r, true
}

// isLetters is true for what a plural can be.
func isLetters(s string) bool {
	for _, c := range s {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}

// renamed has the resources whose key segment is not their plural.
var renamed = map[string]string{
	"minions":           "nodes",
	"controllers":       "replicationcontrollers",
	"ingress":           "ingresses",
	"podsecuritypolicy": "podsecuritypolicies",
	"useridentities":    "identities",
}

// nested has the resources that share a first segment.
var nested = map[string]map[string]string{
	"services": {
		"specs":     "services",
		"endpoints": "endpoints",
	},
	"oauth": {
		"clients":              "oauthclients",
		"accesstokens":         "oauthaccesstokens",
		"authorizetokens":      "oauthauthorizetokens",
		"clientauthorizations": "oauthclientauthorizations",
	},
	"registry": { // OpenShift's network before its resources were custom ones
		"sdnnetworks":         "clusternetworks",
		"sdnsubnets":          "hostsubnets",
		"sdnnetnamespaces":    "netnamespaces",
		"egressnetworkpolicy": "egressnetworkpolicies",
	},
}
