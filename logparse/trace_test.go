package logparse

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAPITraceOf(t *testing.T) {
	got, ok := APITraceOf(readOne(t, klogTrace, Options{}))
	want := APITrace{
		Name: "Update",
		Fields: Fields{
			{"accept", "application/json, */*"}, {"audit-id", "02992802-f5e9-43b8-ac0f-aaed2011f8b4"}, {"client", "127.0.0.1"},
			{"name", "web"}, {"subresource", ""}, {"namespace", "shop"}, {"url", "/apis/apps/v1/namespaces/shop/deployments/web"},
			{"user-agent", "kubectl/v1.34.1 (linux/amd64) kubernetes/4cb5f07"}, {"verb", "PUT"},
		},
		Start: at("2026-11-30T21:33:54.506Z"),
		Total: 3020 * time.Millisecond,
		Steps: []TraceStep{
			{Name: "GuaranteedUpdate etcd3", Detail: "audit-id:02992802-f5e9-43b8-ac0f-aaed2011f8b4,key:/deployments/shop/web,type:*apps.Deployment", Took: 3019 * time.Millisecond, Nested: true},
			{Name: "Txn call failed", Detail: "err:etcdserver: request timed out", Took: 3018 * time.Millisecond},
			{Name: "Object stored in database", Took: 2 * time.Millisecond},
		},
	}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("trace differs, %v (-want +got):\n%s", ok, diff)
	}
}

// The block's date is local time; the zone of the record counts for both.
func TestAPITraceZone(t *testing.T) {
	east := time.FixedZone("", 5*3600+1800)
	got, ok := APITraceOf(readOne(t, klogTrace, Options{Location: east}))
	if want := at("2026-11-30T16:03:54.506Z"); !ok || !got.Start.Equal(want) {
		t.Errorf("start %v, want %v", got.Start, want)
	}
	rec := readOne(t, klogTrace, Options{})
	rec.Time = time.Time{}
	if got, ok := APITraceOf(rec); !ok || !got.Start.IsZero() {
		t.Errorf("start %v of a record without a time", got.Start)
	}
}

func TestAPITraceNot(t *testing.T) {
	head, _, _ := strings.Cut(klogTrace, "\n")
	for _, in := range []string{
		klogNoLeader,
		strings.Replace(head, "Trace[914681858]", "Trace[x]", 1),
		strings.Replace(head, `"Update"`, "Update", 1),
		strings.Replace(head, "(total time: 3020ms)", "", 1),
		strings.Replace(head, "3020ms", "long", 1),
		"I1130 21:33:57.526677    5832 trace.go:236] Trace[1]: \"",
		"I1130 21:33:57.526677    5832 trace.go:236] Trace[",
	} {
		if got, ok := APITraceOf(readOne(t, in, Options{})); ok {
			t.Errorf("%q is a trace: %+v", in, got)
		}
	}
	if got, ok := APITraceOf(readOne(t, head, Options{})); !ok || got.Steps != nil {
		t.Errorf("head alone: %v, %+v", ok, got)
	}
}

func TestEtcdTraceOf(t *testing.T) {
	got, ok := EtcdTraceOf(readOne(t, zapTrace, Options{}))
	want := EtcdTrace{
		Operation: "transaction",
		Detail:    Fields{{"read_only", "false"}, {"response_revision", "51"}, {"number_of_response", "1"}},
		Revision:  51,
		Start:     at("2026-11-30T21:21:04.098617Z"),
		End:       at("2026-11-30T21:21:04.253406Z"),
		Duration:  154788744,
		Steps:     []TraceStep{{Name: "process raft request", Took: 151890614}},
	}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("trace differs, %v (-want +got):\n%s", ok, diff)
	}
	for _, in := range []string{
		zapLeader, klogTrace,
		strings.Replace(zapTrace, "trace[2021264158] t", "trace[x] t", 1),
		strings.Replace(zapTrace, "154.788744ms", "long", 1),
	} {
		if _, ok := EtcdTraceOf(readOne(t, in, Options{})); ok {
			t.Errorf("%q is a trace", in)
		}
	}
}

func TestSlowApplyOf(t *testing.T) {
	got, ok := SlowApplyOf(readOne(t, zapSlowApply, Options{}))
	want := SlowApply{
		Took: 1580884457, Expected: 100 * time.Millisecond, Request: got.Request,
		RequestID: 12868088355599757156, Key: "/registry/leases/kube-system/kube-scheduler",
	}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("slow apply differs, %v (-want +got):\n%s", ok, diff)
	}
	read := `{"level":"warn","ts":"2026-11-30T21:05:45.520503Z","caller":"txn/util.go:93","msg":"apply request took too long","took":"497ms","expected-duration":"100ms","prefix":"read-only range ","request":"key:\"/registry/pods/shop/a\\\"b\" limit:1 ","response":"","error":"etcdserver: leader changed"}`
	got, ok = SlowApplyOf(readOne(t, read, Options{}))
	if !ok || got.Prefix != "read-only range " || got.RequestID != 0 || got.Key != `/registry/pods/shop/a"b` || got.Error != "etcdserver: leader changed" {
		t.Errorf("%v, %+v", ok, got)
	}
	for _, in := range []string{zapLeader, zapTrace, strings.Replace(zapSlowApply, "1.580884457s", "long", 1)} {
		if _, ok := SlowApplyOf(readOne(t, in, Options{})); ok {
			t.Errorf("%q is a slow apply", in)
		}
	}
}
