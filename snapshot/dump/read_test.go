package dump

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const podJSON = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"shop","resourceVersion":"412","uid":"u-1"},"spec":{"nodeName":"n1"}}`

// texts are the shapes in which objects are saved, with what is to be found.
var texts = []struct {
	name, text string
	want       string // kind/namespace/name@revision, with commas
	list       int64
}{
	{"kubectl get pod -o json", podJSON, "v1 Pod/shop/web-1@412", 0},
	{"indented", strings.ReplaceAll(podJSON, ",", ",\n    ") + "\n", "v1 Pod/shop/web-1@412", 0},
	{"kubectl get pods -o json", `{"apiVersion":"v1","items":[` + podJSON + `],"kind":"List","metadata":{"resourceVersion":""}}`, "v1 Pod/shop/web-1@412", 0},
	{"raw answer", `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"900"},"items":[{"metadata":{"name":"web-1","namespace":"shop","resourceVersion":"412"}},{"metadata":{"name":"web-2","namespace":"shop","resourceVersion":"7"}}]}`,
		"v1 Pod/shop/web-1@412,v1 Pod/shop/web-2@7", 900},
	{"kind after the items", `{"apiVersion":"apps/v1","items":[{"metadata":{"name":"web","resourceVersion":"5"}}],"kind":"DeploymentList","metadata":{"resourceVersion":"901"}}`,
		"apps/v1 Deployment//web@5", 901},
	{"array", "[" + podJSON + "]", "v1 Pod/shop/web-1@412", 0},
	{"array of nameless kinds", `[{"metadata":{"name":"web-1","resourceVersion":"412"}}]`, " //web-1@412", 0},
	{"several documents", podJSON + "\n" + podJSON + podJSON, "v1 Pod/shop/web-1@412,v1 Pod/shop/web-1@412,v1 Pod/shop/web-1@412", 0},
	{"cluster-info dump on stdout", podJSON + "\n==== START logs for container c of pod shop/web-1 ====\nhello {\n==== END logs ====\n" + podJSON, "v1 Pod/shop/web-1@412,v1 Pod/shop/web-1@412", 0},
	{"no items", `{"apiVersion":"v1","items":null,"kind":"PodList","metadata":{"resourceVersion":"9"}}`, "", 9},
	{"yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-1\n  namespace: shop\n  resourceVersion: \"412\"\n", "v1 Pod/shop/web-1@412", 0},
	{"yaml, number without quotes", "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web-1\n  resourceVersion: 412\n...\n", "v1 Pod//web-1@412", 0},
	{"yaml list", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: web-1\n    resourceVersion: \"4\"\n  data: |\n    - not an item\n    kind: X\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: web-2\n    resourceVersion: \"5\"\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
		"v1 Pod//web-1@4,v1 Pod//web-2@5", 0},
	{"yaml list, indented dashes, kind last", "apiVersion: apps/v1\nitems:\n  - metadata:\n      name: a\n      resourceVersion: \"4\"\n    spec: {}\n  - metadata:\n      name: b\n      resourceVersion: \"5\"\nkind: ReplicaSetList\nmetadata:\n  resourceVersion: \"77\"\n",
		"apps/v1 ReplicaSet//a@4,apps/v1 ReplicaSet//b@5", 77},
	{"yaml array", "- apiVersion: x.io/v1\n  kind: Foo\n  metadata:\n    name: a\n    resourceVersion: \"4\"\n- apiVersion: x.io/v1\n  kind: Foo\n  metadata: {name: b, resourceVersion: \"5\"}\n", "x.io/v1 Foo//a@4,x.io/v1 Foo//b@5", 0},
	{"yaml documents", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, resourceVersion: \"4\"}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b, resourceVersion: \"5\"}\n", "v1 Pod//a@4,v1 Pod//b@5", 0},
	{"windows", "\ufeffapiVersion: v1\r\nitems:\r\n- apiVersion: v1\r\n  kind: Pod\r\n  metadata:\r\n    name: a\r\n    resourceVersion: \"4\"\r\nkind: List\r\n", "v1 Pod//a@4", 0},
	{"empty yaml list", "apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: \"12\"\n", "", 12},
	{"manifest", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: etcd\n", "v1 Pod//etcd@0", 0},
	{"not a number", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","resourceVersion":"x-1"}}`, "v1 Pod//a@0", 0},
}

