package replay

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// apiServerLog makes a log as an API server writes it: creates, updates that are
// mostly not lost, deletes, and events under leases, with values of 1 to 8 KiB.
func apiServerLog(t testing.TB, n int) []Entry {
	r := rand.New(rand.NewPCG(1, 2))
	value := strings.Repeat("0123456789abcdef", 512)
	mods := map[string]int64{}
	revision := int64(1)
	requests := []*pb.InternalRaftRequest{grant(1, 3660)}
	for i := range n {
		key := fmt.Sprintf("/registry/pods/namespace-%d/deployment-7d4b9c%04d", r.IntN(20), r.IntN(2000))
		write := put(key, value[:1024+r.IntN(7<<10)])
		mod := mods[key]
		switch {
		case r.IntN(10) == 0:
			key = fmt.Sprintf("/registry/events/default/deployment.%016x", i)
			write, mod = put(key, value[:1024], leased(1)), 0
		case r.IntN(20) == 0:
			mod++ // lost
		case r.IntN(20) == 0 && mod != 0:
			write = del(key, "")
		}
		requests = append(requests, txn(cmps{modIs(key, mod)}, ops{op(write)}, ops{op(get(key, 0))}))
		if mod == mods[key] {
			revision++
			mods[key] = revision
			if write.DeleteRange != nil {
				delete(mods, key)
			}
		}
	}
	return logOf(t, requests...)
}

func BenchmarkPlace(b *testing.B) {
	entries := apiServerLog(b, 50_000)
	m := New(Options{})
	var k Known
	bytes := 0
	for _, e := range entries {
		bytes += len(e.Data)
		for _, c := range m.Apply(e).Changes {
			if c.Main%5 == 0 {
				k.Records = append(k.Records, Record{Key: c.Key, Main: c.Main, Tombstone: c.Tombstone, Sum: sha256.Sum256(c.Value)})
			}
		}
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		Place(slices.Values(entries[1000:]), k)
	}
	b.ReportMetric(float64(b.N*len(entries))/b.Elapsed().Seconds(), "entries/s")
}

func BenchmarkApply(b *testing.B) {
	entries := apiServerLog(b, 20_000)
	bytes := 0
	for _, e := range entries {
		bytes += len(e.Data)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	revisions := int64(0)
	for b.Loop() {
		m := New(Options{})
		for _, e := range entries {
			if o := m.Apply(e); o.Err != nil {
				b.Fatal(o.Err)
			}
		}
		revisions = m.Revision()
	}
	if revisions < 15_000 {
		b.Errorf("%d revisions: the log is not what it should be", revisions)
	}
	b.ReportMetric(float64(b.N*len(entries))/b.Elapsed().Seconds(), "entries/s")
}
