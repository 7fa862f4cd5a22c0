package snapshot

import (
	"strings"
	"testing"
)

func TestParseKey(t *testing.T) {
	tests := []struct {
		key  string
		want Resource // zero: not an object
	}{
		{"/registry/pods/default/web", Resource{"", "pods", "default", "web"}},
		{"/registry/minions/node-1", Resource{"", "nodes", "", "node-1"}},
		{"/registry/services/specs/default/web", Resource{"", "services", "default", "web"}},
		{"/registry/services/endpoints/default/web", Resource{"", "endpoints", "default", "web"}},
		{"/registry/controllers/default/old", Resource{"", "replicationcontrollers", "default", "old"}},
		{"/registry/ingress/default/web", Resource{"", "ingresses", "default", "web"}},
		{"/registry/podsecuritypolicy/restricted", Resource{"", "podsecuritypolicies", "", "restricted"}},
		{"/registry/leases/kube-node-lease/node-1", Resource{"", "leases", "kube-node-lease", "node-1"}},
		{"/registry/clusterroles/system:node", Resource{"", "clusterroles", "", "system:node"}},
		{"/registry/masterleases/10.0.0.1", Resource{"", "masterleases", "", "10.0.0.1"}},
		{"/registry/ranges/serviceips", Resource{"", "ranges", "", "serviceips"}},
		{"/registry/newkinds/default/x", Resource{"", "newkinds", "default", "x"}},
		{"/registry/cert-manager.io/certificates/default/web", Resource{"cert-manager.io", "certificates", "default", "web"}},
		{"/registry/apiextensions.k8s.io/customresourcedefinitions/a.b.c", Resource{"apiextensions.k8s.io", "customresourcedefinitions", "", "a.b.c"}},
		{"/kubernetes.io/pods/default/web", Resource{"", "pods", "default", "web"}},
		{"/openshift.io/images/sha256:00", Resource{"", "images", "", "sha256:00"}},
		{"/openshift.io/oauth/clients/console", Resource{"", "oauthclients", "", "console"}},
		{"/openshift.io/useridentities/x", Resource{"", "identities", "", "x"}},
		{"/mine/pods/default/web", Resource{"", "pods", "default", "web"}},
		{"/team/a/registry/minions/node-1", Resource{"", "nodes", "", "node-1"}},
		{"/mine/cert-manager.io/certificates/default/web", Resource{"cert-manager.io", "certificates", "default", "web"}},

		{"compact_rev_key", Resource{}},
		{"/registry/health", Resource{}},
		{"/registry", Resource{}},
		{"/registry/", Resource{}},
		{"/registry/pods", Resource{}},
		{"/registry/pods/", Resource{}},
		{"/registry/pods//web", Resource{}},
		{"/registry/pods/default/", Resource{}},
		{"/registry/pods/a/b/c", Resource{}},
		{"/registry/services/specs", Resource{}},
		{"/registry/a.io/things", Resource{}},
		{"/registry/a.io//x", Resource{}},
		{"/bootstrap/8a1f", Resource{}},
		{"/mine/pods/no-namespace", Resource{}},
		{"/mine/minions/too/many", Resource{}},
		{"/calico/v1/config/x", Resource{}},
		{"/cilium/state/identities/v1/id/1", Resource{}},
		{"registry/pods/default/web", Resource{}},
		{"", Resource{}},
		{"\x00\xff", Resource{}},
	}
	for _, tt := range tests {
		got, ok := ParseKey(tt.key)
		if got != tt.want || ok != (tt.want != Resource{}) {
			t.Errorf("ParseKey(%q) = %+v, %v", tt.key, got, ok)
		}
	}
}

func TestResourceString(t *testing.T) {
	for want, r := range map[string]Resource{
		"pods":                         {Resource: "pods"},
		"certificates.cert-manager.io": {Group: "cert-manager.io", Resource: "certificates"},
	} {
		if r.String() != want {
			t.Errorf("%+v is %q", r, r.String())
		}
	}
}

// FuzzParseKey wants a name in every result, and all of it to come from the key
// in its order.
func FuzzParseKey(f *testing.F) {
	for _, k := range []string{"/registry/pods/default/web", "/registry/services/specs/a/b", "/x/cert-manager.io/certs/a/b", "compact_rev_key", "//", "/registry/a.b/c/d"} {
		f.Add(k)
	}
	f.Fuzz(func(t *testing.T, key string) {
		r, ok := ParseKey(key)
		if !ok {
			if r != (Resource{}) {
				t.Fatalf("not an object, but %+v", r)
			}
			return
		}
		end := "/" + r.Name
		if r.Namespace != "" {
			end = "/" + r.Namespace + end
		}
		if r.Resource == "" || r.Name == "" || !strings.HasSuffix(key, end) || strings.Contains(r.Name, "/") {
			t.Fatalf("%q gives %+v", key, r)
		}
		if r.Group != "" && !strings.Contains(key, "/"+r.Group+"/"+r.Resource+"/") {
			t.Fatalf("%q gives %+v", key, r)
		}
	})
}
