package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"

	"etcd-autopsy/snapshot/dump"
)

// dumpOf writes objects as "kubectl get -o json" does.
func dumpOf(t testing.TB, name string, objects ...string) File {
	t.Helper()
	p := filepath.Join(t.TempDir(), filepath.Base(name))
	must(t, os.WriteFile(p, []byte(`{"apiVersion":"v1","kind":"List","items":[`+strings.Join(objects, ",")+`]}`), 0o600))
	return File{Input: "bundle", Path: name, OSPath: p, Kind: Objects}
}

// seen is a pod, or another core object, at a revision.
func seen(kind, ns, name, uid string, revision int64) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":%q,"namespace":%q,"uid":%q,"resourceVersion":"%d"}}`, kind, name, ns, uid, revision)
}

func loadDumps(t testing.TB, files ...File) *History {
	t.Helper()
	h, err := Load(context.Background(), files, Options{})
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return h
}

// dumpList writes a history one revision a line, with where each is.
func dumpList(h *History) string {
	var lines []string
	for i := range h.Len() {
		r := h.At(i)
		verb := "put"
		if r.Tombstone {
			verb = "del"
		}
		lines = append(lines, fmt.Sprintf("%s %s %d create %d version %d stores %d dump %v", verb, strings.TrimPrefix(r.Key, "/registry/"), r.Main, r.Create, r.Version, len(r.Stores), r.Dump))
	}
	return strings.Join(lines, "\n")
}

func TestDumpsAlone(t *testing.T) {
	h := loadDumps(t,
		dumpOf(t, "a/pods.json", seen("Pod", "shop", "web-1", "u1", 20), seen("Pod", "shop", "web-2", "u2", 15)),
		dumpOf(t, "b/pods.json", seen("Pod", "shop", "web-1", "u1", 30), seen("Pod", "shop", "web-2", "u3", 31), seen("Pod", "shop", "web-1", "u1", 20), seen("Pod", "x", "manifest", "", 0)),
		dumpOf(t, "c/nodes.json", seen("Node", "", "n1", "u9", 29)))
	want := strings.Join([]string{
		"put pods/shop/web-2 15 create 15 version 0 stores 0 dump true",
		"put pods/shop/web-1 20 create 20 version 0 stores 0 dump true",
		"put minions/n1 29 create 29 version 0 stores 0 dump true",
		"put pods/shop/web-1 30 create 20 version 0 stores 0 dump true",
		"put pods/shop/web-2 31 create 31 version 0 stores 0 dump true",
	}, "\n")
	if got := dumpList(h); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if h.First() != 15 || h.Last() != 31 || h.CompactRevision() != 31 {
		t.Errorf("%d to %d above %d: a dump is complete nowhere", h.First(), h.Last(), h.CompactRevision())
	}
	for i := range h.Len() {
		o, err := h.Object(i)
		must(t, err)
		x, err := meta.Accessor(o)
		must(t, err)
		if x.GetResourceVersion() != fmt.Sprint(h.At(i).Main) {
			t.Errorf("object at %d says %s", h.At(i).Main, x.GetResourceVersion())
		}
	}
	d := h.Dumps()
	if d[1].Objects != 3 || d[1].Unplaced != 1 || d[1].First != 20 || d[1].Last != 31 || !strings.Contains(strings.Join(d[1].Problems, ""), "1 objects have no resourceVersion") {
		t.Errorf("%+v", d[1])
	}
	if h.DumpOf(1) != 0 || h.DumpOf(3) != 1 {
		t.Errorf("revision 20 is of dump %d, 30 of %d", h.DumpOf(1), h.DumpOf(3))
	}
}

// dumpedStore is a store of a pod that was written at 2, 3 and 5, with a compaction
// at 4, and of the namespace that tells the cluster.
func dumpedStore(t testing.TB) File {
	e := newEtcdStore()
	e.put("/registry/pods/shop/web-1", seen("Pod", "shop", "web-1", "u1", 0))            // 2
	e.put("/registry/pods/shop/web-1", seen("Pod", "shop", "web-1", "u1", 0))            // 3
	e.put("/registry/namespaces/default", seen("Namespace", "", "default", "ns-uid", 0)) // 4
	e.put("/registry/pods/shop/web-1", seen("Pod", "shop", "web-1", "u1", 0))            // 5
	e.compact(4)
	e.put("/registry/pods/shop/web-2", seen("Pod", "shop", "web-2", "u2", 0)) // 6
	p := e.saved(t, filepath.Join(t.TempDir(), "after.db"))
	return File{Input: "after.db", Path: "after.db", OSPath: p}
}

