package snapshot

import (
	"fmt"
	"slices"
	"strings"
)

// Keys are the secrets of EncryptionConfigurations, to read what an API server
// encrypted with them. A nil *Keys has none. It may be used from any number of
// goroutines; no way of printing it shows a secret.
type Keys struct {
	rules []keyRule
}

// keyRule is one entry of a configuration: some resources and the providers for
// them, the first of which encrypts what is written.
type keyRule struct {
	resources []string
	providers []provider
}

// provider is one entry of a rule.
type provider struct {
	// name is that of EncryptedError.Provider, or "identity"; version is "v1",
	// for KMS "v1" or "v2".
	name, version string
	// plugin is the name of a KMS plugin.
	plugin string
	keys   []namedKey
}

// namedKey is one secret of a provider.
type namedKey struct {
	name string
	open opener
}

// String lists providers and key names, in the configuration's order.
func (k *Keys) String() string {
	var names []string
	add := func(provider, name string) {
		if s := fmt.Sprintf("%s %q", provider, name); !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	for p := range k.providers("") {
		if p.name == providerKMS {
			add(p.name+" "+p.version, p.plugin)
		}
		for _, n := range p.keys {
			add(p.name, n.name)
		}
	}
	if len(names) == 0 {
		return "no keys"
	}
	return strings.Join(names, ", ")
}

// GoString is String.
func (k *Keys) GoString() string { return k.String() }

// JoinKeys puts the keys of several configurations together: those of another
// API server, or of the time before a key was rotated. Of two rules for one
// resource the earlier one says what is written. It is nil if all are.
func JoinKeys(all ...*Keys) *Keys {
	var joined *Keys
	for _, k := range all {
		if k == nil {
			continue
		}
		if joined == nil {
			joined = &Keys{}
		}
		joined.rules = append(joined.rules, k.rules...)
	}
	return joined
}

// providers yields every provider: those of the rules for the object under an
// etcd key first, then all others, for a value may be older than the rules.
func (k *Keys) providers(key string) func(yield func(provider) bool) {
	return func(yield func(provider) bool) {
		if k == nil {
			return
		}
		r, ok := ParseKey(key)
		for _, own := range []bool{true, false} {
			for _, rule := range k.rules {
				if (ok && rule.matches(r)) != own {
					continue
				}
				for _, p := range rule.providers {
					if !yield(p) {
						return
					}
				}
			}
		}
	}
}

// writes returns the provider that an API server with these keys encrypts a
// resource with; ok is false if it stores the resource in clear.
func (k *Keys) writes(r Resource) (p provider, ok bool) {
	if k == nil || neverEncrypted[r.String()] {
		return p, false
	}
	for _, rule := range k.rules {
		if rule.matches(r) && len(rule.providers) > 0 {
			p = rule.providers[0]
			return p, p.name != providerIdentity
		}
	}
	return p, false
}

// neverEncrypted are the keys that kube-apiserver keeps for itself, past the
// storage of resources and its encryption (kubernetes v1.34
// pkg/controlplane/instance.go): in clear even under a rule for all resources.
var neverEncrypted = map[string]bool{"masterleases": true, "peerserverleases": true, "ranges": true}
