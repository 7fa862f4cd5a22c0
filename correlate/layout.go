package correlate

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"etcd-autopsy/logparse"
)

// A layout is the shape in which a tool lays out what it collects. It is known by its
// marks; it tells which node a file is from, and when it was collected. What a file
// is, its content tells: a layout only fills in what the content leaves open.
type layout struct {
	// name is shown by inputs.
	name string
	// marks are paths that all have to be there.
	marks []*regexp.Regexp
	// places read a node ("node") or a time ("time") off a path.
	places []*regexp.Regexp
}

// layouts in order: the more telling first, for one bundle can hold another. The
// sources are the collectors' own code and documentation.
var layouts = []layout{
	{ // openshift/must-gather collection-scripts, openshift/oc pkg/cli/admin/inspect
		"must-gather",
		patterns(`(^|/)cluster-scoped-resources/`, `(^|/)namespaces/[^/]+/`),
		patterns(`(^|/)audit_logs/[^/]+/(?P<node>[^/]+?)-audit[^/]*\.log`, `(^|/)cluster-scoped-resources/[^/]+/nodes/(?P<node>[^/]+)\.yaml$`,
			`(^|/)nodes/(?P<node>[^/]+)/`),
	},
	{ // replicatedhq/troubleshoot pkg/collect
		"troubleshoot.sh",
		patterns(`(^|/)cluster-resources/`),
		patterns(`support-?bundle-(?P<time>\d{4}-\d\d-\d\dT\d\d_\d\d_\d\d)`, `(^|/)host-collectors/[^/]+/remote/(?P<node>[^/]+)/`),
	},
	{ // kubernetes-sigs/kind pkg/cluster/internal/logs
		"kind export logs",
		patterns(`(^|/)kind-version\.txt$`),
		patterns(`(^|/)(?P<node>[^/]+)/(?:alternatives|containerd|journal|kubelet|serial|images)\.log$`, `(^|/)(?P<node>[^/]+)/(?:containers|pods)/`),
	},
	{ // rancherlabs/support-tools collection/rancher/v2.x/logs-collector
		"rancher logs collector",
		patterns(`(^|/)systeminfo/`, `(^|/)(?:journald|systemlogs)/`),
		patterns(`(^|/)(?P<node>[^/]+)-(?P<time>\d{4}-\d\d-\d\d_\d\d_\d\d_\d\d)/`),
	},
	{ // sosreport/sos
		"sosreport",
		patterns(`(^|/)sos_commands/`),
		patterns(`(^|/)sosreport-(?P<node>.+?)(?:-\d{5,})?-(?P<time>\d{4}-\d\d-\d\d)-[a-z]+/`),
	},
	{ // canonical/microk8s scripts/inspect.sh
		"microk8s inspect",
		patterns(`(^|/)(?:inspection-report/)?snap\.microk8s\.daemon-[a-z0-9-]+/`),
		patterns(`inspection-report-(?P<time>\d{8}_\d{6})`),
	},
	{ // siderolabs/talos pkg/cluster... support bundle
		"talosctl support",
		patterns(`(^|/)[^/]+/(?:machined|apid)\.log$`),
		patterns(`(^|/)(?P<node>[^/]+)/(?:apid|auditd|containerd|controller-runtime|cri|dmesg|etcd|kubelet|machined|syslogd|trustd|udevd)\.log$`),
	},
	{ // kubernetes/kubectl pkg/cmd/clusterinfo
		"kubectl cluster-info dump",
		patterns(`(^|/)nodes\.(?:json|yaml)$`, `(^|/)[a-z0-9-]+/(?:events|replication-controllers|daemonsets|replicasets|pods)\.(?:json|yaml)$`),
		nil,
	},
	{ // openshift/cluster-etcd-operator bindata/etcd/cluster-backup.sh
		"openshift cluster-backup",
		patterns(`(^|/)snapshot_\d{4}-\d\d-\d\d_\d{6}[^/]*\.db$`),
		patterns(`(^|/)snapshot_(?P<time>\d{4}-\d\d-\d\d_\d{6})`, `(^|/)static_kuberesources_(?P<time>\d{4}-\d\d-\d\d_\d{6})`),
	},
	{ // k3s-io/k3s pkg/etcd/snapshot
		"k3s or rke2 snapshots",
		patterns(`(^|/)(?:etcd-snapshot|on-demand)-[^/]+-\d{10}(?:\.zip)?(?:$|/)`),
		patterns(`(^|/)(?:etcd-snapshot|on-demand)-(?P<node>[^/]+)-(?P<time>\d{10})(?:\.zip)?(?:$|/)`),
	},
	{ // Kubernetes pkg/kubelet/kuberuntime: the folders of a node
		"a node's log folders",
		patterns(`(^|/)(?:pods/[a-z0-9-]+_[a-z0-9.-]+_[0-9a-z-]+/[^/]+/\d+\.log|containers/[a-z0-9.-]+_[a-z0-9-]+_[a-z0-9-]+-[0-9a-f]{64}\.log)`),
		nil,
	},
}

// patterns compiles the regular expressions of a table.
func patterns(list ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(list))
	for i, p := range list {
		out[i] = regexp.MustCompile(p)
	}
	return out
}

