// Package dump reads what an API server once answered and somebody saved:
// "kubectl get -o yaml|json", the lists of must-gather, "kubectl cluster-info
// dump" and troubleshoot.sh. Each object is an observation: its resourceVersion
// is the revision at which it was last written, so it has a place in the history
// of the store (Kubernetes apiserver pkg/storage/etcd3: APIObjectVersioner). The
// package knows texts; which key an object is stored under is not its matter.
package dump
