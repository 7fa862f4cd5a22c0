package snapshot

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
)

var augerDir = flag.String("auger", "", "a checkout of github.com/etcd-io/auger, whose test data are read (default: that of the module cache, if it is there)")

// auger returns the folder of the test data of etcd-io/auger, another reader of
// the same stores, and skips the test if it is not on this machine.
func auger(t *testing.T) string {
	t.Helper()
	dir := *augerDir
	if dir == "" {
		cache := os.Getenv("GOMODCACHE")
		if home, err := os.UserHomeDir(); cache == "" && err == nil {
			cache = filepath.Join(home, "go", "pkg", "mod")
		}
		found, err := filepath.Glob(filepath.Join(cache, "github.com", "etcd-io", "auger@*"))
		must(t, err)
		if len(found) == 0 {
			t.Skip("no test data of etcd-io/auger on this machine")
		}
		dir = found[len(found)-1]
	}
	return filepath.Join(dir, "cmd", "testdata")
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	must(t, err)
	return b
}

// TestAugerStore compares keys, revisions and values with what that reader is
// expected to print.
func TestAugerStore(t *testing.T) {
	dir := auger(t)
	h := load(t, filepath.Join(dir, "boltdb", "db"))
	if want := strings.Fields(string(read(t, dir, "boltdb", "keys.txt"))); !cmp.Equal(want, sortedKeys(h)) {
		t.Errorf("keys %q, want %q", sortedKeys(h), want)
	}
	for i, err := range h.Undecodable(context.Background()) {
		t.Errorf("%s: %v", h.At(i).Key, err)
	}
	for n := range 3 {
		name := fmt.Sprintf("page2item%d", n)
		key := strings.TrimSpace(string(read(t, dir, "boltdb", name+"-key.txt")))
		i := h.Key(key)[0]
		r := h.At(i)
		want := strings.TrimSpace(string(read(t, dir, "boltdb", name+"-summary.txt")))
		if got := fmt.Sprintf("Key: %s\nVersion: %d\nCreateRevision: %d\nModRevision: %d\nLease: %d", r.Key, r.Version, r.Create, r.Main, r.Lease); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		value, err := h.Value(i)
		must(t, err)
		stored, err := parseKeyValue(read(t, dir, "boltdb", name+".bin"))
		must(t, err)
		if d := cmp.Diff(stored.value, value); d != "" {
			t.Errorf("value of %s (-want +got):\n%s", key, d)
		}
	}
}

// sortedKeys are the keys as keys.txt lists them: those of no object last.
func sortedKeys(h *History) []string {
	var objects, others []string
	for _, k := range h.Keys() {
		if _, ok := h.Resource(k); ok {
			objects = append(objects, k)
		} else {
			others = append(others, k)
		}
	}
	return append(objects, others...)
}

// TestAugerObjects decodes stored objects and compares them with the same ones
// in JSON.
func TestAugerObjects(t *testing.T) {
	dir := auger(t)
	for _, name := range []string{"job", "pod"} {
		stored := bytes.TrimSuffix(read(t, dir, "storage", name+".bin"), []byte("\n")) // which no store has
		got, err := Decode(stored, 0)
		must(t, err)
		want, err := Decode(read(t, dir, "json", name+".json"), 0)
		must(t, err)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		kind := got.GetObjectKind().GroupVersionKind()
		if line := fmt.Sprintf("TypeMeta.APIVersion: %s\nTypeMeta.Kind: %s", kind.GroupVersion(), kind.Kind); line != strings.TrimSpace(string(read(t, dir, "meta", name+".txt"))) {
			t.Errorf("%s is %q", name, line)
		}
		m, err := meta.Accessor(got)
		must(t, err)
		o, err := DecodeWire(stored)
		must(t, err)
		if o.Kind != kind.Kind || o.Fields[0].Fields[0].Text != m.GetName() {
			t.Errorf("%s by its fields is %+v", name, o)
		}
	}
}
