package logparse

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSignatureTable(t *testing.T) {
	table, err := parseSignatures(signatureTSV)
	if err != nil {
		t.Fatal(err)
	}
	if len(table) < 250 {
		t.Errorf("%d signatures", len(table))
	}
	seen := map[string]bool{}
	id := regexp.MustCompile(`^[a-z0-9-]+$`)
	for _, s := range table {
		if seen[s.ID] || !id.MatchString(s.ID) {
			t.Errorf("id %q twice or odd", s.ID)
		}
		seen[s.ID] = true
		if s.Meaning == "" || s.Component == "" || s.Category == "" {
			t.Errorf("%s: no meaning, component or category", s.ID)
		}
		if !slices.Contains([]string{"info", "warn", "error", "fatal", "panic"}, s.Severity) {
			t.Errorf("%s: severity %q", s.ID, s.Severity)
		}
		all := slices.Concat(s.match.messages, s.match.texts, s.match.quotes)
		if len(all) == 0 || slices.Contains(all, "") {
			t.Errorf("%s: literals %q", s.ID, all)
		}
		if s.match.confirm != nil && len(s.match.texts)+len(s.match.quotes) == 0 {
			t.Errorf("%s: nothing for confirm to look at", s.ID)
		}
	}
}

func TestParseSignaturesErrors(t *testing.T) {
	row := "a-b\tetcd\twarn\tc\tm\t\t\t(\t\tx\t\t\t\t\t\n"
	second := "a-b\tetcd\twarn\tc\tm\t\t\t\t\tx\t\t\ttook\t(?P<took>.) || [\t\n"
	for in, want := range map[string]string{
		"id\n":                             `signatures.tsv: head is "id"`,
		signatureColumns + "\na-b\tetcd\n": "signatures.tsv: a-b: 2 columns",
		signatureColumns + "\n" + row:      "signatures.tsv: a-b: error parsing regexp: missing closing ): `(`",
		signatureColumns + "\n" + second:   "signatures.tsv: a-b: error parsing regexp: missing closing ]: `[`",
	} {
		if _, err := parseSignatures(in); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestLookupSignature(t *testing.T) {
	s, ok := LookupSignature("etcd-slow-fdatasync")
	if !ok || s.Component != "etcd" || s.Category != "slow-disk" || s.Meaning == "" {
		t.Errorf("%+v, %v", s, ok)
	}
	if _, ok := LookupSignature("etcd-slow"); ok {
		t.Error("found what is not there")
	}
	table := Signatures()
	table[0].ID = "mine"
	if Signatures()[0].ID == "mine" {
		t.Error("the table is shared")
	}
}

// recordOf makes a record as a signature's component would print it.
func recordOf(component, message string) Record {
	r := Record{Format: FormatKlog, Component: Component(component), Message: message}
	switch component {
	case "etcd":
		r.Format = FormatZapJSON
	case "etcd-client":
		r.Format, r.Component = FormatZapJSON, ComponentAPIServer
	case "any-klog":
		r.Component = ComponentScheduler
	case "any", "k3s-rke2", "kube-vip", "etcd-manager":
		r.Format, r.Component = FormatPlain, ComponentUnknown
	}
	return r
}

// Every literal without a confirmation must make its signature fire, and only
// where its component may have printed it.
func TestSignatureLiterals(t *testing.T) {
	m := signatureMatcher()
	for _, s := range Signatures() {
		check := func(rec Record, want bool, what string) {
			t.Helper()
			if got := slices.Contains(m.signatures(&rec), s.ID); got != want {
				t.Errorf("%s: fires %v on %s %q", s.ID, got, what, rec.Message)
			}
		}
		for _, w := range s.match.messages {
			check(recordOf(s.Component, w), true, "message")
		}
		if s.match.confirm == nil {
			for _, w := range s.match.texts {
				check(recordOf(s.Component, "x "+w+" y"), true, "text")
				quoted := recordOf(s.Component, "a message of its own")
				quoted.Fields = Fields{{"detail", w}}
				check(quoted, false, "quoted text")
			}
			for _, w := range s.match.quotes {
				quoted := recordOf(s.Component, "a message of its own")
				quoted.Fields = Fields{{"error", "x " + w + " y"}}
				check(quoted, true, "quote")
			}
		}
		if s.Component == "any" || strings.HasPrefix(s.ID, "etcd-err-") {
			continue
		}
		other := "etcd"
		if s.Component == "etcd" {
			other = "kubelet"
		}
		if s.Component == "etcd-client" {
			other = "kube-scheduler"
		}
		for _, w := range slices.Concat(s.match.messages, s.match.texts, s.match.quotes) {
			check(recordOf(other, w), false, "text of "+other)
		}
	}
}

func TestSignaturesOfLines(t *testing.T) {
	zap := func(msg string) string {
		return `{"level":"info","ts":"2026-11-30T21:02:46Z","caller":"etcdserver/server.go:1","msg":"` + msg + `"}`
	}
	klog := func(text string) string { return "E1130 21:02:47.721669       1 a.go:5] " + text }
	tests := []struct {
		component Component
		in, want  string
	}{
		{"", zapSlowApply, "etcd-apply-slow"},
		{"", zapTrace, "etcd-trace"},
		{"", zap("slow fdatasync"), "etcd-slow-fdatasync"},
		{"", zap("no slow fdatasync here"), ""},
		{"", zap("finished defragment"), "etcd-defrag-done"},
		{"", zap("finished defragmenting directory"), "etcd-defrag-dir-done"},
		{"", zap("sending database snapshot"), "etcd-snap-send"},
		{"", zap("sending database snapshot to client"), "etcd-snapshot-to-client"},
		{"", zap("successfully sent database snapshot to client"), ""},
		{"", zap("5c76a90ae78bcee7 became leader at term 2"), "etcd-became-leader"},
		{"", zap("became leader at term"), ""},
		{"", zap("raft.node: 5c76a90ae78bcee7 lost leader 995e at term 2"), "etcd-leader-lost"},
		{"", zap("trace[x] range"), ""},
		{"", zap("peer became active"), "etcd-peer-active"},
		{"", zap("ignore already added member"), ""},
		{"", zap("added member"), "etcd-member-added"},
		{"", zap("5c76 [term 2] no leader at term 2; dropping index reading msg"), "etcd-no-leader-drop-read"},
		{ComponentAPIServer, zapClient, "etcd-client-retry etcd-err-request-timeout"},
		{ComponentAPIServer, klogNoLeader, "etcd-err-no-leader apiserver-watch-chan-error"},
		{ComponentScheduler, klogNoLeader, "etcd-err-no-leader"},
		{ComponentAPIServer, klogTrace, "etcd-err-request-timeout apiserver-trace-head apiserver-trace-stored"},
		{ComponentAPIServer, klog(`Trace of nothing: Trace[ "x`), ""},
		{ComponentAPIServer, klog(`"Unhandled Error" err="apiserver received an error that is not an metav1.Status: rpctypes.EtcdError{desc:\"etcdserver: request timed out\"}"`), "etcd-err-request-timeout unhandled-error apiserver-not-metav1-status"},
		{ComponentKubelet, klog(`"Other" err="apiserver received an error that is not an metav1.Status: x"`), ""},
		{"", klog("etcdserver: request timed out, possibly due to previous leader failure"), "etcd-err-timeout-leader-fail"},
		{"", klog("etcdserver: request timed out, waiting for the applied index took too long"), "etcd-err-timeout-applied"},
		{"", klog("etcdserver: request timed out, retrying"), "etcd-err-request-timeout"},
		{ComponentControllerManager, klog("leaderelection lost"), "leaderelection-lost"},
		{ComponentScheduler, klog(`"Leaderelection lost"`), "leaderelection-lost"},
		{ComponentScheduler, klog("leaderelection lost in translation"), ""},
		{ComponentScheduler, klog(`error retrieving resource lock kube-system/kube-scheduler: Get "https://192.0.2.1:6443/x": dial tcp 192.0.2.1:6443: connect: connection refused`), "lease-retrieve-failed conn-refused"},
		{ComponentScheduler, klog("connection refused by the user"), ""},
		{ComponentScheduler, klog(`"Failed to watch" err="failed to list *v1.Pod: the server said no" type="*v1.Pod"`), "reflector-list-failed reflector-watch-failed"},
		{ComponentScheduler, klog("failed to list pods"), ""},
		{ComponentKubelet, klog(`"Failed to update lease" err="x"`), "kubelet-lease-update-failed"},
		{ComponentAPIServer, klog(`"Failed to update lease" err="x"`), ""},
		{ComponentKubelet, klog(`"Error syncing pod, skipping" err="failed to \"StartContainer\" for \"web\" with ImagePullBackOff: \"Back-off pulling image: ErrImagePull: x\"" pod="shop/web-1"`), "kubelet-sync-pod-failed kubelet-errimagepull kubelet-imagepullbackoff"},
		{ComponentKubelet, klog(`"SyncLoop ADD" pods=["shop/crashloopbackoff-1"]`), ""},
		{ComponentAPIServer, klog(`Failed calling webhook, failing closed pods.example.com: failed calling webhook "pods.example.com": x`), "apiserver-webhook-closed apiserver-webhook-call-failed"},
		{ComponentAPIServer, klog("poststarthook/rbac/bootstrap-roles check failed: readyz\n[-]poststarthook failed: not finished"), "apiserver-healthz-failed"},
		{ComponentAPIServer, klog("sanity check failed: readymade"), ""},
		{ComponentControllerManager, klog("x\ngoroutine 1 [running]:"), "go-goroutine-header"},
		{ComponentControllerManager, klog("\"leaderelection lost\"\ngoroutine 1 [running]:"), "leaderelection-lost go-goroutine-header"},
		{ComponentControllerManager, klog("leaderelection lost\ngoroutine 1 [running]:"), "leaderelection-lost go-goroutine-header"},
		{ComponentControllerManager, klog("do not panic: goroutine 1 is fine"), ""},
		{ComponentScheduler, klogScheduled, "sched-bound"},
		{"", "etcdserver: no leader", "etcd-err-no-leader"},
		{"", strings.Replace(auditUpdate, "the object has been modified", "etcdserver: mvcc: database space exceeded", 1), "etcd-err-nospace"},
		{"", auditCreate, ""},
		{"", zap("failed to apply request"), "etcd-apply-failed"},
	}
	for _, tt := range tests {
		rec := readOne(t, tt.in, Options{Component: tt.component})
		if got := strings.Join(rec.Signatures, " "); got != tt.want {
			t.Errorf("%s %.100q:\n got %s\nwant %s", tt.component, tt.in, got, tt.want)
		}
	}
}
