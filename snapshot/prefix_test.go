package snapshot

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrefixes has stores with prefixes of their own.
func TestPrefixes(t *testing.T) {
	tests := []struct {
		name     string
		keys     []string
		prefixes []string
		want     map[string]string // key to resource, "" for none
	}{
		{"kubernetes and openshift", []string{"/kubernetes.io/pods/a/b", "/openshift.io/images/sha256:0", "/registry/pods/a/b"},
			[]string{"/kubernetes.io/", "/openshift.io/", "/registry/"},
			map[string]string{"/openshift.io/images/sha256:0": "images", "/openshift.io/registry/sdnsubnets/n": "hostsubnets"}},
		{"deep", []string{"/team/a/minions/n1", "/team/a/example.com/things/x/y", "/team/a/widgets/w"}, []string{"/team/a/"},
			map[string]string{"/team/a/example.com/things/x/y": "things.example.com", "/team/a/widgets/w": "widgets", "/team/b/widgets/w": ""}},
		{"below another", []string{"/registry/minions/n", "/registry/a/pods/x/y", "/registry/a/secrets/x/y"}, []string{"/registry/", "/registry/a/"},
			map[string]string{"/registry/a/namespaces/x": "namespaces", "/registry/a/new.io/things/x": "things.new.io", "/registry/minions/n": "nodes"}},
		{"two tenants", []string{"/t1/namespaces/x", "/t2/pods/x/y", "/t2/secrets/x/y"}, []string{"/t1/", "/t2/"},
			map[string]string{"/t1/whatever/x/y": "whatever", "/t2/whatever/x/y": "whatever"}},
		{"the root", []string{"/minions/n", "/namespaces/x", "/pods/x/y", "/secrets/x/y"}, []string{"/"},
			map[string]string{"/pods/x/y": "pods", "/example.com/things/x/y": "things.example.com", "/registry": ""}},
		{"something else", []string{"/calico/v1/config/x", "/cilium/state/identities/v1/id/1", "/app/jobs/a/b", "/roles/a/b"}, nil,
			map[string]string{"/calico/v1/config/x": "", "/app/widgets/x": "", "/roles/a/b": ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEtcdStore()
			for _, k := range tt.keys {
				e.put(k, "x")
			}
			h := load(t, e.file(t, filepath.Join(t.TempDir(), "db")))
			if d := cmp.Diff(tt.prefixes, h.Prefixes()); d != "" {
				t.Errorf("prefixes (-want +got):\n%s", d)
			}
			for key, want := range tt.want {
				if r, ok := h.Resource(key); r.String() != want || ok != (want != "") {
					t.Errorf("%s is of %q, want %q", key, r, want)
				}
			}
		})
	}
}
