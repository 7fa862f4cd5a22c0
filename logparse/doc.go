// Package logparse turns the logs of etcd and the Kubernetes control plane into
// records: a format (how a line is written) under a signature (what its message
// means). It knows no etcd store and no rollouts.
//
// A stream is read once, line by line, and nothing in it stops the reader: a
// broken line is a record with a Problem, a line nobody claims is a plain
// record, and only an I/O error ends the stream early.
//
// A line passes three tables. [Read] takes off what a container runtime has put
// before it, asks the formats which of them it is written in, and tests the
// record against the signatures, the known messages in signatures.tsv. A new
// format is a row of formats with a function that fills a Record; a new message
// is a row of the file. [RaftEventOf], [SlowApplyOf], [EtcdTraceOf] and
// [APITraceOf] read the numbers out of the messages that have some.
package logparse
