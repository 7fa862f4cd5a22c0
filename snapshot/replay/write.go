package replay

import (
	"bytes"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Verb says what a Write does.
type Verb string

const (
	// VerbCreate is a put of a key that must not exist.
	VerbCreate Verb = "create"
	// VerbUpdate is a put of a key that must be as the writer has seen it.
	VerbUpdate Verb = "update"
	// VerbPut is a put whatever the key is.
	VerbPut Verb = "put"
	// VerbDelete is a delete of a key, with a precondition or without.
	VerbDelete Verb = "delete"
)

// Precondition says what a Write expects of its key.
type Precondition uint8

const (
	// NoPrecondition expects nothing.
	NoPrecondition Precondition = iota
	// MustNotExist expects that there is no such key.
	MustNotExist
	// SameModRevision expects the revision that the writer read.
	SameModRevision
	// SameVersion expects the version that the writer read, as the API server
	// does for compact_rev_key (kubernetes v1.34 apiserver storage/etcd3/compact.go).
	SameVersion
)

// Write is the write of one key, as the API server makes them (kubernetes v1.34
// apiserver storage/etcd3/store.go). Whether it took place is another matter.
type Write struct {
	Verb Verb
	Key  []byte
	// Precondition and Expected are what the key has to be: Expected is a
	// mod_revision or a version, 0 for the other preconditions.
	Precondition Precondition
	Expected     int64
	// Lease is that of a put, 0 for none.
	Lease int64
	// Value is what is put; it begins at ValueOffset in the entry's data.
	Value       []byte
	ValueOffset int
}

// Write returns the request as the write of one key: a put, a delete of one key,
// or a txn with one of them, no more than one compare, of the same key, and reads.
// ok is false for a request of another shape.
func (r *Request) Write() (w Write, ok bool) {
	switch r.Kind {
	case KindPut, KindDeleteRange:
		return r.Op.write()
	case KindTxn:
		return r.Txn.write()
	}
	return w, false
}

// write is Request.Write of a put or a delete.
func (o *Op) write() (w Write, ok bool) {
	switch {
	case o.Kind == OpPut && !o.IgnoreValue && !o.IgnoreLease:
		return Write{Verb: VerbPut, Key: o.Key, Lease: o.Lease, Value: o.Value, ValueOffset: o.ValueOffset}, true
	case o.Kind == OpDeleteRange && len(o.RangeEnd) == 0:
		return Write{Verb: VerbDelete, Key: o.Key}, true
	}
	return w, false
}

// write is Request.Write of a txn.
func (t *Txn) write() (w Write, ok bool) {
	if len(t.Success) != 1 || len(t.Compares) > 1 {
		return w, false
	}
	for i := range t.Failure {
		if t.Failure[i].Kind != OpRange {
			return w, false
		}
	}
	if w, ok = t.Success[0].write(); !ok || len(t.Compares) == 0 {
		return w, ok
	}
	return w, w.expect(&t.Compares[0])
}

// expect takes a compare for a precondition, if it is one.
func (w *Write) expect(c *Compare) bool {
	if c.Result != pb.Compare_EQUAL || len(c.RangeEnd) > 0 || !bytes.Equal(c.Key, w.Key) {
		return false
	}
	switch {
	case c.Target == pb.Compare_VALUE || c.Target == pb.Compare_LEASE:
		return false
	case c.Number == 0:
		w.Precondition = MustNotExist
	case c.Target == pb.Compare_MOD:
		w.Precondition, w.Expected = SameModRevision, c.Number
	case c.Target == pb.Compare_VERSION:
		w.Precondition, w.Expected = SameVersion, c.Number
	default:
		return false
	}
	if w.Verb == VerbPut {
		w.Verb = VerbUpdate
		if w.Precondition == MustNotExist {
			w.Verb = VerbCreate
		}
	}
	return true
}
