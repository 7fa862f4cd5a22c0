package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// logOf numbers requests as the entries of a log.
func logOf(t testing.TB, requests ...*pb.InternalRaftRequest) []Entry {
	t.Helper()
	var entries []Entry
	for i, r := range requests {
		if r.Header == nil {
			r.Header = &pb.RequestHeader{ID: uint64(1000 + i)}
		}
		data, err := proto.Marshal(r)
		must(t, err)
		entries = append(entries, Entry{Index: uint64(i + 1), Term: 2, Data: data})
	}
	return entries
}

// Short ways to write requests.
type (
	ops  = []*pb.RequestOp
	cmps = []*pb.Compare
)

func put(key, value string, change ...func(*pb.PutRequest)) *pb.InternalRaftRequest {
	p := &pb.PutRequest{Key: []byte(key), Value: []byte(value)}
	for _, f := range change {
		f(p)
	}
	return &pb.InternalRaftRequest{Put: p}
}

func leased(id int64) func(*pb.PutRequest) { return func(p *pb.PutRequest) { p.Lease = id } }
func ignoreValue(p *pb.PutRequest)         { p.IgnoreValue, p.Value = true, nil }
func ignoreLease(p *pb.PutRequest)         { p.IgnoreLease = true }

func del(key, end string) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{DeleteRange: &pb.DeleteRangeRequest{Key: []byte(key), RangeEnd: []byte(end)}}
}

func txn(c cmps, success, failure ops) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{Txn: &pb.TxnRequest{Compare: c, Success: success, Failure: failure}}
}

// op takes a request for an operation of a txn.
func op(r *pb.InternalRaftRequest) *pb.RequestOp {
	switch {
	case r.Put != nil:
		return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: r.Put}}
	case r.DeleteRange != nil:
		return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: r.DeleteRange}}
	case r.Range != nil:
		return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: r.Range}}
	}
	return &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: r.Txn}}
}

func get(key string, rev int64) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{Range: &pb.RangeRequest{Key: []byte(key), Revision: rev}}
}

func compare(key string, target pb.Compare_CompareTarget, result pb.Compare_CompareResult, v int64) *pb.Compare {
	c := &pb.Compare{Key: []byte(key), Target: target, Result: result}
	switch target {
	case pb.Compare_VERSION:
		c.TargetUnion = &pb.Compare_Version{Version: v}
	case pb.Compare_CREATE:
		c.TargetUnion = &pb.Compare_CreateRevision{CreateRevision: v}
	case pb.Compare_MOD:
		c.TargetUnion = &pb.Compare_ModRevision{ModRevision: v}
	case pb.Compare_LEASE:
		c.TargetUnion = &pb.Compare_Lease{Lease: v}
	}
	return c
}

func modIs(key string, v int64) *pb.Compare { return compare(key, pb.Compare_MOD, pb.Compare_EQUAL, v) }

func valueIs(key, v string) *pb.Compare {
	return &pb.Compare{Key: []byte(key), Target: pb.Compare_VALUE, TargetUnion: &pb.Compare_Value{Value: []byte(v)}}
}

// upTo makes a compare one of a range.
func upTo(c *pb.Compare, end string) *pb.Compare {
	c.RangeEnd = []byte(end)
	return c
}

func grant(id, ttl int64) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{LeaseGrant: &pb.LeaseGrantRequest{ID: id, TTL: ttl}}
}

func revoke(id int64) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{LeaseRevoke: &pb.LeaseRevokeRequest{ID: id}}
}

func compact(rev int64) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{Compaction: &pb.CompactionRequest{Revision: rev}}
}

func alarm(action pb.AlarmRequest_AlarmAction, member uint64, t pb.AlarmType) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{Alarm: &pb.AlarmRequest{Action: action, MemberID: member, Alarm: t}}
}

func raise(member uint64, t pb.AlarmType) *pb.InternalRaftRequest {
	return alarm(pb.AlarmRequest_ACTIVATE, member, t)
}

