package logparse

import "strings"

// componentFlags are flags that only one program has, in the dump that it prints
// when it starts.
var componentFlags = map[string]Component{
	"etcd-servers":                             ComponentAPIServer,
	"enable-admission-plugins":                 ComponentAPIServer,
	"service-account-issuer":                   ComponentAPIServer,
	"terminated-pod-gc-threshold":              ComponentControllerManager,
	"pvclaimbinder-sync-period":                ComponentControllerManager,
	"node-monitor-grace-period":                ComponentControllerManager,
	"pod-max-in-unschedulable-pods-duration":   ComponentScheduler,
	"container-runtime-endpoint":               ComponentKubelet,
	"volume-stats-agg-period":                  ComponentKubelet,
	"node-status-update-frequency":             ComponentKubelet,
	"node-status-max-images":                   ComponentKubelet,
	"experimental-allocatable-ignore-eviction": ComponentKubelet,
}

// componentMessages begin a message that names its program.
var componentMessages = []struct {
	text      string
	component Component
}{
	{`"Starting Kubernetes Scheduler"`, ComponentScheduler},
	{"attempting to acquire leader lease kube-system/kube-scheduler", ComponentScheduler},
	{"successfully acquired lease kube-system/kube-scheduler", ComponentScheduler},
	{`"Attempting to acquire leader lease..." lock="kube-system/kube-scheduler"`, ComponentScheduler},
	{"attempting to acquire leader lease kube-system/kube-controller-manager", ComponentControllerManager},
	{"successfully acquired lease kube-system/kube-controller-manager", ComponentControllerManager},
	{`"Attempting to acquire leader lease..." lock="kube-system/kube-controller-manager"`, ComponentControllerManager},
	{`"Kubelet version"`, ComponentKubelet},
	{`"Starting kubelet main sync loop"`, ComponentKubelet},
	{`"Successfully registered node"`, ComponentKubelet},
}

