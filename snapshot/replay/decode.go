package replay

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"go.etcd.io/raft/v3/raftpb"
)

// Limits of what is decoded. etcd's own limit is --max-txn-ops, 128 by default.
const (
	maxOps     = 1 << 16 // operations and compares of an entry
	maxDepth   = 64      // transactions in each other
	maxUnknown = 16      // unknown fields that are named
)

var (
	errOps   = errors.New("more operations than etcd would accept")
	errDepth = errors.New("transactions nested too deep")
)

// Decode says what an entry asks for. Of an entry that cannot be decoded there is
// what could be, and an error that says why; its kind is KindUnknown, unless it is
// known to have nothing to do with revisions (KindConfChange, KindV2).
func Decode(e Entry) (Request, error) {
	var r Request
	err := r.decode(e)
	return r, err
}

// reset forgets a request but keeps its memory.
func (r *Request) reset(e Entry) {
	txn := r.Txn
	*r = Request{Index: e.Index, Term: e.Term}
	r.Txn = Txn{Compares: emptied(txn.Compares), Success: emptied(txn.Success), Failure: emptied(txn.Failure)}
}

// emptied returns a slice to fill anew, which holds on to nothing it had.
func emptied[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// decode is Decode into a request that is used again.
func (r *Request) decode(e Entry) error {
	r.reset(e)
	w := wire{data: e.Data, end: len(e.Data)}
	var err error
	switch {
	case e.Type == raftpb.EntryConfChange:
		err = r.confChange(w)
	case e.Type != raftpb.EntryNormal:
		err = fmt.Errorf("an entry of type %d, which etcd does not write", e.Type)
	case len(e.Data) == 0:
		r.Kind = KindNoOp
	case r.isV2(w):
		err = r.v2(w)
	default:
		err = r.internal(w)
	}
	if err != nil {
		return fmt.Errorf("decode entry %d: %w", e.Index, err)
	}
	return nil
}

// internal decodes etcdserverpb.InternalRaftRequest: first it looks what is asked
// for, then it decodes that.
func (r *Request) internal(w wire) error {
	best, first := len(requestFields), w
	for w.next() {
		switch {
		case w.isNumber(1):
			r.ID = w.varint
		case w.isBytes(100):
			r.header(w.message())
		default:
			at := len(requestFields)
			if w.kind == protowire.BytesType {
				at = rank(w.field)
			}
			best = min(best, at)
			if at == len(requestFields) && len(r.Unknown) < maxUnknown {
				r.Unknown = append(r.Unknown, int(w.field))
			}
		}
	}
	if w.bad {
		return w.err()
	}
	if best == len(requestFields) {
		return fmt.Errorf("no request that is known among fields %v", r.Unknown)
	}
	r.Kind = requestFields[best].kind
	return r.bodies(first, requestFields[best].number)
}

// header decodes etcdserverpb.RequestHeader, which has the id since etcd 3.1.
func (r *Request) header(w wire) {
	for w.next() {
		switch {
		case w.isNumber(1) && r.ID == 0:
			r.ID = w.varint
		case w.isBytes(2):
			r.Username = string(w.bytes())
		}
	}
}

// bodies decodes the field that counts, which may come more than once: protobuf
// merges them.
func (r *Request) bodies(w wire, number protowire.Number) error {
	d := decoder{left: maxOps}
	for w.next() {
		if w.isBytes(number) {
			d.body(r, w.message())
		}
	}
	if d.err != nil {
		r.Kind = KindUnknown
	}
	return d.err
}

// decoder decodes the body of a request. The first error stays.
type decoder struct {
	left int // operations and compares that may still come
	err  error
}

// body decodes the message that a request has for its kind.
func (d *decoder) body(r *Request, w wire) {
	switch r.Kind {
	case KindPut:
		d.op(&r.Op, OpPut, w)
	case KindDeleteRange:
		d.op(&r.Op, OpDeleteRange, w)
	case KindRange:
		d.op(&r.Op, OpRange, w)
	case KindTxn:
		d.txn(&r.Txn, w, 0)
	case KindCompaction:
		d.compaction(r, w)
	case KindLeaseGrant:
		d.leaseGrant(&r.Lease, w)
	case KindLeaseRevoke:
		d.leaseRevoke(&r.Lease, w)
	case KindLeaseCheckpoint:
		d.checkpoints(r, w)
	case KindAlarm:
		d.alarm(&r.Alarm, w)
	case KindClusterVersion:
		d.clusterVersion(r, w)
	case KindMemberAttributes:
		d.memberAttributes(&r.Member, w)
	case KindDowngrade:
		d.downgrade(&r.Downgrade, w)
	}
}

// done keeps the error of a message that was read to its end.
func (d *decoder) done(w *wire) {
	if d.err == nil {
		d.err = w.err()
	}
}

// count says whether one more operation or compare may come.
func (d *decoder) count() bool {
	if d.left--; d.left < 0 && d.err == nil {
		d.err = errOps
	}
	return d.err == nil
}
