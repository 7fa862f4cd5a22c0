package correlate

import (
	"strings"
	"testing"
)

// What is missing comes with a command for the platform that the evidence shows, and
// what bears on the verdict comes first.
func TestCollect(t *testing.T) {
	s := newScene(t)
	s.update()
	s.newSet(at(100 * ms))
	s.newPod(at(200 * ms))
	s.w.Klog(at(sec), "kube-controller-manager", "I", "x.go:1", "Started")
	a := s.analyze()
	if a.Verdict.Stage == nil || *a.Verdict.Stage != stageSchedule {
		t.Fatalf("%+v", a.Verdict)
	}
	list := a.Coverage.Collect
	if len(list) < 4 || !list[0].Decides {
		t.Fatalf("%+v", list)
	}
	scheduler := false
	for i, c := range list {
		if c.What == "" || c.Why == "" || c.Command == "" {
			t.Errorf("%+v", c)
		}
		if i > 0 && c.Decides && !list[i-1].Decides {
			t.Errorf("%s comes late", c.What)
		}
		scheduler = scheduler || c.Decides && strings.Contains(c.What, "kube-scheduler") && strings.Contains(c.Command, "/var/log/pods")
		if strings.Contains(c.What, "kube-controller-manager") {
			t.Errorf("%s is there", c.What)
		}
	}
	if !scheduler {
		t.Errorf("the scheduler's log does not decide: %+v", list)
	}
}

func TestPlatform(t *testing.T) {
	for path, want := range map[string]platform{
		"var/log/pods/kube-system_etcd-a_1/etcd/0.log": kubeadm, "journald/k3s.log": k3s, "rke2/x": k3s, "namespaces/openshift-etcd/pods/x": openshift,
	} {
		c := openLogs(t, map[string]string{"a.log": "x\n"})
		c.inputs[0].Path = path
		if got := c.platform(); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

// Every need has a command on every platform.
func TestNeeds(t *testing.T) {
	for _, w := range wantedLogs {
		for p, cmd := range logNeeds[w.component] {
			if cmd == "" {
				t.Errorf("%s: none for platform %d", w.component, p)
			}
		}
	}
}
