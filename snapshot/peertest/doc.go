// Package peertest measures how long a store takes to open, and how much memory,
// beside what others need for the same file in the same run: reading it, its
// SHA-256, and "etcdutl snapshot status". It is a module of its own, so that the
// tool does not depend on etcdutl, and is not part of ./... of the tool:
//
//	cd snapshot/peertest && go test -run '^$' -bench . -store.size 2GiB
//
// The release of etcdutl is that of etcd in the tool's go.mod.
package peertest
