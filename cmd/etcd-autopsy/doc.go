// Command etcd-autopsy explains why a Kubernetes rollout stalled, from what is
// left when it is over: etcd snapshots and data folders, control-plane logs,
// audit logs. It works offline, reads its inputs only, and needs neither a
// cluster nor a configuration.
//
//	etcd-autopsy report evidence/ -o postmortem.html
//
// This package is flags, wiring, exit codes and progress. What is written where
// follows three rules:
//
//   - stdout carries results and nothing else; they do not depend on whether it
//     is a terminal, nor on the order in which inputs are named.
//   - stderr carries the rest: the verdict in words, what could not be read,
//     progress (on a terminal), errors as "etcd-autopsy: what: why" and, on a line
//     of its own, "hint: what to try".
//   - files are written only where -o says so, completely or not at all.
package main
