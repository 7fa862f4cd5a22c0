package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/clientv3util"
)

// workload makes every kind of request, among them many that etcd refuses, in an
// order that follows from the seed.
type workload struct {
	t         *testing.T
	s         *server
	rand      *rand.Rand
	compact   bool
	leases    []clientv3.LeaseID // also revoked ones
	rev       int64              // the current one, about
	compacted int64              // 0 if nothing was
	txns      []string           // of each txn what etcd said of it
}

func newWorkload(t *testing.T, s *server, seed uint64, compact bool) *workload {
	return &workload{t: t, s: s, rand: rand.New(rand.NewPCG(seed, 0)), compact: compact, leases: []clientv3.LeaseID{0, 99}}
}

// restarted goes on with a new server on the same data.
func (w *workload) restarted(s *server) { w.s = s }

func (w *workload) key() string    { return fmt.Sprintf("/k/%02d", w.rand.IntN(25)) }
func (w *workload) value() string  { return fmt.Sprint("v", w.rand.IntN(3)) }
func (w *workload) one(n int) bool { return w.rand.IntN(n) == 0 }

func (w *workload) lease() clientv3.LeaseID { return w.leases[w.rand.IntN(len(w.leases))] }

// run makes n requests.
func (w *workload) run(ctx context.Context, n int) {
	requests := []struct {
		weight int
		do     func(context.Context)
	}{
		{30, w.put}, {10, w.del}, {50, w.txn}, {6, w.grant}, {2, w.revoke}, {3, w.compaction}, {1, w.alarm},
	}
	for range n {
		at := w.rand.IntN(102)
		for _, r := range requests {
			if at -= r.weight; at < 0 {
				r.do(ctx)
				break
			}
		}
	}
}

func (w *workload) put(ctx context.Context) {
	_, _ = w.s.client.Do(ctx, w.putOp(w.key()))
}

// kept are keys that no txn deletes: etcd 3.7.3 ends with a panic if a txn deletes
// a key and another one in it then keeps the key's value or lease.
func (w *workload) kept() string { return fmt.Sprintf("/i/%d", w.rand.IntN(6)) }

// putOp is a put, which may keep the value or lease of another key.
func (w *workload) putOp(key string) clientv3.Op {
	switch {
	case w.one(8):
		return clientv3.OpPut(w.kept(), "", clientv3.WithIgnoreValue(), clientv3.WithLease(w.lease()))
	case w.one(8):
		return clientv3.OpPut(w.kept(), w.value(), clientv3.WithIgnoreLease())
	case w.one(8):
		return clientv3.OpPut(w.kept(), w.value(), clientv3.WithLease(w.lease()))
	case w.one(3):
		return clientv3.OpPut(key, w.value(), clientv3.WithLease(w.lease()))
	}
	return clientv3.OpPut(key, w.value(), clientv3.WithPrevKV())
}

func (w *workload) del(ctx context.Context) {
	if w.one(6) {
		_, _ = w.s.client.Delete(ctx, w.kept())
	}
	_, _ = w.s.client.Do(ctx, w.delOp(w.key()))
}

// delOp is a delete of a key or of a range.
func (w *workload) delOp(key string) clientv3.Op {
	switch {
	case w.one(12):
		return clientv3.OpDelete(key, clientv3.WithFromKey())
	case w.one(5):
		return clientv3.OpDelete(key, clientv3.WithRange(w.key()))
	}
	return clientv3.OpDelete(key)
}

func (w *workload) txn(ctx context.Context) {
	compares, success, failure := w.branches(2)
	success = append(success, clientv3.OpDelete("/none")) // or it would be a read, which is not logged
	r, err := w.s.client.Txn(ctx).If(compares...).Then(success...).Else(failure...).Commit()
	switch {
	case err == nil:
		w.rev = r.Header.Revision
		w.txns = append(w.txns, txnResult(r.Succeeded, r.Header.Revision, false))
	case !apiRefuses(err):
		w.txns = append(w.txns, txnResult(false, 0, true))
	}
}

// apiRefuses says whether a request did not get into the log.
func apiRefuses(err error) bool {
	return err.Error() == "etcdserver: duplicate key given in txn request"
}

// branches makes a txn with others in it up to a depth.
func (w *workload) branches(depth int) (compares []clientv3.Cmp, success, failure []clientv3.Op) {
	for range w.rand.IntN(3) {
		compares = append(compares, w.compare())
	}
	return compares, w.ops(depth), w.ops(depth)
}

