package correlate

import (
	"testing"

	"etcd-autopsy/logparse"
)

// Each layout is known by its marks, and tells node and time where its names do.
func TestLayouts(t *testing.T) {
	tests := []struct {
		layout string
		label  string
		paths  []string
		node   string // of the last path
		time   string
	}{
		{"must-gather", "must-gather.local.5421342344627712289", []string{"quay-io/namespaces/shop/core/pods.yaml", "quay-io/cluster-scoped-resources/core/nodes/m-0.yaml", "quay-io/audit_logs/kube-apiserver/m-0-audit-2026-11-30T21-00-00.log.gz"}, "m-0", ""},
		{"troubleshoot.sh", "support-bundle-2026-11-30T21_00_00", []string{"cluster-resources/pods/shop.json"}, "", "2026-11-30T21:00:00Z"},
		{"kind export logs", "logs", []string{"kind-version.txt", "kind-control-plane/journal.log", "kind-control-plane/pods/shop_web_1/main/0.log"}, "kind-control-plane", ""},
		{"rancher logs collector", "x", []string{"cp1-2026-11-30_21_00_00/systeminfo/uname", "cp1-2026-11-30_21_00_00/journald/rke2-server"}, "cp1", "2026-11-30T21:00:00Z"},
		{"sosreport", "sosreport-cp1-0123456-2026-11-30-abcdefg", []string{"sos_commands/host/hostname"}, "cp1", "2026-11-30T00:00:00Z"},
		{"microk8s inspect", "inspection-report-20261130_210000", []string{"inspection-report/snap.microk8s.daemon-kubelite/journal.log"}, "", "2026-11-30T21:00:00Z"},
		{"talosctl support", "support", []string{"10.0.0.1/machined.log", "10.0.0.1/etcd.log"}, "10.0.0.1", ""},
		{"kubectl cluster-info dump", "dump", []string{"nodes.json", "shop/pods.json", "shop/web-1/logs.txt"}, "", ""},
		{"openshift cluster-backup", "backup", []string{"snapshot_2026-11-30_210000.db"}, "", "2026-11-30T21:00:00Z"},
		{"k3s or rke2 snapshots", "snapshots", []string{"etcd-snapshot-cp1-1796072400"}, "cp1", "2026-11-30T21:00:00Z"},
		{"a node's log folders", "log", []string{"pods/kube-system_etcd-cp1_0123/etcd/0.log"}, "", ""},
		{"", "incident", []string{"after.db", "logs/etcd-1.log", "etcd-1/member/snap/db"}, "", ""},
		{"", "half", []string{"cluster-scoped-resources/core/nodes.yaml"}, "", ""},
	}
	for _, tt := range tests {
		c := &Case{}
		for _, p := range tt.paths {
			c.inputs = append(c.inputs, Input{Label: tt.label, Path: p})
		}
		c.logs = make([]*logFile, len(c.inputs))
		c.layOut()
		in := c.inputs[len(c.inputs)-1]
		at := ""
		if in.Collected != nil {
			at = in.Collected.Format("2006-01-02T15:04:05Z07:00")
		}
		if in.Layout != tt.layout || in.Node != tt.node || at != tt.time {
			t.Errorf("%s/%s: layout %q node %q time %q, want %q %q %q", tt.label, in.Path, in.Layout, in.Node, at, tt.layout, tt.node, tt.time)
		}
	}
}

// A log whose lines do not name the program is that of its place; what the lines say
// counts more.
func TestComponentOfPlace(t *testing.T) {
	for path, want := range map[string]logparse.Component{
		"var/log/pods/kube-system_kube-scheduler-cp1_0123/kube-scheduler/0.log": logparse.ComponentScheduler,
		"mg/namespaces/openshift-etcd/pods/etcd-m-0/etcd/etcd/logs/current.log": logparse.ComponentEtcd,
		"dump/kube-system/kube-controller-manager-cp1/logs.txt":                 logparse.ComponentControllerManager,
		"var/log/pods/shop_kube-scheduler-x_0123/kube-scheduler/0.log":          logparse.ComponentUnknown,
		"node/kubelet.log": logparse.ComponentKubelet,
	} {
		c := &Case{inputs: []Input{{Label: "x", Path: path}}, logs: []*logFile{{}}}
		c.layOut()
		if got := c.logs[0].id.Component; got != want {
			t.Errorf("%s is of %q, want %q", path, got, want)
		}
		c.logs[0].id.Component = logparse.ComponentAPIServer
		c.layOut()
		if got := c.logs[0].id.Component; got != logparse.ComponentAPIServer {
			t.Errorf("%s is of %q though its lines say otherwise", path, got)
		}
	}
}
