package correlate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"etcd-autopsy/logparse"
)

// etcdLines are those of a member that is elected, as zap has them.
var etcdLines = []string{
	`{"level":"info","ts":"2026-11-30T21:00:01.1Z","caller":"embed/etcd.go:600","msg":"starting an etcd server","name":"cp1","local-member-id":"5c76a90ae78bcee7"}`,
	`{"level":"info","ts":"2026-11-30T21:00:02.1Z","logger":"raft","caller":"etcdserver/zap_raft.go:77","msg":"5c76a90ae78bcee7 became candidate at term 4"}`,
	`{"level":"info","ts":"2026-11-30T21:00:02.2Z","logger":"raft","caller":"etcdserver/zap_raft.go:77","msg":"5c76a90ae78bcee7 became leader at term 4"}`,
	`{"level":"warn","ts":"2026-11-30T21:00:09.2Z","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"2.1s","expected-duration":"1s"}`,
}

var klogLines = []string{
	`I1130 21:00:03.100000    2463 controllermanager.go:100] "Starting" version="v1.34.4"`,
	`E1130 21:00:08.100000    2463 leaderelection.go:441] "Error retrieving lease lock" err="etcdserver: request timed out" lock="kube-system/kube-scheduler"`,
}

// What etcd says in the log of another program (k3s), or in a section of a file that
// holds all logs (minikube), counts as in a log of its own.
func TestMixedLogs(t *testing.T) {
	var k3s strings.Builder
	for k, l := range append(slices.Clone(klogLines), etcdLines...) {
		fmt.Fprintf(&k3s, "2026-11-30T21:00:%02d.000000+0000 cp1 k3s[842]: %s\n", k, l)
	}
	minikube := "==> etcd [8c8a0b6a1c2d] <==\n" + strings.Join(etcdLines, "\n") + "\n\n==> kube-controller-manager [1c2d8c8a0b6a] <==\n" + strings.Join(klogLines, "\n") + "\n"
	for name, text := range map[string]string{"k3s.log": k3s.String(), "minikube-logs.txt": minikube} {
		t.Run(name, func(t *testing.T) {
			c := openLogs(t, map[string]string{name: text})
			a, err := c.Analyze(t.Context())
			noErr(t, err)
			if len(a.Terms) != 1 || a.Terms[0].Number != 4 || !strings.Contains(a.Terms[0].Leader, "cp1") && a.Terms[0].Leader != "5c76a90ae78bcee7" {
				t.Errorf("terms %+v", a.Terms)
			}
			if !slices.ContainsFunc(a.Episodes, func(e Episode) bool { return e.Kind == "slow-disk" }) {
				t.Errorf("episodes %+v", a.Episodes)
			}
			for _, n := range a.Coverage.Notes {
				if strings.Contains(n, "No "+string(logparse.ComponentEtcd)+" log was given") {
					t.Error(n)
				}
			}
		})
	}
}
