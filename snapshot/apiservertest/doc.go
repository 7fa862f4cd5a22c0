// Package apiservertest holds what an API server's own code encrypts against
// what snapshot.Keys decrypts. It is a module of its own, so that the tool does
// not depend on k8s.io/apiserver, and is not part of ./... of the tool:
//
//	cd snapshot/apiservertest && go test ./...
//
// The release of k8s.io/apiserver is that of k8s.io/apimachinery in the tool's
// go.mod.
package apiservertest
