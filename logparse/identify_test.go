package logparse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestIdentify(t *testing.T) {
	klog := func(caller, text string) string {
		return "I1130 21:02:47.721669       1 " + caller + "] " + text + "\n"
	}
	const started = `{"level":"info","ts":"2026-11-30T21:02:46Z","caller":"embed/etcd.go:323","msg":"starting an etcd server","etcd-version":"3.6.4","name":"m1"}` + "\n"
	const local = `{"level":"info","ts":"2026-11-30T21:02:46Z","caller":"etcdserver/bootstrap.go:499","msg":"starting local member","local-member-id":"82fe5b068afab294","cluster-id":"7c0d48ad015e94df"}` + "\n"
	tests := []struct {
		name, file, head string
		want             Identity
	}{
		{"nothing", "etcd.log", "", Identity{}},
		{"blank lines", "etcd.log", "\n\n", Identity{}},
		{"plain text", "notes.txt", "hello\nworld\n", Identity{Format: FormatPlain}},
		{"etcd with name and id", "x", started + local, Identity{Format: FormatZapJSON, Component: ComponentEtcd, Member: "m1", MemberID: "82fe5b068afab294", Why: "etcd zap JSON lines"}},
		{"etcd by raft messages", "kube-apiserver.log", zapLeader, Identity{Format: FormatZapJSON, Component: ComponentEtcd, MemberID: "5c76a90ae78bcee7", Why: "etcd zap JSON lines"}},
		{"etcd by its arguments", "x", `{"level":"info","ts":"2026-11-30T21:02:46Z","caller":"etcdmain/etcd.go:64","msg":"Running: ","args":["etcd","--name=m2","--data-dir","/x"]}`, Identity{Format: FormatZapJSON, Component: ComponentEtcd, Member: "m2", Why: "etcd zap JSON lines"}},
		{"etcd by its arguments, two words", "x", `{"level":"info","ts":"2026-11-30T21:02:46Z","caller":"etcdmain/etcd.go:64","msg":"Running: ","args":["etcd","--name","m3"]}`, Identity{Format: FormatZapJSON, Component: ComponentEtcd, Member: "m3", Why: "etcd zap JSON lines"}},
		{"etcd by what it published", "x", `{"level":"info","ts":"2026-11-30T21:02:46Z","caller":"etcdserver/server.go:1804","msg":"published local member to cluster through raft","local-member-id":"c3e8","local-member-attributes":"{Name:m4 ClientURLs:[http://192.0.2.1:2379]}"}`, Identity{Format: FormatZapJSON, Component: ComponentEtcd, Member: "m4", MemberID: "000000000000c3e8", Why: "etcd zap JSON lines"}},
		{"client lines only", "kube-apiserver.log", zapClient, Identity{Format: FormatZapJSON}},
		{"an operator's zap", "operator.log", `{"level":"info","ts":"2026-11-30T21:02:46Z","caller":"controller/controller.go:12","msg":"Reconciling"}`, Identity{Format: FormatZapJSON}},
		{"audit", "kubelet.log", auditUpdate, Identity{Format: FormatAudit, Component: ComponentAudit, Why: "audit.k8s.io event lines"}},
		{"API server flags", "x", klog("flags.go:64", `FLAG: --etcd-servers="[http://127.0.0.1:2379]"`), Identity{Format: FormatKlog, Component: ComponentAPIServer, Why: "klog lines with kube-apiserver flags"}},
		{"kubelet flags", "x", klog("flags.go:64", `FLAG: --container-runtime-endpoint="unix:///x"`) + klog("flags.go:64", `FLAG: --hostname-override="node-7"`), Identity{Format: FormatKlog, Component: ComponentKubelet, Node: "node-7", Why: "klog lines with kubelet flags"}},
		{"scheduler flags", "x", klog("flags.go:64", `FLAG: --leader-elect-resource-name="kube-scheduler"`), Identity{Format: FormatKlog, Component: ComponentScheduler, Why: "klog lines with kube-scheduler flags"}},
		{"flags outweigh files", "x", klog("flags.go:64", `FLAG: --pvclaimbinder-sync-period="15s"`) + klog("kubelet.go:1", "x"), Identity{Format: FormatKlog, Component: ComponentControllerManager, Why: "klog lines with kube-controller-manager flags"}},
		{"flags of everybody", "x", klog("flags.go:64", `FLAG: --v="2"`), Identity{Format: FormatKlog}},
		{"flags of everybody, file name", "/var/log/kube-scheduler-1.log", klog("flags.go:64", `FLAG: --v="2"`), Identity{Format: FormatKlog, Component: ComponentScheduler, Why: "file name"}},
		{"a message", "x", klog("leaderelection.go:257", "attempting to acquire leader lease kube-system/kube-controller-manager..."), Identity{Format: FormatKlog, Component: ComponentControllerManager, Why: "klog lines that name kube-controller-manager"}},
		{"node of a kubelet", "x", klog("kubelet_node_status.go:78", `"Successfully registered node" node="node-1"`), Identity{Format: FormatKlog, Component: ComponentKubelet, Node: "node-1", Why: "klog lines that name kubelet"}},
		{"source files", "etcd.log", klogNoLeader + zapClient + klogTrace, Identity{Format: FormatKlog, Component: ComponentAPIServer, Why: "klog lines from source files of kube-apiserver"}},
		{"source files of two", "x", klog("kubelet.go:1", "x") + klog("replica_set.go:1", "x"), Identity{Format: FormatKlog}},
		{"embedded", "k3s.log", klogNoLeader + klogNoLeader + zapLeader, Identity{Format: FormatKlog, MemberID: "5c76a90ae78bcee7", Why: "klog lines between etcd's own: several programs in one log"}},
		{"container runtime's wrapper", "0.log", "2026-11-30T21:51:02Z stderr F " + klogScheduled, Identity{Format: FormatKlog, Component: ComponentScheduler, Why: "klog lines from source files of kube-scheduler"}},
		{"byte order mark", "x", "\ufeff" + zapLeader, Identity{Format: FormatZapJSON, Component: ComponentEtcd, MemberID: "5c76a90ae78bcee7", Why: "etcd zap JSON lines"}},
		{"capnslog", "etcd-1.log", "2020-04-14 02:17:02.000000 W | rafthttp: x\n", Identity{Format: FormatCapnslog, Component: ComponentEtcd, Why: "etcd capnslog lines"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Identify(tt.file, []byte(tt.head)), cmpopts.IgnoreFields(Identity{}, "Framing", "Stamped")); diff != "" {
				t.Errorf("identity differs (-want +got):\n%s", diff)
			}
		})
	}
}

// A block that ends inside a line must not be told from the whole.
func TestIdentifyBlock(t *testing.T) {
	text := strings.Repeat(zapLeader, 3000)
	want := Identify("", []byte(text))
	for cut := headLimit; cut < headLimit+300; cut += 7 {
		if diff := cmp.Diff(want, Identify("", []byte(text[:cut]))); diff != "" {
			t.Errorf("cut at %d:\n%s", cut, diff)
		}
	}
}
