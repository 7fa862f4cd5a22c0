package replay

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// smallLog is a log of few keys with all that makes placing hard: lost races that
// are tried again with the same value, leases that are gone, writes of several
// keys, deletes of ranges and alarms. Compares name only revisions that a client
// may have read.
type smallLog struct {
	rand    *rand.Rand
	m       *Machine
	entries []Entry
	made    map[uint64]int64 // the revision of each entry
	after   map[uint64]int64 // the current one after it
	read    map[string][]int64
	changes []Change
	own     int64 // leases whose ids etcd chose
}

func newSmallLog(t testing.TB, seed uint64, n int) *smallLog {
	l := &smallLog{
		rand: rand.New(rand.NewPCG(seed, 7)), m: New(Options{}), made: map[uint64]int64{}, after: map[uint64]int64{}, read: map[string][]int64{},
	}
	for range n {
		l.apply(t, l.request())
	}
	return l
}

// apply appends a request to the log.
func (l *smallLog) apply(t testing.TB, r *pb.InternalRaftRequest) {
	e := logOf(t, r)[0]
	e.Index = uint64(len(l.entries) + 1)
	o := l.m.Apply(e)
	must(t, o.Err)
	l.entries = append(l.entries, e)
	l.made[e.Index], l.after[e.Index] = o.Revision, l.m.Revision()
	for _, c := range o.Changes {
		c.Value = slices.Clone(c.Value)
		l.changes = append(l.changes, c)
		if !c.Tombstone {
			l.read[c.Key] = append(l.read[c.Key], c.Main)
		}
	}
}

func (l *smallLog) one(n int) bool { return l.rand.IntN(n) == 0 }

// seen is the revision of a key that a client knows: mostly the last one.
func (l *smallLog) seen(key string) int64 {
	mods := l.read[key]
	switch {
	case len(mods) == 0 || l.one(12):
		return 0
	case l.one(5):
		return mods[l.rand.IntN(len(mods))]
	}
	if k, ok := l.m.Key(key); ok {
		return k.Mod
	}
	return 0
}

// lease is the id of one that may be there: chosen by the client, or by etcd.
func (l *smallLog) lease() int64 {
	if l.own > 0 && l.one(2) {
		return ownLeases + l.own - l.rand.Int64N(min(l.own, 3))
	}
	return 1 + l.rand.Int64N(6)
}

// request is one of any kind.
func (l *smallLog) request() *pb.InternalRaftRequest {
	key := string(rune('a' + l.rand.IntN(12)))
	value := fmt.Sprint(len(l.entries))
	if l.one(6) {
		value = "same" // as a writer that tries again
	}
	switch l.rand.IntN(40) {
	case 0:
		return put(key, value)
	case 1:
		return del(key, "")
	case 2:
		return del(key, string(rune('a'+l.rand.IntN(12))))
	case 3, 4:
		return txn(cmps{modIs(key, l.seen(key))}, ops{op(put(key, value)), op(put("z"+key, value))}, nil)
	case 5:
		if l.one(2) {
			l.own++
			return grant(ownLeases+l.own, 60)
		}
		return grant(1+l.rand.Int64N(6), 60)
	case 6, 7:
		return revoke(l.lease())
	case 8, 9, 10:
		return txn(cmps{modIs(key, l.seen(key))}, ops{op(put(key, value, leased(l.lease())))}, ops{op(get(key, 0))})
	case 11:
		return compact(max(l.m.Revision()-5, 1))
	case 12:
		if l.one(3) {
			return raise(1, noSpace)
		}
		return disarm(1, noSpace)
	case 13:
		return disarm(1, noSpace)
	case 14, 15:
		version := int64(0)
		if k, ok := l.m.Key("compact_rev_key"); ok {
			version = k.Version - int64(l.rand.IntN(2))
		}
		return txn(cmps{compare("compact_rev_key", pb.Compare_VERSION, pb.Compare_EQUAL, version)}, ops{op(put("compact_rev_key", value))}, ops{op(get("compact_rev_key", 0))})
	case 16, 17, 18:
		return txn(cmps{modIs(key, l.seen(key))}, ops{op(del(key, ""))}, ops{op(get(key, 0))})
	}
	return txn(cmps{modIs(key, l.seen(key))}, ops{op(put(key, value))}, ops{op(get(key, 0))})
}

// known is what databases tell: the records that a compaction leaves, or some of
// them, and a point or two.
func (l *smallLog) known() Known {
	k := Known{}
	floor := l.rand.Int64N(l.m.Revision() + 1)
	last := map[string]Change{}
	for _, c := range l.changes {
		if c.Main <= floor {
			last[c.Key] = c
		}
	}
	for _, c := range l.changes {
		survives := c.Main > floor || !c.Tombstone && last[c.Key].Main == c.Main && last[c.Key].Sub == c.Sub
		if survives && !l.one(10) {
			r := Record{Key: c.Key, Main: c.Main, Tombstone: c.Tombstone}
			if !c.Tombstone {
				r.Sum = sha256.Sum256(c.Value)
			}
			k.Records = append(k.Records, r)
		}
	}
	for range l.rand.IntN(3) {
		index := l.entries[l.rand.IntN(len(l.entries))].Index
		k.Points = append(k.Points, Point{index, l.after[index]})
	}
	return k
}

// TestPlaceSmall places parts of many small logs: what is placed has to be right.
func TestPlaceSmall(t *testing.T) {
	entries, placed, fits := 0, 0, 0
	for seed := range uint64(3000) {
		n := 30 + int(seed%170)
		l := newSmallLog(t, seed, n)
		from := l.rand.IntN(n / 2)
		to := n - l.rand.IntN(n/3)
		p := Place(slices.Values(l.entries[from:to]), l.known())
		share := score(t, p, l.made)
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, p)
		}
		entries += len(p.Entries)
		placed += int(share * float64(len(p.Entries)))
		if p.Fits {
			fits++
		}
	}
	t.Logf("%d of %d entries placed, %d logs fit", placed, entries, fits)
	if placed < entries/5 {
		t.Errorf("only %d of %d entries placed", placed, entries)
	}
}

// TestPlaceTrustsNoStart begins a log right after a write, with a writer who has
// not seen it: what the next writer names was made before the log.
func TestPlaceTrustsNoStart(t *testing.T) {
	l := &smallLog{m: New(Options{}), made: map[uint64]int64{}, after: map[uint64]int64{}, read: map[string][]int64{}}
	for _, r := range []*pb.InternalRaftRequest{put("a", "1"), put("x", "1"), put("z", "1"), put("z", "2"), put("a", "2")} {
		l.apply(t, r)
	}
	cut := len(l.entries)
	cas := func(key string, mod int64) {
		l.apply(t, txn(cmps{modIs(key, mod)}, ops{op(put(key, fmt.Sprint(len(l.entries))))}, nil))
	}
	cas("z", 4) // too late
	cas("a", 2) // too late: a was written at 6, as the next writer has seen
	cas("x", 0) // there is one
	cas("a", 6)
	for range 80 {
		k, _ := l.m.Key("a")
		cas("a", k.Mod)
	}
	k := Known{Points: []Point{{uint64(len(l.entries)), l.m.Revision()}}}
	p := Place(slices.Values(l.entries[cut:]), k)
	if share := score(t, p, l.made); !p.Fits || share < 0.8 {
		t.Errorf("%.2f%% placed: %+v", 100*share, p)
	}
}