func disarm(member uint64, t pb.AlarmType) *pb.InternalRaftRequest {
	return alarm(pb.AlarmRequest_DEACTIVATE, member, t)
}

// summary writes what came of an entry: its revision and changes, or why none.
func summary(o Outcome) string {
	parts := []string{}
	if o.Revision != 0 {
		parts = append(parts, fmt.Sprint(o.Revision))
	}
	for _, c := range o.Changes {
		if c.Tombstone {
			parts = append(parts, fmt.Sprintf("-%s", c.Key))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s=%s(%d,%d,%d)", c.Key, c.Value, c.Create, c.Version, c.Lease))
	}
	if o.Rejected != NotRejected {
		parts = append(parts, o.Rejected.String())
	}
	if o.Doubts != 0 {
		parts = append(parts, "?")
	}
	return strings.Join(parts, " ")
}

const (
	noSpace = pb.AlarmType_NOSPACE
	corrupt = pb.AlarmType_CORRUPT
)

// TestRules has each rule of applying, with a near miss.
func TestRules(t *testing.T) {
	type request = *pb.InternalRaftRequest
	tests := []struct {
		name  string
		rules Rules
		log   []request
		want  string // of the last entries, as many as there are lines
	}{
		{"put makes a key", Rules{}, []request{put("a", "1")}, "2 a=1(2,1,0)"},
		{"put changes a key", Rules{}, []request{put("a", "1"), put("a", "2")}, "3 a=2(2,2,0)"},
		{"put after a delete begins a lifetime", Rules{}, []request{put("a", "1"), del("a", ""), put("a", "2")}, "3 -a\n4 a=2(4,1,0)"},
		{"put under a lease", Rules{}, []request{grant(7, 60), put("a", "1", leased(7))}, "\n2 a=1(2,1,7)"},
		{"put under no such lease", Rules{}, []request{grant(7, 60), put("a", "1", leased(8)), put("a", "1")}, "lease-not-found\n2 a=1(2,1,0)"},
		{"put keeps the value", Rules{}, []request{put("a", "1"), grant(7, 60), put("a", "", ignoreValue, leased(7))}, "3 a=1(2,2,7)"},
		{"put keeps the value of no key", Rules{}, []request{put("a", "1"), put("b", "", ignoreValue)}, "key-not-found"},
		{"put keeps the lease", Rules{}, []request{grant(7, 60), put("a", "1", leased(7)), put("a", "2", ignoreLease)}, "3 a=2(2,2,7)"},
		{"put keeps the lease of no key", Rules{}, []request{put("a", "2", ignoreLease)}, "key-not-found"},

		{"delete", Rules{}, []request{put("a", "1"), del("a", "")}, "3 -a"},
		{"delete of nothing", Rules{}, []request{put("a", "1"), del("b", ""), put("a", "2")}, "\n3 a=2(2,2,0)"},
		{"delete of a range in order", Rules{}, []request{put("c", ""), put("a", ""), put("b", ""), del("a", "c")}, "5 -a -b"},
		{"delete of all keys from one on", Rules{}, []request{put("c", ""), put("a", ""), put("b", ""), del("b", "\x00")}, "5 -b -c"},
		{"delete of a range that ends where it begins", Rules{}, []request{put("a", ""), del("a", "a")}, ""},

		{"txn that holds", Rules{}, []request{put("a", "1"), txn(cmps{modIs("a", 2)}, ops{op(put("a", "2"))}, nil)}, "3 a=2(2,2,0)"},
		{"txn that does not", Rules{}, []request{put("a", "1"), txn(cmps{modIs("a", 3)}, ops{op(put("a", "2"))}, nil)}, "compare-failed"},
		{"txn takes its other branch", Rules{}, []request{txn(cmps{modIs("a", 3)}, ops{op(put("a", "2"))}, ops{op(put("b", "2"))})}, "2 b=2(2,1,0)"},
		{"txn of no effect", Rules{}, []request{txn(nil, ops{op(del("a", "")), op(get("a", 0))}, nil), put("a", "")}, "\n2 a=(2,1,0)"},
		{"txn of several changes", Rules{}, []request{put("a", "1"), txn(nil, ops{op(put("b", "2")), op(del("a", "")), op(put("c", "3"))}, nil)}, "3 b=2(3,1,0) -a c=3(3,1,0)"},
		{"txn sees its own changes", Rules{}, []request{put("a", "1"), txn(nil, ops{op(put("b", "2")), op(del("a", "c"))}, nil)}, "3 b=2(3,1,0) -a -b"},
		{"txn deletes and makes a key", Rules{}, []request{put("a", "1"), txn(nil, ops{op(del("a", "")), op(put("a", "2"))}, nil)}, "3 -a a=2(3,1,0)"},
		{"txn with no such lease in its path", Rules{}, []request{txn(nil, ops{op(put("a", "1")), op(put("b", "2", leased(7)))}, nil), put("c", "")}, "lease-not-found\n2 c=(2,1,0)"},
		{"txn with no such lease in the other branch", Rules{}, []request{txn(nil, ops{op(put("a", "1"))}, ops{op(put("b", "2", leased(7)))})}, "2 a=1(2,1,0)"},
		{"txn reads the future", Rules{}, []request{txn(nil, ops{op(put("a", "1")), op(get("a", 2))}, nil)}, "future-revision"},
		{"txn reads the present", Rules{}, []request{txn(nil, ops{op(put("a", "1")), op(get("a", 1))}, nil)}, "2 a=1(2,1,0)"},
		{"txn reads what is compacted", Rules{}, []request{put("a", ""), put("a", ""), compact(3), txn(nil, ops{op(put("a", "1")), op(get("a", 2))}, nil)}, "compacted"},
		{"txn reads the compaction itself", Rules{}, []request{put("a", ""), put("a", ""), compact(3), txn(nil, ops{op(put("a", "1")), op(get("a", 3))}, nil)}, "4 a=1(2,3,0)"},

		{"nested txn is settled before", Rules{}, []request{txn(nil, ops{op(put("a", "1")), op(txn(cmps{modIs("a", 0)}, ops{op(put("b", "yes"))}, ops{op(put("b", "no"))}))}, nil)}, "2 a=1(2,1,0) b=yes(2,1,0)"},
		{"nested txn takes its other branch", Rules{}, []request{txn(nil, ops{op(put("a", "1")), op(txn(cmps{modIs("a", 2)}, ops{op(put("b", "yes"))}, ops{op(put("b", "no"))}))}, nil)}, "2 a=1(2,1,0) b=no(2,1,0)"},
		{"nested txn is checked before", Rules{}, []request{txn(nil, ops{op(put("a", "1")), op(txn(nil, ops{op(put("b", "", leased(7)))}, nil))}, nil)}, "lease-not-found"},
		{"nested txns one after another", Rules{}, []request{txn(nil, ops{
			op(txn(cmps{modIs("a", 1)}, nil, ops{op(txn(nil, ops{op(put("a", "1"))}, nil))})), op(txn(cmps{modIs("a", 1)}, ops{op(put("b", "no"))}, ops{op(put("b", "yes"))})),
		}, nil)}, "2 a=1(2,1,0) b=yes(2,1,0)"},

		{"lease granted twice", Rules{}, []request{grant(7, 60), grant(7, 60)}, "\nlease-exists"},
		{"lease of no id", Rules{}, []request{grant(0, 60)}, "lease-not-found"},
		{"longest lease", Rules{}, []request{grant(7, maxTTL), grant(8, maxTTL+1)}, "\nlease-ttl-too-large"},
		{"revoke deletes keys in order", Rules{}, []request{grant(7, 60), put("b", "", leased(7)), put("a", "", leased(7)), revoke(7)}, "4 -a -b"},
		{"revoke of no lease", Rules{}, []request{grant(7, 60), revoke(8)}, "lease-not-found"},
		{"revoke twice", Rules{}, []request{grant(7, 60), revoke(7), revoke(7)}, "\nlease-not-found"},
		{"put takes a key off its lease", Rules{}, []request{grant(7, 60), put("a", "", leased(7)), put("a", "2"), revoke(7), put("b", "")}, "\n4 b=(4,1,0)"},
		{"put moves a key to another lease", Rules{}, []request{grant(7, 60), grant(8, 60), put("a", "", leased(7)), put("a", "2", leased(8)), revoke(7), revoke(8)}, "\n4 -a"},
		{"delete takes a key off its lease", Rules{}, []request{grant(7, 60), put("a", "", leased(7)), del("a", ""), put("a", "2"), revoke(7), put("b", "")}, "\n5 b=(5,1,0)"},

		{"compaction", Rules{}, []request{put("a", ""), compact(2), compact(2)}, "\ncompacted"},
		{"compaction of the future", Rules{}, []request{put("a", ""), compact(3), compact(2)}, "future-revision\n"},
		{"compaction of nothing", Rules{}, []request{compact(0), compact(0)}, "\ncompacted"},

		{"no space", Rules{}, []request{put("a", ""), raise(1, noSpace), put("a", ""), grant(7, 60), txn(nil, ops{op(put("a", ""))}, nil), txn(nil, nil, ops{op(put("a", ""))})}, "no-space\nno-space\nno-space\nno-space"},
		{"no space lets go", Rules{}, []request{put("a", ""), put("b", ""), grant(7, 60), raise(1, noSpace), del("a", ""), txn(nil, ops{op(del("b", ""))}, nil), revoke(7), compact(2)}, "4 -a\n5 -b\n\n"},
		{"no space until disarmed", Rules{}, []request{raise(1, noSpace), raise(2, noSpace), disarm(1, noSpace), put("a", ""), disarm(2, noSpace), put("a", "")}, "no-space\n\n2 a=(2,1,0)"},
		{"another member's alarm is not disarmed", Rules{}, []request{raise(1, noSpace), disarm(2, noSpace), disarm(1, corrupt), put("a", "")}, "no-space"},
		{"no alarm", Rules{}, []request{raise(1, pb.AlarmType_NONE), alarm(pb.AlarmRequest_GET, 1, noSpace), put("a", "")}, "2 a=(2,1,0)"},
		{"no space for nested puts", Rules{}, []request{raise(1, noSpace), txn(nil, ops{op(txn(nil, ops{op(put("a", ""))}, nil))}, nil)}, "no-space"},
		{"nested puts were free", RulesFor("3.6.4"), []request{raise(1, noSpace), txn(nil, ops{op(txn(nil, ops{op(put("a", ""))}, nil))}, nil)}, "2 a=(2,1,0)"},
		{"corrupt", Rules{}, []request{put("a", ""), grant(7, 60), raise(0, corrupt), put("a", ""), del("a", ""), txn(nil, nil, nil), grant(8, 60), revoke(7), compact(2)}, "corrupt\ncorrupt\ncorrupt\ncorrupt\ncorrupt\ncorrupt"},
		{"corrupt until disarmed", Rules{}, []request{raise(0, corrupt), disarm(0, corrupt), put("a", "")}, "2 a=(2,1,0)"},
		{"both alarms", Rules{}, []request{put("a", ""), raise(1, corrupt), raise(1, noSpace), del("a", ""), disarm(1, corrupt), put("a", ""), del("a", "")}, "corrupt\n\nno-space\n3 -a"},
		{"the last alarm ruled", RulesFor("3.5.21"), []request{put("a", ""), raise(1, corrupt), raise(1, noSpace), del("a", ""), put("a", ""), disarm(1, corrupt), put("a", "")}, "3 -a\nno-space\n\n4 a=(4,1,0)"},
		{"the last alarm of its type ruled", RulesFor("3.5.21"), []request{raise(1, noSpace), raise(2, noSpace), disarm(1, noSpace), put("a", "")}, "no-space"},

		{"authentication is not tracked", Rules{}, []request{put("a", ""), {AuthEnable: &pb.AuthEnableRequest{}}, put("a", "")}, "2 a=(2,1,0)\n\n3 a=(2,2,0) ?"},
		{"authentication was off again", Rules{}, []request{{AuthUserAdd: &pb.AuthUserAddRequest{Name: "root"}}, put("a", "")}, "2 a=(2,1,0)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			values := map[string][]byte{}
			m := New(Options{Rules: tt.rules, Values: func(key string, _ int64) ([]byte, error) { return values[key], nil }})
			var got []string
			for _, e := range logOf(t, tt.log...) {
				o := m.Apply(e)
				must(t, o.Err)
				for _, c := range o.Changes {
					values[c.Key] = c.Value
				}
				got = append(got, summary(o))
			}
			lines := strings.Count(tt.want, "\n") + 1
			if d := cmp.Diff(tt.want, strings.Join(got[len(got)-lines:], "\n")); d != "" {
				t.Errorf("outcomes (-want +got):\n%s\nall: %q", d, got)
			}
		})
	}
}

