package correlate

import (
	"regexp"
	"strconv"
	"strings"
)

// podPlace is what the path of a container's log says.
type podPlace struct {
	namespace, pod, uid string
	// container is empty where the file is of all of them.
	container string
	// run is the number of restarts before this run of the container, -1 where the
	// path does not say it; previous is true for the run before the last.
	run      int
	previous bool
	// id is the runtime's ID of the container, where that is part of the name.
	id string
}

// podPaths are the shapes of such paths; the names of the groups are fields.
var podPaths = []*regexp.Regexp{
	// The kubelet (Kubernetes 1.14 and later, pkg/kubelet/kuberuntime/helpers.go:
	// BuildPodLogsDirectory, BuildContainerLogsDirectory); also "kind export logs".
	regexp.MustCompile(`(?:^|/)(?P<namespace>[a-z0-9-]+)_(?P<pod>[a-z0-9.-]+)_(?P<uid>[0-9a-z-]+)/(?P<container>[a-z0-9-]+)/(?P<run>\d+)\.log(?:\.|$)`),
	// The kubelet's links for log collectors (legacyLogSymlink).
	regexp.MustCompile(`(?:^|/)(?P<pod>[a-z0-9.-]+)_(?P<namespace>[a-z0-9-]+)_(?P<container>[a-z0-9-]+)-(?P<id>[0-9a-f]{64})\.log(?:\.|$)`),
	// must-gather (openshift/oc pkg/cli/admin/inspect/pod.go).
	regexp.MustCompile(`(?:^|/)namespaces/(?P<namespace>[a-z0-9-]+)/pods/(?P<pod>[a-z0-9.-]+)/(?P<container>[a-z0-9-]+)/[a-z0-9-]+/logs/(?P<which>current|previous)[a-z.]*\.log(?:\.|$)`),
	// troubleshoot.sh, what its cluster-resources and logs collectors write
	// (pkg/collect/logs.go).
	regexp.MustCompile(`(?:^|/)pods/logs/(?P<namespace>[a-z0-9-]+)/(?P<pod>[a-z0-9.-]+)/(?P<container>[a-z0-9-]+?)(?:-(?P<which>previous))?\.log(?:\.|$)`),
	// "kubectl cluster-info dump --output-directory" (kubectl pkg/cmd/clusterinfo).
	regexp.MustCompile(`(?:^|/)(?P<namespace>[a-z0-9-]+)/(?P<pod>[a-z0-9.-]+)/logs\.txt$`),
}

// placeOf reads a path, nil if it is not one of a container's log.
func placeOf(path string) *podPlace {
	for _, re := range podPaths {
		m := re.FindStringSubmatch(path)
		if m == nil {
			continue
		}
		p := &podPlace{run: -1}
		for i, name := range re.SubexpNames() {
			p.set(name, m[i])
		}
		return p
	}
	return nil
}

func (p *podPlace) set(field, value string) {
	switch field {
	case "namespace":
		p.namespace = value
	case "pod":
		p.pod = value
	case "uid":
		p.uid = value
	case "container":
		p.container = value
	case "id":
		p.id = value
	case "which":
		p.previous = value == "previous"
	case "run":
		if n, err := strconv.Atoi(value); err == nil {
			p.run = n
		}
	}
}

// controlPlane says whether the pod may be of the cluster's own control plane by its
// namespace: elsewhere an etcd or a scheduler is somebody's application.
func (p *podPlace) controlPlane() bool {
	return p.namespace == "kube-system" || strings.HasPrefix(p.namespace, "openshift-") || strings.HasPrefix(p.namespace, "kube-")
}