func read(t testing.TB, text string) (string, Summary) {
	t.Helper()
	var got []string
	s, err := Read(context.Background(), strings.NewReader(text), func(x Item) error {
		got = append(got, fmt.Sprintf("%s %s/%s/%s@%d", x.APIVersion, x.Kind, x.Namespace, x.Name, x.Revision))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(got, ","), s
}

func TestRead(t *testing.T) {
	for _, x := range texts {
		t.Run(x.name, func(t *testing.T) {
			got, s := read(t, x.text)
			if got != x.want || s.ListRevision != x.list {
				t.Errorf("got %q, list %d\nwant %q, list %d", got, s.ListRevision, x.want, x.list)
			}
			if odd := strings.Contains(x.text, "===="); (len(s.Problems) > 0) != odd {
				t.Errorf("problems: %q", s.Problems)
			}
		})
	}
}

func TestLooks(t *testing.T) {
	for _, x := range texts {
		if has := x.name != "manifest"; x.want != "" && Looks([]byte(x.text)) != has {
			t.Errorf("%s: Looks is %v", x.name, !has)
		}
	}
	for _, other := range []string{
		"", "hello", "{", "[", "[1,2]", `{"level":"info","msg":"x"}`, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","metadata":{}}`,
		"apiVersion: v1\nkind: Config\nclusters: []\n", "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: []\n",
		"items:\n- a\n- b\n", `{"items":[1]}`,
	} {
		if Looks([]byte(other)) {
			t.Errorf("%q looks like a dump", other)
		}
	}
}

// TestLooksAtPart tells a dump by a block that ends anywhere behind the first
// object's metadata.
func TestLooksAtPart(t *testing.T) {
	for _, x := range texts {
		name, _, _ := strings.Cut(x.want, "@")
		name = name[strings.LastIndexByte(name, '/')+1:]
		if name == "" || !Looks([]byte(x.text)) {
			continue
		}
		from := strings.Index(x.text, name)
		from += strings.Index(x.text[from:], "resourceVersion") + len(`resourceVersion": "412`)
		for n := from; n < len(x.text); n++ {
			if !Looks([]byte(x.text[:n])) {
				t.Errorf("%s: not told by its first %d bytes", x.name, n)
				break
			}
		}
	}
}

func TestDamaged(t *testing.T) {
	whole := `{"kind":"PodList","apiVersion":"v1","items":[` + podJSON + "," + podJSON + `],"metadata":{}}`
	for _, x := range []struct{ name, text, want, problem string }{
		{"cut", whole[:len(whole)-50], "v1 Pod/shop/web-1@412", "it is cut"},
		{"broken", strings.Replace(whole, `"spec"`, `?`, 1) + "\n" + podJSON, "v1 Pod/shop/web-1@412", "damaged at offset"},
		{"nameless", `[{"kind":"Pod"},` + podJSON + `]`, "v1 Pod/shop/web-1@412", "the object at offset 1 has no name"},
		{"not objects", `[1,` + podJSON + `]`, "v1 Pod/shop/web-1@412", "offset 1 is none of Kubernetes"},
		{"yaml", "apiVersion: v1\nitems:\n- kind: {\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b, resourceVersion: \"5\"}\nkind: List\n", "v1 Pod//b@5", "the YAML at offset 22"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, s := read(t, x.text)
			if got != x.want || !strings.Contains(strings.Join(s.Problems, "\n"), x.problem) {
				t.Errorf("got %q, problems %q", got, s.Problems)
			}
		})
	}
}

// TestOffset holds each item's offset against the text.
func TestOffset(t *testing.T) {
	for _, x := range texts {
		_, err := Read(context.Background(), strings.NewReader(x.text), func(i Item) error {
			if rest := x.text[i.Offset:]; !strings.Contains(rest, i.Name) {
				t.Errorf("%s: no %s at %d", x.name, i.Name, i.Offset)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestStops(t *testing.T) {
	stop := errors.New("stop")
	for _, x := range texts[:4] {
		_, err := Read(context.Background(), strings.NewReader(x.text), func(Item) error { return stop })
		if !errors.Is(err, stop) {
			t.Errorf("%s: %v", x.name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, strings.NewReader(podJSON), func(Item) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLongObject leaves out what no store can hold, and goes on.
func TestLongObject(t *testing.T) {
	long := `{"kind":"Pod","metadata":{"name":"x"},"spec":"` + strings.Repeat("x", maxItem+1<<20) + "\"}\n" + podJSON
	got, s := read(t, long)
	if got != "v1 Pod/shop/web-1@412" || len(s.Problems) != 1 {
		t.Errorf("got %q, problems %q", got, s.Problems)
	}
	long = "apiVersion: v1\nitems:\n- a: " + strings.Repeat("x", maxItem+1<<20) + "\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b, resourceVersion: \"5\"}\nkind: List\n"
	if got, s = read(t, long); got != "v1 Pod//b@5" || len(s.Problems) == 0 {
		t.Errorf("got %q, problems %q", got, s.Problems)
	}
}

func FuzzRead(f *testing.F) {
	for _, x := range texts {
		f.Add([]byte(x.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		Looks(text)
		n := 0
		s, err := Read(context.Background(), bytes.NewReader(text), func(x Item) error {
			if n++; x.Offset < 0 || x.Offset > int64(len(text)) || x.Name == "" {
				t.Errorf("item %+v of %d bytes", x, len(text))
			}
			return nil
		})
		if err != nil || n != s.Objects {
			t.Errorf("%v; %d of %d objects", err, n, s.Objects)
		}
	})
}