// TestCompares has every target and order, against keys that are there or not.
func TestCompares(t *testing.T) {
	// a: create 2, mod 4, version 2, lease 7; b: create 3, mod 3, version 1, no lease
	log := []*pb.InternalRaftRequest{grant(7, 60), put("a", "m", leased(7)), put("b", "z"), put("a", "m", leased(7))}
	numbers := []struct {
		target pb.Compare_CompareTarget
		ofA    int64
	}{{pb.Compare_VERSION, 2}, {pb.Compare_CREATE, 2}, {pb.Compare_MOD, 4}, {pb.Compare_LEASE, 7}}
	type test struct {
		c    *pb.Compare
		want bool
	}
	var tests []test
	orders := []pb.Compare_CompareResult{pb.Compare_EQUAL, pb.Compare_NOT_EQUAL, pb.Compare_GREATER, pb.Compare_LESS}
	for _, n := range numbers {
		for i, v := range []int64{n.ofA, n.ofA - 1, n.ofA + 1} {
			for j, want := range [][]bool{{true, false, false, false}, {false, true, true, false}, {false, true, false, true}}[i] {
				tests = append(tests, test{compare("a", n.target, orders[j], v), want})
			}
		}
		tests = append(tests,
			test{compare("none", n.target, pb.Compare_EQUAL, 0), true},
			test{compare("none", n.target, pb.Compare_GREATER, 0), false},
			test{compare("none", n.target, pb.Compare_LESS, 1), true},
			test{compare("a", n.target, 9, 1), true}, // an order of a later release
		)
	}
	value := func(key, v string, order pb.Compare_CompareResult) *pb.Compare {
		c := valueIs(key, v)
		c.Result = order
		return c
	}
	wrong := modIs("a", 4) // the operand of another target counts as zero
	wrong.TargetUnion = &pb.Compare_Version{Version: 4}
	tests = append(tests,
		test{value("a", "m", pb.Compare_EQUAL), true},
		test{value("a", "l", pb.Compare_GREATER), true},
		test{value("a", "n", pb.Compare_LESS), true},
		test{value("a", "m", pb.Compare_NOT_EQUAL), false},
		test{value("none", "", pb.Compare_EQUAL), false},
		test{value("none", "x", pb.Compare_NOT_EQUAL), false},
		test{wrong, false},
		test{&pb.Compare{Key: []byte("a"), Target: 9}, true},
		test{&pb.Compare{Key: []byte("a"), Target: 9, Result: pb.Compare_LESS}, false},
		test{upTo(compare("a", pb.Compare_MOD, pb.Compare_GREATER, 2), "c"), true},
		test{upTo(compare("a", pb.Compare_MOD, pb.Compare_GREATER, 3), "c"), false},
		test{upTo(compare("a", pb.Compare_MOD, pb.Compare_GREATER, 3), "b"), true},
		test{upTo(compare("c", pb.Compare_MOD, pb.Compare_EQUAL, 0), "\x00"), true},
		test{upTo(compare("b", pb.Compare_MOD, pb.Compare_EQUAL, 0), "\x00"), false},
		test{upTo(valueIs("c", ""), "\x00"), false},
	)
	for _, tt := range tests {
		m := New(Options{Values: func(key string, _ int64) ([]byte, error) {
			return map[string][]byte{"a": []byte("m"), "b": []byte("z")}[key], nil
		}})
		for _, e := range logOf(t, append(slices.Clone(log), txn(cmps{tt.c}, nil, nil))...) {
			o := m.Apply(e)
			if o.Request.Kind != KindTxn {
				continue
			}
			if o.Succeeded != tt.want {
				t.Errorf("%v: %v", tt.c, o.Succeeded)
			}
			if !tt.want && (len(o.Compares) != 1 || o.Compares[0].Held) {
				t.Errorf("%v: explained as %+v", tt.c, o.Compares)
			}
		}
	}
}

