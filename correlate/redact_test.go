package correlate

import (
	"reflect"
	"strings"
	"testing"
)

func TestRedactText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"bearer", "Authorization: Bearer abcdef0123456789", "Authorization: Bearer secret#1"},
		{"query", "GET /x?token=s3cr3tvalue&y=1", "GET /x?token=secret#1&y=1"},
		{"json", `{"password":"hunter22","user":"x"}`, `{"password":"secret#1","user":"x"}`},
		{"escaped json", `body {\"token\":\"hunter22\"}`, `body {\"token\":\"secret#1\"}`},
		{"a Secret's data", `{"kind":"Secret","data":{"p":"HIDE"}}`, `{"kind":"Secret","data":{secret#1}}`},
		{"url", "https://me:pw@reg.example/x", "https://secret#1@reg.example/x"},
		{"image", "image me:pw@reg.example/cart:1", "image secret#1@reg.example/cart:1"},
		{"jwt", "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc", "jwt secret#1"},
		{"equal values share a token", "token=aaaa1111 token=aaaa1111 token=bbbb2222", "token=aaaa1111 token=secret#1 token=secret#2"},
		{"digest of an image", "reg.example/cart@sha256:0123", "reg.example/cart@sha256:0123"},
		{"image with a port", "reg.example:5000/cart:1", "reg.example:5000/cart:1"},
		{"missing secret", `secret "db" not found`, `secret "db" not found`},
		{"a Lease", "renewed by cp-1_0c54c94b-60c9", "renewed by cp-1_0c54c94b-60c9"},
		{"service account user", "system:serviceaccount:kube-system:token-cleaner", "system:serviceaccount:kube-system:token-cleaner"},
	} {
		if got := newRedactor().text(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRedactAll: every string of a value, in the order of its fields.
func TestRedactAll(t *testing.T) {
	cause := "x token=aaaa1111"
	a := &Analysis{Verdict: Verdict{Text: "see ?token=bbbb2222", Cause: &cause}, Evidence: []Evidence{{Text: "x token=bbbb2222"}}}
	newRedactor().all(reflect.ValueOf(a))
	if got := a.Verdict.Text + a.Evidence[0].Text + *a.Verdict.Cause; strings.Contains(got, "aaaa") || strings.Contains(got, "bbbb") || !strings.Contains(got, "secret#1") {
		t.Errorf("left: %s", got)
	}
}

func TestCutBodies(t *testing.T) {
	for _, in := range []string{
		`{"kind":"Event","requestObject":{"data":{"k":"HIDE"}}}`,
		`{"requestObject":{"data":"HIDE"},"objectRef":{}}`,
		`{"x":1,"responseObject":{"spec":"HIDE"}}`,
		`{"log":"{\"requestObject\":{\"k\":\"HIDE\"}"}`,
		`{"auditID":"a","annotations":{"patch.webhook.admission.k8s.io/round_0":"HIDE"}}`,
	} {
		if got := cutBodies(in); strings.Contains(got, "HIDE") {
			t.Errorf("%s leaves %s", in, got)
		}
	}
}
