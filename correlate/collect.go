package correlate

import (
	"fmt"
	"slices"
	"strings"

	"etcd-autopsy/logparse"
	"etcd-autopsy/snapshot"
)

// Collect is something that is not among the inputs, and how to get it while it can
// still be had.
type Collect struct {
	// What it is, and Why it is wanted.
	What string `json:"what"`
	Why  string `json:"why"`
	// Command gets it, on the platform that the evidence shows.
	Command string `json:"command"`
	// Decides is true for what would bear on the verdict itself: the program that had
	// to act in the stage that stalled.
	Decides bool `json:"decides"`
}

// platform is how a cluster is run, as far as it tells where things lie.
type platform int

const (
	kubeadm platform = iota
	k3s
	openshift
	platforms
)

// need is something to collect, with a command for each platform. "%s" in a command is
// what lacks it.
type need struct {
	what, why string
	commands  [platforms]string
}

var storeNeed = need{"a snapshot of etcd", "it holds every object, and its versions of the last minutes",
	[platforms]string{
		"etcdctl --endpoints=https://127.0.0.1:2379 --cacert=/etc/kubernetes/pki/etcd/ca.crt --cert=/etc/kubernetes/pki/etcd/server.crt --key=/etc/kubernetes/pki/etcd/server.key snapshot save after.db",
		"k3s etcd-snapshot save --name after   # rke2 etcd-snapshot save; the files are in /var/lib/rancher/k3s/server/db/snapshots",
		"/usr/local/bin/cluster-backup.sh /home/core/assets/backup   # on a control-plane node",
	}}

var walNeed = need{"the data folder of etcd member %s", "its write-ahead log reaches hours back and proves what became of each write",
	[platforms]string{
		"tar -C /var/lib/etcd -cf etcd-$(hostname).tar member",
		"tar -C /var/lib/rancher/k3s/server/db/etcd -cf etcd-$(hostname).tar member   # rke2: /var/lib/rancher/rke2/...",
		"tar -C /var/lib/etcd -cf etcd-$(hostname).tar member",
	}}

// logNeeds are the commands for the logs of wantedLogs.
var logNeeds = map[logparse.Component][platforms]string{
	logparse.ComponentEtcd: {
		"tar -C /var/log/pods -cf etcd-logs-$(hostname).tar $(cd /var/log/pods && ls -d kube-system_etcd-*)",
		"journalctl -u k3s -u rke2-server -o short-iso-precise --utc --no-pager --since -6h > k3s-$(hostname).log",
		"oc adm inspect ns/openshift-etcd",
	},
	logparse.ComponentAPIServer: {
		"tar -C /var/log/pods -cf apiserver-logs-$(hostname).tar $(cd /var/log/pods && ls -d kube-system_kube-apiserver-*)",
		"journalctl -u k3s -u rke2-server -o short-iso-precise --utc --no-pager --since -6h > k3s-$(hostname).log",
		"oc adm inspect ns/openshift-kube-apiserver",
	},
	logparse.ComponentControllerManager: {
		"tar -C /var/log/pods -cf kcm-logs-$(hostname).tar $(cd /var/log/pods && ls -d kube-system_kube-controller-manager-*)",
		"journalctl -u k3s -u rke2-server -o short-iso-precise --utc --no-pager --since -6h > k3s-$(hostname).log",
		"oc adm inspect ns/openshift-kube-controller-manager",
	},
	logparse.ComponentScheduler: {
		"tar -C /var/log/pods -cf scheduler-logs-$(hostname).tar $(cd /var/log/pods && ls -d kube-system_kube-scheduler-*)",
		"journalctl -u k3s -u rke2-server -o short-iso-precise --utc --no-pager --since -6h > k3s-$(hostname).log",
		"oc adm inspect ns/openshift-kube-scheduler",
	},
	logparse.ComponentKubelet: {
		"journalctl -u kubelet -u containerd -o short-iso-precise --utc --no-pager --since -6h > kubelet-$(hostname).log   # on the nodes of the pods",
		"journalctl -u k3s-agent -u rke2-agent -o short-iso-precise --utc --no-pager --since -6h > agent-$(hostname).log   # on the nodes of the pods",
		"oc adm node-logs NODE -u kubelet > kubelet-NODE.log",
	},
	logparse.ComponentAudit: {
		"tar -C /var/log/kubernetes -cf audit-$(hostname).tar .   # where --audit-log-path points",
		"tar -C /var/lib/rancher/k3s/server/logs -cf audit-$(hostname).tar .   # where audit-log-path points",
		"oc adm must-gather -- /usr/bin/gather_audit_logs",
	},
}