// TestCompareResults sees what a failed txn says of its compares.
func TestCompareResults(t *testing.T) {
	m := New(Options{})
	var o Outcome
	for _, e := range logOf(t, put("a", "1"), put("b", "1"), put("b", "2"),
		txn(cmps{modIs("a", 2), modIs("b", 3), modIs("c", 9)}, ops{op(put("b", "3"))}, nil)) {
		o = m.Apply(e)
	}
	var got []string
	for _, c := range o.Compares {
		got = append(got, fmt.Sprintf("%s %s %d: %v, is %d", c.Key, c.Target, c.Number, c.Held, c.FoundNumber()))
	}
	want := []string{"a MOD 2: true, is 2", "b MOD 3: false, is 4", "c MOD 9: false, is 0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("compares (-want +got):\n%s", d)
	}
	if found := o.Compares[1].Found; found != (KeyState{Key: "b", Create: 3, Mod: 4, Version: 2, Index: 3}) {
		t.Errorf("found %+v", found)
	}
}

// TestBase goes on from the state of a database.
func TestBase(t *testing.T) {
	keys := []KeyState{{Key: "b", Create: 5, Mod: 9, Version: 3, Lease: 7}, {Key: "a", Create: 2, Mod: 2, Version: 1, Lease: 99}}
	m := NewAt(Base{
		Index: 100, Revision: 9, Compacted: 4, Keys: slices.Values(keys), Leases: []Lease{{ID: 7, TTL: 60}},
		Alarms: []Alarm{{1, noSpace}},
	}, Options{Values: func(key string, mod int64) ([]byte, error) {
		if key != "b" || mod != 9 {
			return nil, errors.New("not there")
		}
		return []byte("old"), nil
	}})
	var got []string
	entries := logOf(t, put("x", ""), put("a", "1"), disarm(1, noSpace), txn(cmps{valueIs("b", "old")}, ops{op(put("b", "", ignoreValue))}, nil), revoke(7), compact(4), revoke(99),
		put("a", "", ignoreValue))
	entries[0].Index = 100
	for i := range entries[1:] {
		entries[i+1].Index = uint64(101 + i)
	}
	for _, e := range entries {
		got = append(got, summary(m.Apply(e)))
	}
	want := []string{"applied", "no-space", "", "10 b=old(5,4,0)", "", "compacted", "lease-not-found", "11 a=(2,2,0) ?"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("outcomes (-want +got):\n%s", d)
	}
	if a, _ := m.Key("a"); a.Mod != 11 || m.Len() != 2 || m.Index() != 107 || m.Compacted() != 4 || len(m.Leases()) != 0 {
		t.Errorf("key %+v of %d, entry %d, compacted %d, leases %v", a, m.Len(), m.Index(), m.Compacted(), m.Leases())
	}
	if r := NewAt(Base{Revision: 3, Compacted: 8}, Options{}).Revision(); r != 8 {
		t.Errorf("revision %d of a store that was compacted at 8", r)
	}
}