// layoutTimes are the forms of the times in names. Those of the collectors are local
// times of a machine whose zone is not known; only Unix times are certain.
var layoutTimes = []string{"2006-01-02T15_04_05", "2006-01-02_15_04_05", "2006-01-02_150405", "20060102_150405", "2006-01-02"}

// layOut finds the layouts of the inputs and what they say of each file.
func (c *Case) layOut() {
	byInput := map[string][]int{}
	for i := range c.inputs {
		byInput[c.inputs[i].Label] = append(byInput[c.inputs[i].Label], i)
	}
	for _, label := range sortedKeys(byInput) {
		files := byInput[label]
		for _, l := range layouts {
			if c.hasMarks(l, files) {
				for _, i := range files {
					c.inputs[i].place(l)
				}
			}
		}
	}
	for i := range c.inputs {
		c.fillComponent(i)
	}
}

// hasMarks says whether all marks of a layout are among the files of an input.
func (c *Case) hasMarks(l layout, files []int) bool {
	for _, m := range l.marks {
		found := false
		for _, i := range files {
			if found = m.MatchString(c.inputs[i].Path) || m.MatchString(c.inputs[i].Label+"/"+c.inputs[i].Path); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// place notes a layout, with what it says of the file that nothing has said before.
func (in *Input) place(l layout) {
	in.Layout = cmp.Or(in.Layout, l.name)
	for _, p := range l.places {
		m := p.FindStringSubmatch(in.Label + "/" + in.Path)
		if m == nil {
			continue
		}
		for k, name := range p.SubexpNames() {
			switch {
			case name == "node" && in.Node == "":
				in.Node = m[k]
			case name == "time" && in.Collected == nil:
				in.Collected = timePtr(layoutTime(m[k]))
			}
		}
	}
}

// layoutTime reads a time in a name, zero if it is none.
func layoutTime(s string) time.Time {
	if t, ok := unixTime(s); ok {
		return t
	}
	for _, form := range layoutTimes {
		if t, err := time.Parse(form, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// unixTime reads ten digits as seconds since 1970.
func unixTime(s string) (time.Time, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || len(s) != 10 {
		return time.Time{}, false
	}
	return time.Unix(int64(n), 0).UTC(), true
}

// nameComponents are the programs that the name of a container, a unit or a file
// names, where the lines of the log do not.
var nameComponents = []struct {
	mark      *regexp.Regexp
	component logparse.Component
}{
	{regexp.MustCompile(`(^|/)(?:kube-system|openshift-[a-z-]+)_[^/]+/(?:kube-apiserver)/`), logparse.ComponentAPIServer},
	{regexp.MustCompile(`(^|/)(?:kube-system|openshift-[a-z-]+)_[^/]+/(?:kube-controller-manager)/`), logparse.ComponentControllerManager},
	{regexp.MustCompile(`(^|/)(?:kube-system|openshift-[a-z-]+)_[^/]+/(?:kube-scheduler)/`), logparse.ComponentScheduler},
	{regexp.MustCompile(`(^|/)(?:kube-system|openshift-[a-z-]+)_[^/]+/(?:etcd)/`), logparse.ComponentEtcd},
	{regexp.MustCompile(`(^|/)namespaces/openshift-etcd/pods/[^/]+/etcd/`), logparse.ComponentEtcd},
	{regexp.MustCompile(`(^|/)namespaces/openshift-kube-apiserver/pods/[^/]+/kube-apiserver/`), logparse.ComponentAPIServer},
	{regexp.MustCompile(`(^|/)namespaces/openshift-kube-controller-manager/pods/[^/]+/kube-controller-manager/`), logparse.ComponentControllerManager},
	{regexp.MustCompile(`(^|/)namespaces/openshift-kube-scheduler/pods/[^/]+/kube-scheduler/`), logparse.ComponentScheduler},
	{regexp.MustCompile(`(^|/)kube-system/(?:pods/)?kube-apiserver-[^/]+/`), logparse.ComponentAPIServer},
	{regexp.MustCompile(`(^|/)kube-system/(?:pods/)?kube-controller-manager-[^/]+/`), logparse.ComponentControllerManager},
	{regexp.MustCompile(`(^|/)kube-system/(?:pods/)?kube-scheduler-[^/]+/`), logparse.ComponentScheduler},
	{regexp.MustCompile(`(^|/)kube-system/(?:pods/)?etcd-[^/]+/`), logparse.ComponentEtcd},
	{regexp.MustCompile(`(^|/)kubelet(?:_service)?\.log`), logparse.ComponentKubelet},
}

// fillComponent gives a log whose lines do not tell its program the one that its
// place does.
func (c *Case) fillComponent(i int) {
	l := c.logs[i]
	if l == nil {
		return
	}
	if c.inputs[i].Node != "" && l.id.Node == "" && l.id.Component == logparse.ComponentKubelet {
		l.id.Node = c.inputs[i].Node
	}
	if l.id.Component != logparse.ComponentUnknown || l.id.Format == logparse.FormatAudit {
		return
	}
	for _, x := range nameComponents {
		if x.mark.MatchString(c.inputs[i].Path) {
			l.id.Component, c.inputs[i].Component = x.component, string(x.component)
			c.inputs[i].Why = strings.TrimSuffix(c.inputs[i].Why, ".") + "; its place names the program"
			return
		}
	}
}