func (w *workload) ops(depth int) []clientv3.Op {
	var ops []clientv3.Op
	for range w.rand.IntN(4) {
		switch at := w.rand.IntN(12); {
		case at < 5:
			ops = append(ops, w.putOp(w.key()))
		case at < 8:
			ops = append(ops, w.delOp(w.key()))
		case at < 10 && depth > 0:
			ops = append(ops, clientv3.OpTxn(w.branches(depth-1)))
		case w.one(3):
			ops = append(ops, clientv3.OpGet(w.key(), clientv3.WithRev(w.near())))
		default:
			ops = append(ops, clientv3.OpGet(w.key()))
		}
	}
	return ops
}

// near is a revision about the current one.
func (w *workload) near() int64 { return max(w.rev-2+w.rand.Int64N(5), 1) }

// compare is a compare of any target and order, of a key or a range.
func (w *workload) compare() clientv3.Cmp {
	key := w.key()
	order := []string{"=", "!=", ">", "<"}[w.rand.IntN(4)]
	var c clientv3.Cmp
	switch w.rand.IntN(6) {
	case 0:
		c = clientv3.Compare(clientv3.Value(key), order, w.value())
	case 1:
		c = clientv3.Compare(clientv3.CreateRevision(key), order, w.near()*w.rand.Int64N(2))
	case 2:
		c = clientv3.Compare(clientv3.ModRevision(key), order, w.near()*w.rand.Int64N(2))
	case 3:
		c = clientv3.Compare(clientv3.Version(key), order, w.rand.Int64N(4))
	case 4:
		c = clientv3.Compare(clientv3.LeaseValue(key), order, w.lease())
	default:
		c = clientv3util.KeyExists(key)
	}
	switch {
	case w.one(8):
		c = c.WithPrefix()
	case w.one(6):
		c = c.WithRange(w.key())
	}
	return c
}

func (w *workload) grant(ctx context.Context) {
	r := &pb.LeaseGrantRequest{ID: w.rand.Int64N(40) + 1, TTL: 1000 + w.rand.Int64N(1000)}
	switch {
	case w.one(20):
		r.TTL = maxTTL + 1
	case w.one(10):
		r.TTL = -5
		r.ID += 1000 // ends by itself
	case w.one(3):
		r.ID = 0 // etcd chooses
	}
	if l, err := w.s.Server.LeaseGrant(ctx, r); err == nil {
		w.leases = append(w.leases, clientv3.LeaseID(l.ID))
	}
}

func (w *workload) revoke(ctx context.Context) {
	if id := w.lease(); id != 0 {
		_, _ = w.s.Server.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: int64(id)})
	}
}

func (w *workload) compaction(ctx context.Context) {
	rev := w.rev + 1000 // is refused
	if w.compact {
		rev = max(w.rev-w.rand.Int64N(200), 0)
	}
	if _, err := w.s.client.Compact(ctx, rev, clientv3.WithCompactPhysical()); err == nil {
		w.compacted = rev
	}
}

// alarm raises an alarm, makes some requests under it and disarms it.
func (w *workload) alarm(ctx context.Context) {
	a := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_NOSPACE, MemberID: uint64(w.s.Server.MemberID())}
	if w.one(3) {
		a.Alarm = pb.AlarmType_CORRUPT
	}
	_, err := w.s.Server.Alarm(ctx, a)
	must(w.t, err)
	for range 10 {
		w.put(ctx)
		w.del(ctx)
		w.txn(ctx)
		w.grant(ctx)
		w.revoke(ctx)
	}
	if w.one(3) { // of another member: both are raised for a while
		other := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: a.Alarm, MemberID: 7}
		_, err = w.s.Server.Alarm(ctx, other)
		must(w.t, err)
		other.Action = pb.AlarmRequest_DEACTIVATE
		defer func() {
			_, err = w.s.Server.Alarm(ctx, other)
			must(w.t, err)
		}()
	}
	a.Action = pb.AlarmRequest_DEACTIVATE
	_, err = w.s.Server.Alarm(ctx, a)
	must(w.t, err)
	w.put(ctx)
	w.txn(ctx)
}

// expire writes keys under a short lease and waits for their end.
func (w *workload) expire(ctx context.Context) {
	l, err := w.s.client.Grant(ctx, testMinTTL)
	must(w.t, err)
	for _, key := range []string{"/e/2", "/e/1", "/e/3"} {
		_, err := w.s.client.Put(ctx, key, "short", clientv3.WithLease(l.ID))
		must(w.t, err)
	}
	_, err = w.s.client.Put(ctx, "/e/3", "stays")
	must(w.t, err)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		g, err := w.s.client.Get(ctx, "/e/", clientv3.WithPrefix())
		must(w.t, err)
		if len(g.Kvs) == 1 {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatal("the lease does not expire")
		}
	}
}
