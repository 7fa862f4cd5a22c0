package replay

import (
	"google.golang.org/protobuf/encoding/protowire"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Field numbers in this file are those of etcd v3.7 api/etcdserverpb/rpc.proto.

// txn decodes a TxnRequest.
func (d *decoder) txn(t *Txn, w wire, depth int) {
	if depth > maxDepth && d.err == nil {
		d.err = errDepth
	}
	for d.err == nil && w.next() {
		switch {
		case w.isBytes(1) && d.count():
			t.Compares = append(t.Compares, Compare{})
			d.compare(&t.Compares[len(t.Compares)-1], w.message())
		case w.isBytes(2):
			t.Success = d.requestOp(t.Success, w.message(), depth)
		case w.isBytes(3):
			t.Failure = d.requestOp(t.Failure, w.message(), depth)
		}
	}
	d.done(&w)
}

// requestOp decodes a RequestOp, whose fields are a oneof: the last one counts.
func (d *decoder) requestOp(ops []Op, w wire, depth int) []Op {
	if !d.count() {
		return ops
	}
	ops = append(ops, Op{})
	op := &ops[len(ops)-1]
	for d.err == nil && w.next() {
		if w.kind != protowire.BytesType || w.field < 1 || w.field > 4 {
			continue
		}
		kind := OpKind(w.field)
		if op.Kind != kind {
			*op = Op{}
		}
		if kind != OpTxn {
			d.op(op, kind, w.message())
			continue
		}
		op.Kind = OpTxn
		if op.Txn == nil {
			op.Txn = &Txn{}
		}
		d.txn(op.Txn, w.message(), depth+1)
	}
	d.done(&w)
	return ops
}

// op decodes a RangeRequest, PutRequest or DeleteRangeRequest.
func (d *decoder) op(o *Op, kind OpKind, w wire) {
	o.Kind = kind
	for w.next() {
		switch {
		case w.isBytes(1):
			o.Key = w.bytes()
		case kind == OpPut:
			o.putField(&w)
		case w.isBytes(2):
			o.RangeEnd = w.bytes()
		case w.isNumber(4) && kind == OpRange:
			o.Revision = int64(w.varint)
		}
	}
	d.done(&w)
}

// putField takes a field of a PutRequest other than the key.
func (o *Op) putField(w *wire) {
	switch {
	case w.isBytes(2):
		o.Value, o.ValueOffset = w.bytes(), w.from
	case w.isNumber(3):
		o.Lease = int64(w.varint)
	case w.isNumber(5):
		o.IgnoreValue = w.varint != 0
	case w.isNumber(6):
		o.IgnoreLease = w.varint != 0
	}
}

// Field numbers of what a Compare compares with; they are a oneof.
const (
	operandVersion = 4
	operandCreate  = 5
	operandMod     = 6
	operandValue   = 7
	operandLease   = 8
)

// compare decodes a Compare.
func (d *decoder) compare(c *Compare, w wire) {
	for w.next() {
		switch {
		case w.isBytes(3):
			c.Key = w.bytes()
		case w.isBytes(64):
			c.RangeEnd = w.bytes()
		case w.isBytes(operandValue):
			c.operand, c.Number, c.Value = operandValue, 0, w.bytes()
		case w.isNumber(1):
			c.Result = pb.Compare_CompareResult(w.varint)
		case w.isNumber(2):
			c.Target = pb.Compare_CompareTarget(w.varint)
		case w.isNumber(operandVersion), w.isNumber(operandCreate), w.isNumber(operandMod), w.isNumber(operandLease):
			c.operand, c.Number, c.Value = int(w.field), int64(w.varint), nil
		}
	}
	d.done(&w)
	c.settle()
}

// operands says in which field each target has what it is compared with.
var operands = [...]int{
	pb.Compare_VERSION: operandVersion, pb.Compare_CREATE: operandCreate, pb.Compare_MOD: operandMod,
	pb.Compare_VALUE: operandValue, pb.Compare_LEASE: operandLease,
}

// settle drops an operand of another target: etcd compares with zero then (etcd
// v3.7 server/etcdserver/txn/txn.go, compareKV).
func (c *Compare) settle() {
	known := c.Target >= 0 && int(c.Target) < len(operands)
	if !known || c.operand != operands[c.Target] {
		c.Number, c.Value = 0, nil
	}
}

// compaction decodes a CompactionRequest.
func (d *decoder) compaction(r *Request, w wire) {
	for w.next() {
		if w.isNumber(1) {
			r.CompactRevision = int64(w.varint)
		}
	}
	d.done(&w)
}

// leaseGrant decodes a LeaseGrantRequest.
func (d *decoder) leaseGrant(l *Lease, w wire) {
	for w.next() {
		switch {
		case w.isNumber(1):
			l.TTL = int64(w.varint)
		case w.isNumber(2):
			l.ID = int64(w.varint)
		}
	}
	d.done(&w)
}

// leaseRevoke decodes a LeaseRevokeRequest.
func (d *decoder) leaseRevoke(l *Lease, w wire) {
	for w.next() {
		if w.isNumber(1) {
			l.ID = int64(w.varint)
		}
	}
	d.done(&w)
}

// checkpoints decodes a LeaseCheckpointRequest.
func (d *decoder) checkpoints(r *Request, w wire) {
	for d.err == nil && w.next() {
		if !w.isBytes(1) || !d.count() {
			continue
		}
		var l Lease
		m := w.message()
		for m.next() {
			switch {
			case m.isNumber(1):
				l.ID = int64(m.varint)
			case m.isNumber(2):
				l.Remaining = int64(m.varint)
			}
		}
		d.done(&m)
		r.Checkpoints = append(r.Checkpoints, l)
	}
	d.done(&w)
}

// alarm decodes an AlarmRequest.
func (d *decoder) alarm(a *AlarmRequest, w wire) {
	for w.next() {
		switch {
		case w.isNumber(1):
			a.Action = pb.AlarmRequest_AlarmAction(w.varint)
		case w.isNumber(2):
			a.Member = w.varint
		case w.isNumber(3):
			a.Type = pb.AlarmType(w.varint)
		}
	}
	d.done(&w)
}
