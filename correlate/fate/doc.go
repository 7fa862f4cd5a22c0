// Package fate finds out what became of write requests: it joins each request that
// a log shows to the raft entry it became and to the revision that made, or says
// what proves that there is none. It knows the store and the raft log, and of the
// request what a log says; it judges nothing.
package fate