// componentFiles are source files that print in one program only (Kubernetes
// 1.20 to 1.34).
var componentFiles = map[string]Component{
	"apf_controller.go":              ComponentAPIServer,
	"cacher.go":                      ComponentAPIServer,
	"cache_watcher.go":               ComponentAPIServer,
	"watcher.go":                     ComponentAPIServer,
	"store.go":                       ComponentAPIServer,
	"storage_rbac.go":                ComponentAPIServer,
	"genericapiserver.go":            ComponentAPIServer,
	"cidrallocator.go":               ComponentAPIServer,
	"compact.go":                     ComponentAPIServer,
	"finisher.go":                    ComponentAPIServer,
	"httplog.go":                     ComponentAPIServer,
	"dispatcher.go":                  ComponentAPIServer,
	"wrap.go":                        ComponentAPIServer,
	"timeout.go":                     ComponentAPIServer,
	"crd_finalizer.go":               ComponentAPIServer,
	"available_controller.go":        ComponentAPIServer,
	"local_available_controller.go":  ComponentAPIServer,
	"remote_available_controller.go": ComponentAPIServer,

	"controllermanager.go":         ComponentControllerManager,
	"replica_set.go":               ComponentControllerManager,
	"deployment_controller.go":     ComponentControllerManager,
	"node_lifecycle_controller.go": ComponentControllerManager,
	"garbagecollector.go":          ComponentControllerManager,
	"graph_builder.go":             ComponentControllerManager,
	"resource_quota_controller.go": ComponentControllerManager,
	"resource_quota_monitor.go":    ComponentControllerManager,
	"endpointslice_controller.go":  ComponentControllerManager,
	"endpoints_controller.go":      ComponentControllerManager,
	"controller_utils.go":          ComponentControllerManager,
	"disruption.go":                ComponentControllerManager,
	"taint_eviction.go":            ComponentControllerManager,
	"stateful_set.go":              ComponentControllerManager,
	"job_controller.go":            ComponentControllerManager,
	"cronjob_controllerv2.go":      ComponentControllerManager,
	"daemon_controller.go":         ComponentControllerManager,
	"topologycache.go":             ComponentControllerManager,
	"namespace_controller.go":      ComponentControllerManager,
	"attach_detach_controller.go":  ComponentControllerManager,
	"horizontal.go":                ComponentControllerManager,
	"gc_controller.go":             ComponentControllerManager,

	"schedule_one.go":     ComponentScheduler,
	"scheduler.go":        ComponentScheduler,
	"default_binder.go":   ComponentScheduler,
	"eventhandlers.go":    ComponentScheduler,
	"preemption.go":       ComponentScheduler,
	"active_queue.go":     ComponentScheduler,
	"scheduling_queue.go": ComponentScheduler,
	"node_tree.go":        ComponentScheduler,

	"kubelet.go":                          ComponentKubelet,
	"kubelet_node_status.go":              ComponentKubelet,
	"kubelet_pods.go":                     ComponentKubelet,
	"kubelet_volumes.go":                  ComponentKubelet,
	"kubelet_getters.go":                  ComponentKubelet,
	"pod_workers.go":                      ComponentKubelet,
	"kuberuntime_manager.go":              ComponentKubelet,
	"kuberuntime_container.go":            ComponentKubelet,
	"kuberuntime_image.go":                ComponentKubelet,
	"kuberuntime_sandbox.go":              ComponentKubelet,
	"eviction_manager.go":                 ComponentKubelet,
	"generic.go":                          ComponentKubelet,
	"prober.go":                           ComponentKubelet,
	"reconciler_common.go":                ComponentKubelet,
	"pod_startup_latency_tracker.go":      ComponentKubelet,
	"pod_container_deletor.go":            ComponentKubelet,
	"nodeinfomanager.go":                  ComponentKubelet,
	"nestedpendingoperations.go":          ComponentKubelet,
	"container_manager_linux.go":          ComponentKubelet,
	"desired_state_of_world_populator.go": ComponentKubelet,
	"scope.go":                            ComponentKubelet,
	"status_manager.go":                   ComponentKubelet,
	"remote_runtime.go":                   ComponentKubelet,
	"setters.go":                          ComponentKubelet,
}

// etcdFolders are the last folders of etcd's source files, as its caller field
// has them (3.4 to 3.7). Other programs write zap JSON too.
var etcdFolders = map[string]bool{
	"adt": true, "api": true, "apply": true, "auth": true, "backend": true, "cindex": true,
	"compactor": true, "confchange": true, "corrupt": true, "discovery": true, "embed": true,
	"errors": true, "etcdhttp": true, "etcdmain": true, "etcdserver": true, "fileutil": true,
	"flags": true, "httputil": true, "lease": true, "leasehttp": true, "membership": true,
	"mvcc": true, "netutil": true, "osutil": true, "raft": true, "rafthttp": true, "read": true,
	"runtime": true, "schema": true, "snap": true, "storage": true, "traceutil": true,
	"transport": true, "txn": true, "v2store": true, "v3alarm": true, "v3client": true,
	"v3compactor": true, "v3discovery": true, "v3lock": true, "v3rpc": true, "verify": true,
	"version": true, "wal": true, "walpb": true, "zapgrpc": true, "zapraft": true,
}

// isEtcdCaller reports whether a zap line's caller is a file of the etcd server.
// Modules stand with their version: raft as "v3@v3.6.0/raft.go:988", the backend
// as "bbolt@v1.4.2/db.go:322".
func isEtcdCaller(caller string) bool {
	folder, file, ok := strings.Cut(caller, "/")
	if !ok {
		return false
	}
	module, _, versioned := strings.Cut(folder, "@")
	switch {
	case !versioned:
		return etcdFolders[folder]
	case module == "bbolt":
		return true
	}
	return module == "v3" && (strings.HasPrefix(file, "raft.go:") || strings.HasPrefix(file, "node.go:") ||
		strings.HasPrefix(file, "log.go:") || strings.HasPrefix(file, "log_unstable.go:") || strings.HasPrefix(file, "rawnode.go:"))
}
