// Package logparse turns the logs of etcd and the Kubernetes control plane into
// records: a format (how a line is written) under a signature (what its message
// means). It knows no etcd store and no rollouts.
//
// A stream is read once, line by line, and nothing in it stops the reader: a
// broken line is a record with a Problem, a line nobody claims is a plain
// record, and only an I/O error ends the stream early.
package logparse