// TestDoubts sees that what may be wrong says so, from then on.
func TestDoubts(t *testing.T) {
	entries := logOf(t, put("a", "1"), put("a", "2"), put("a", "3"))
	m := New(Options{})
	m.Apply(entries[0])
	if o := m.Apply(entries[2]); o.Doubts != DoubtGap || o.Revision != 3 {
		t.Errorf("after a gap: %s", summary(o))
	}
	m = New(Options{})
	o := m.Apply(Entry{Index: 1, Data: []byte("\xff not a message")})
	if o.Err == nil || o.Rejected != Undecoded || o.Request.Kind != KindUnknown {
		t.Errorf("bytes: %+v", o)
	}
	if o := m.Apply(entries[1]); o.Doubts != DoubtUndecoded || o.Doubts.String() != "an entry could not be decoded" {
		t.Errorf("after bytes: %s", summary(o))
	}
	m = New(Options{})
	m.Apply(Entry{Index: 1, Type: 1, Data: []byte("\x22\x01x")}) // a conf change of which only the member is bad
	if o := m.Apply(entries[1]); o.Doubts != 0 {
		t.Errorf("after a bad member: %s", summary(o))
	}
	m = New(Options{})
	m.Apply(entries[0])
	txns := logOf(t, put("a", "1"), txn(cmps{valueIs("a", "1")}, ops{op(put("a", "2"))}, nil))
	if o := m.Apply(txns[1]); o.Doubts != DoubtValue {
		t.Errorf("a compare of a value that is not known: %s", summary(o))
	}
}