// deciders are the programs whose logs bear on a stall of a stage.
var deciders = map[int][]logparse.Component{
	stageUpdate:     {logparse.ComponentAudit, logparse.ComponentAPIServer, logparse.ComponentEtcd},
	stageReplicaSet: {logparse.ComponentControllerManager, logparse.ComponentEtcd},
	stageSchedule:   {logparse.ComponentScheduler, logparse.ComponentEtcd},
	stagePrepare:    {logparse.ComponentKubelet, logparse.ComponentEtcd},
	stageStart:      {logparse.ComponentKubelet},
	stageServe:      {logparse.ComponentControllerManager, logparse.ComponentKubelet},
	stageConverge:   {logparse.ComponentControllerManager},
}

// platform tells how the cluster is run by what the inputs show.
func (c *Case) platform() platform {
	for _, p := range c.hist.Prefixes() {
		if p == "/kubernetes.io/" || p == "/openshift.io/" {
			return openshift
		}
	}
	for _, in := range c.inputs {
		low := strings.ToLower(in.Path)
		switch {
		case in.Layout == "must-gather" || strings.Contains(low, "openshift-"):
			return openshift
		case strings.Contains(low, "k3s") || strings.Contains(low, "rke2") || strings.Contains(in.Layout, "k3s"):
			return k3s
		}
	}
	return kubeadm
}

// toCollect lists what is missing, first what would decide.
func (c *Case) toCollect(j *judge, a *Analysis, missing []missingLog) []Collect {
	out := []Collect{}
	p := c.platform()
	if len(c.hist.Stores()) == 0 {
		out = append(out, Collect{storeNeed.what, storeNeed.why, storeNeed.commands[p], true})
	}
	var bears []logparse.Component
	if s := a.Verdict.Stage; s != nil && a.Verdict.Confidence != Proven {
		bears = deciders[*s]
	}
	for _, m := range missing {
		what := "the log of " + string(m.component)
		if m.component == logparse.ComponentAudit {
			what = "the audit log of every API server"
		}
		if m.of != "" {
			what += " " + m.of
		}
		out = append(out, Collect{what, m.why, logNeeds[m.component][p], slices.Contains(bears, m.component)})
	}
	for _, id := range j.members.ids {
		if !c.hasWAL(id) {
			out = append(out, Collect{fmt.Sprintf(walNeed.what, j.members.name(id)), walNeed.why, walNeed.commands[p], false})
		}
	}
	out = append(out, c.wordsToCollect(a)...)
	slices.SortStableFunc(out, func(x, y Collect) int {
		switch {
		case x.Decides == y.Decides:
			return 0
		case x.Decides:
			return -1
		}
		return 1
	})
	return out
}

// hasWAL says whether the raft log of a member is among the inputs.
func (c *Case) hasWAL(id string) bool {
	return slices.ContainsFunc(c.hist.WALs(), func(w snapshot.WAL) bool { return w.MemberID == id && w.Entries > 0 })
}

// wordsToCollect are the logs of containers whose exits hold a rollout up and that are
// not there.
func (c *Case) wordsToCollect(a *Analysis) []Collect {
	var out []Collect
	for i := range a.Rollouts {
		r := &a.Rollouts[i]
		for _, f := range r.Findings {
			if f.Role == RoleCause && (f.Cause == "crash-loop" || f.Cause == "oom" || f.Cause == "start-error") && strings.Contains(f.Text, noLogOfContainer) {
				out = append(out, Collect{"the container's log of the run that exited", "what it printed last says why it exited",
					fmt.Sprintf("kubectl -n %s logs POD -c CONTAINER --previous --timestamps   # the pod that the finding names", r.Workload.Namespace), true})
			}
		}
	}
	return out
}
