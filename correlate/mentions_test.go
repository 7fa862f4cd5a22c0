package correlate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"etcd-autopsy/logparse"
)

func TestMentions(t *testing.T) {
	tests := []struct{ in, want string }{
		{`E1130 21:00:00.000001       1 pod_workers.go:1298] "Error syncing pod, skipping" err="x" pod="shop/web-5d4f8c7b9-x2x2p" podUID="1"`, "shop/web-5d4f8c7b9-x2x2p"},
		{`I1130 21:00:00.000001       1 a.go:1] "x" namespace="shop" name="web"`, "shop/web"},
		{`I1130 21:00:00.000001       1 x.go:1] GET /api/v1/namespaces/shop/pods/web-1?timeout=1s: (1s) 504`, "shop/web-1"},
		{`I1130 21:00:00.000001       1 x.go:1] POST /api/v1/namespaces/shop/pods 504`, "shop/"},
		{`I1130 21:00:00.000001       1 x.go:1] GET /api/v1/namespaces/shop 200`, ""},
		{`E1130 21:00:00.000001       1 pod_workers.go:1] Error syncing pod 1 ("tool-abcde_shop(34c4f0ce-529d-3f98-b2e4-46ff78bb84a0)"), skipping`, "shop/tool-abcde"},
		{`{"level":"warn","ts":"2026-11-30T21:00:00.1Z","caller":"etcdserver/util.go:1","msg":"apply request took too long","request":"key:\"/registry/pods/shop/web-1\" ","took":"1s"}`, "shop/web-1"},
		{`{"level":"warn","ts":"2026-11-30T21:00:00.1Z","caller":"etcdserver/util.go:1","msg":"x","request":"key:\"/registry/services/specs/shop/web\" "}`, "shop/web"},
		{`{"level":"warn","ts":"2026-11-30T21:00:00.1Z","caller":"etcdserver/util.go:1","msg":"x","request":"key:\"/registry/example.com/buckets/shop/web\" "}`, "shop/web"},
		{`{"level":"info","ts":"2026-11-30T21:00:00.1Z","caller":"raft/raft.go:1","msg":"5c76a90ae78bcee7 became leader at term 4"}`, ""},
	}
	for _, tt := range tests {
		for rec, err := range logparse.Read(context.Background(), strings.NewReader(tt.in), logparse.Options{Year: 2026}) {
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range mentionsOf(&rec) {
				if s := m.namespace + "/" + m.name; len(got) == 0 || got[len(got)-1] != s {
					got = append(got, s)
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%s\nnames %q, want %q", tt.in, s, tt.want)
			}
		}
	}
}

// --namespace and --workload leave out what is of others, and keep what is of the
// cluster.
func TestTimelineScope(t *testing.T) {
	line := func(n int, pod string) string {
		return fmt.Sprintf("E1130 21:00:%02d.000001       1 pod_workers.go:1298] \"Error syncing pod, skipping\" err=\"x\" pod=%q\n", n, pod)
	}
	log := line(1, "shop/web-5d4f8c7b9-x2x2p") + line(2, "shop/website-5d4f8c7b9-x2x2p") + line(3, "other/web-5d4f8c7b9-x2x2p") + line(4, "shop/web-0") +
		"E1130 21:00:05.000001       1 kubelet.go:1] watch chan error: etcdserver: no leader\n"
	for _, tt := range []struct{ namespace, workload, want string }{
		{"", "", "1 2 3 4 5"}, {"shop", "", "1 2 4 5"}, {"", "Deployment/web", "1 3 4 5"}, {"shop", "Deployment/web", "1 4 5"}, {"none", "", "5"},
	} {
		c := openLogs(t, map[string]string{"kubelet.log": log})
		c.opts.Namespace, c.opts.Workload = tt.namespace, tt.workload
		var got []string
		for row := range c.Timeline(context.Background(), false) {
			got = append(got, fmt.Sprint(row.Line))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("namespace %q, workload %q: lines %s, want %s", tt.namespace, tt.workload, s, tt.want)
		}
	}
}
