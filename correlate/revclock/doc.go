// Package revclock places the revisions of an etcd history on the wall clock. etcd
// stores no time, but what is written says when: Leases are renewed with a stamp,
// objects carry their creation and the times of their managed fields, audit logs
// have the moments a request was received and answered. Every revision gets an
// estimate and an interval that holds its commit.
package revclock