func TestDumpBesideStore(t *testing.T) {
	h := loadDumps(t, dumpedStore(t), dumpOf(t, "pods.json",
		seen("Pod", "shop", "web-1", "u1", 2), // compacted away
		seen("Pod", "shop", "web-1", "u1", 5), // confirmed
		seen("Pod", "shop", "web-2", "u2", 9), // newer than the store
		seen("Pod", "shop", "web-1", "u8", 10)))
	want := []string{
		"put pods/shop/web-1 2 create 2 version 0 stores 0 dump true",
		"put pods/shop/web-1 5 create 2 version 3 stores 1 dump true",
		"put pods/shop/web-2 6 create 6 version 1 stores 1 dump false",
		"put pods/shop/web-2 9 create 6 version 0 stores 0 dump true",
		"put pods/shop/web-1 10 create 10 version 0 stores 0 dump true",
	}
	got := strings.Split(dumpList(h), "\n")
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, strings.Join(got, "\n"))
		}
	}
	if d := h.Dumps()[0]; d.Rejected != "" || len(d.Problems) > 0 {
		t.Errorf("%+v", d)
	}
	if h.Last() != 6 || h.CompactRevision() != 4 {
		t.Errorf("%d above %d: the store's own range", h.Last(), h.CompactRevision())
	}
}

func TestDumpOfAnotherCluster(t *testing.T) {
	for _, x := range []struct {
		name    string
		objects []string
		out     bool
	}{
		{"same", []string{seen("Pod", "shop", "web-2", "u2", 6), seen("Namespace", "", "default", "ns-uid", 4)}, false},
		{"another key there", []string{seen("Pod", "shop", "db-0", "u2", 6)}, true},
		{"another namespace", []string{seen("Pod", "shop", "db-0", "u2", 700), seen("Namespace", "", "default", "other", 40)}, true},
		{"nothing to compare", []string{seen("Pod", "shop", "db-0", "u2", 700)}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			h := loadDumps(t, dumpedStore(t), dumpOf(t, "all.json", x.objects...))
			if d := h.Dumps()[0]; (d.Rejected != "") != x.out || x.out && d.Objects > 0 {
				t.Errorf("%+v", d)
			}
		})
	}
	// What cannot be compared goes with what comes from the same input.
	h := loadDumps(t, dumpedStore(t),
		dumpOf(t, "ns.json", seen("Namespace", "", "default", "other", 40)), dumpOf(t, "pods.json", seen("Pod", "shop", "db-0", "u2", 700)))
	for _, d := range h.Dumps() {
		if d.Rejected == "" {
			t.Errorf("%s is taken", d.Path)
		}
	}
}

// TestDumpKey holds the key of each built-in kind against ParseKey.
func TestDumpKey(t *testing.T) {
	seenPlurals := map[string]bool{}
	for kind := range scheme.Scheme.AllKnownTypes() {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		namespaced, known := builtin[plural.Resource]
		if !known {
			continue
		}
		seenPlurals[plural.Resource] = true
		x := dump.Item{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: "web"}
		if namespaced {
			x.Namespace = "shop"
		}
		r, ok := ParseKey(dumpKey(x))
		if !ok || r.Resource != plural.Resource || r.Group != "" || r.Namespace != x.Namespace || r.Name != "web" {
			t.Errorf("%s %s has key %s, which is %+v", x.APIVersion, x.Kind, dumpKey(x), r)
		}
	}
	if len(seenPlurals) < 50 {
		t.Errorf("only %d resources were tried", len(seenPlurals))
	}
	for _, x := range []struct{ version, kind, want string }{
		{"cert-manager.io/v1", "Certificate", "/registry/cert-manager.io/certificates/shop/web"},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "/registry/apiextensions.k8s.io/customresourcedefinitions/shop/web"},
		{"serving.knative.dev/v1", "Service", "/registry/serving.knative.dev/services/shop/web"},
		{"v1", "Service", "/registry/services/specs/shop/web"},
		{"v1", "Endpoints", "/registry/services/endpoints/shop/web"},
		{"networking.k8s.io/v1", "Ingress", "/registry/ingress/shop/web"},
	} {
		if got := dumpKey(dump.Item{APIVersion: x.version, Kind: x.kind, Namespace: "shop", Name: "web"}); got != x.want {
			t.Errorf("%s %s has key %s, want %s", x.version, x.kind, got, x.want)
		}
	}
}

// TestDumpHint reads what says its kind only in the file's name.
func TestDumpHint(t *testing.T) {
	for path, want := range map[string]string{
		"cluster-resources/pods/shop.json":        "/registry/pods/shop/web",
		"cluster-resources/deployments/shop.json": "/registry/deployments/shop/web",
		"shop/events.json":                        "/registry/events/shop/web",
		"nodes.json":                              "/registry/minions/shop/web",
		"other.json":                              "",
	} {
		f := dumpOf(t, path, `{"metadata":{"name":"web","namespace":"shop","resourceVersion":"7"}}`)
		h := loadDumps(t, f)
		switch {
		case want == "" && (h.Len() > 0 || len(h.Dumps()[0].Problems) != 1):
			t.Errorf("%s: %s %q", path, dumpList(h), h.Dumps()[0].Problems)
		case want != "" && (h.Len() != 1 || h.At(0).Key != want):
			t.Errorf("%s: %s", path, dumpList(h))
		case want != "":
			if _, err := h.Object(0); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}
