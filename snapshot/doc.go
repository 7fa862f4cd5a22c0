// Package snapshot reads etcd backend files: it turns every record of a store
// into a Revision, also those that compaction has left on pages outside the tree
// and those of damaged, cut or locked files, merges the stores of one cluster
// into one History, and decodes the Kubernetes objects in it when asked. It knows
// no logs and no rollouts. Files are opened read-only and are never locked for
// longer than the check that nobody is writing them.
package snapshot
