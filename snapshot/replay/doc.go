// Package replay turns entries of the raft log into etcd revisions, as etcd does
// when it applies them: Decode says what an entry asks for, a Machine says what
// came of it. Where the beginning of a log is gone, and with it the state it was
// applied to, Place finds revisions by what the log itself and databases name. The
// package knows neither files nor clocks; segment files and stores are
// read elsewhere. The rules are those of etcd v3.4 to v3.7 server/etcdserver/apply,
// server/etcdserver/txn, server/storage/mvcc and server/lease.
package replay