// TestCheckpoint keeps what is left of leases.
func TestCheckpoint(t *testing.T) {
	m := New(Options{})
	for _, e := range logOf(t, grant(7, 60), grant(8, 1), &pb.InternalRaftRequest{LeaseCheckpoint: &pb.LeaseCheckpointRequest{
		Checkpoints: []*pb.LeaseCheckpoint{{ID: 7, Remaining_TTL: 30}, {ID: 9, Remaining_TTL: 30}},
	}}) {
		must(t, m.Apply(e).Err)
	}
	if d := cmp.Diff([]Lease{{7, 60, 30}, {8, 2, 0}}, m.Leases()); d != "" {
		t.Errorf("leases (-want +got):\n%s", d)
	}
}

// TestRulesFor has the releases in which something changed.
func TestRulesFor(t *testing.T) {
	both, nested := Rules{NestedPutsFree: true, LastAlarmRules: true}, Rules{NestedPutsFree: true}
	for version, want := range map[string]Rules{
		"3.4.39": both, "3.5.21": both, "3.5": both, "3.6.0": nested, "v3.6.13": nested, "3.6.14": {}, "3.7.0-rc.1": nested, "3.7.1": {},
		"3.8.0": {}, "": {}, "4.0.0": {}, "3.x.1": {}, "3": {},
	} {
		if got := RulesFor(version); got != want {
			t.Errorf("%q: %+v", version, got)
		}
	}
}

// TestRevisionsDoNotWrap applies a write to a store that has the last revision.
func TestRevisionsDoNotWrap(t *testing.T) {
	m := NewAt(Base{Revision: math.MaxInt64}, Options{})
	if o := m.Apply(logOf(t, put("a", ""))[0]); m.Revision() < 0 || o.Doubts != DoubtBase {
		t.Errorf("%s: revision %d", summary(o), m.Revision())
	}
	for mod, want := range map[int64]Doubt{7: 0, 8: DoubtBase} {
		if m := NewAt(Base{Revision: 7, Keys: slices.Values([]KeyState{{Key: "a", Mod: mod}})}, Options{}); m.Doubts() != want {
			t.Errorf("a key of revision %d in a store at 7: %v", mod, m.Doubts())
		}
	}
}
