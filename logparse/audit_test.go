package logparse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadAudit(t *testing.T) {
	got := readOne(t, auditUpdate, Options{})
	want := Record{
		Line: 1, Lines: 1, Time: at("2026-11-30T21:02:50.77936Z"), Format: FormatAudit, Component: ComponentAudit,
		Message:    `update /apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl-edit&dryRun= 409: Operation cannot be fulfilled on deployments.apps "web": the object has been modified`,
		Fields:     Fields{{"apiserver.latency.k8s.io/etcd", "12.5ms"}},
		Signatures: got.Signatures,
		Text:       got.Text,
		Audit: &AuditEvent{
			AuditID: "7e726084-3491-41e1-aeab-50aa7b4a6c87", Stage: "ResponseComplete", Verb: "update",
			RequestURI: "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl-edit&dryRun=",
			User:       "alice", UserAgent: "kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9",
			Resource: "deployments", Group: "apps", Namespace: "shop", Name: "web",
			UID: "0f4a44f1-9b2c-4f0e-8f5b-6a4f1b2c3d4e", ResourceVersion: "4711",
			Code: 409, Reason: "Conflict", Message: `Operation cannot be fulfilled on deployments.apps "web": the object has been modified`,
			Received: at("2026-11-30T21:02:50.750103Z"), Completed: at("2026-11-30T21:02:50.77936Z"),
			Decision: "allow", DecisionReason: "RBAC: allowed",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record differs (-want +got):\n%s", diff)
	}
}

// A create with generateName has its name in the answer only.
func TestReadAuditResponseObject(t *testing.T) {
	e := readOne(t, auditCreate, Options{}).Audit
	if e.Name != "web-x2x2p" || e.ResponseResourceVersion != "815" || e.ResourceVersion != "" || e.Code != 201 {
		t.Errorf("name %q, revision %q, precondition %q, code %d", e.Name, e.ResponseResourceVersion, e.ResourceVersion, e.Code)
	}
	named := strings.Replace(auditCreate, `"resource":"pods",`, `"resource":"pods","name":"asked",`, 1)
	if e := readOne(t, named, Options{}).Audit; e.Name != "asked" {
		t.Errorf("name %q, want that of the request", e.Name)
	}
}

func TestReadAuditDamage(t *testing.T) {
	tests := []struct{ name, in, problem string }{
		{"cut at the end", strings.TrimSpace(auditUpdate)[:len(auditUpdate)-20], "json ends early"},
		{"cut after the version", `{"kind":"Event","apiVersion":"audit.k8s.io/v1"`, "json ends early"},
		{"cut in the user", auditUpdate[:strings.Index(auditUpdate, "uid")], "json ends early"},
		{"no stage time", strings.Replace(auditUpdate, "stageTimestamp", "stageTime", 1), "no readable stageTimestamp"},
		{"text behind", strings.TrimSpace(auditUpdate) + "x\n", "text after the json object"},
	}
	for _, tt := range tests {
		got := readOne(t, tt.in, Options{})
		if got.Format != FormatAudit || got.Audit == nil || got.Problem != tt.problem {
			t.Errorf("%s: format %s, problem %q, want %q", tt.name, got.Format, got.Problem, tt.problem)
		}
	}
	for _, in := range []string{
		`{"kind":"Event","apiVersion":"v1","metadata":{"name":"web.18"}}`,
		`{"kind":"Pod","apiVersion":"v1"}`,
		`{"kind":"Event","apiVersion":"audit.k8s.io/`,
	} {
		if got := readOne(t, in, Options{}); got.Format != FormatPlain || got.Audit != nil {
			t.Errorf("%s: format %s", in, got.Format)
		}
	}
}
