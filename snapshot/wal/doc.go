// Package wal reads the write-ahead log of an etcd member: the segments of its
// WAL folder and its raft snapshots. It reads what is there whatever state the
// files are in, and says of everything else where it lies and what is wrong with
// it. It does not know what entries do; files are opened for reading only and are
// never repaired.
//
// The format is that of etcd v3.0 to v3.7 server/storage/wal (encoder.go,
// decoder.go, wal.go) and server/etcdserver/api/snap.
package wal
