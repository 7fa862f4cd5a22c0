package template

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"etcd-autopsy/logparse"
)

func TestMask(t *testing.T) {
	for _, x := range []struct{ message, want string }{
		{"lost connection to 10.0.0.1:2379 after 1.5s", "lost connection to <*> after <n>"},
		{"took 12 of 40 tries (30%)", "took <n> of <n> tries (<n>%)"},
		{`pod "web-1" in "shop"`, `pod "<*>" in "<*>"`},
		{`quote "a \" b" end`, `quote "<*>" end`},
		{`open "never closed`, `open "<*>"`},
		{"member 8e9e05c52164694d is back", "member <*> is back"},
		{"uid 0b6a5c0e-8f1c-4a5e-9c3e-1a2b3c4d5e6f gone", "uid <*> gone"},
		{"cannot read /var/lib/kubelet/pods/123/x", "cannot read /var/lib/kubelet/pods/<*>"},
		{"bad x509 on ipv4", "bad x# on ipv#"},
		{"pod shop/web-7d9cf4bbd5-x2x7k failed", "pod shop/web-<*> failed"},
		{"two   blanks\tand a tab", "two blanks and a tab"},
		{"first\nsecond", "first"},
		{"读取 10 次失败", "读取 <n> 次失败"},
		{"took 4m3.2s", "took <n>"},
		{"v1.34.4", "<*>"},
		{"", ""},
	} {
		if got := string(mask(nil, x.message)); got != x.want {
			t.Errorf("%q is %q, want %q", x.message, got, x.want)
		}
	}
	if n := len(mask(nil, strings.Repeat("a", 1<<20))); n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
	if n := len(mask(nil, strings.Repeat("a ", 1<<20))); n > 2*maxForm {
		t.Errorf("%d bytes", n)
	}
}

func record(line int, message string) logparse.Record {
	return logparse.Record{
		Line: line, Message: message, Level: logparse.LevelWarn, Format: logparse.FormatKlog, Component: logparse.ComponentKubelet,
		Caller: "a.go:12", Text: message, Time: time.Unix(1_700_000_000+int64(line*7), 0).UTC(),
	}
}

// found writes the templates of records that were mined as one log.
func found(records []logparse.Record, limit int) ([]Template, int) {
	m := newMiner(0, limit)
	for i := range records {
		if Wants(&records[i]) {
			m.Add(&records[i])
		}
	}
	return m.Templates(), m.Left()
}

// manyRecords are messages of some forms, with what varies in them.
func manyRecords(r *rand.Rand) (list []logparse.Record) {
	names := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"}
	for line := range 3000 {
		var s string
		switch r.IntN(6) {
		case 0:
			s = fmt.Sprintf("volume %s is not there", names[r.IntN(len(names))])
		case 1:
			s = fmt.Sprintf("lost %d of %d", r.IntN(1000), r.IntN(1000))
		case 2:
			s = []string{"start failed", "stop failed"}[r.IntN(2)]
		case 3:
			s = fmt.Sprintf("pod web-%x is stuck in %s", r.Uint32(), names[r.IntN(3)])
		default:
			s = fmt.Sprintf("rare %s %s", names[r.IntN(len(names))], names[r.IntN(len(names))])
		}
		list = append(list, record(line+1, s))
	}
	return list
}

func TestTemplates(t *testing.T) {
	var list []logparse.Record
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		list = append(list, record(i+1, "volume "+name+" is not there"), record(i+1, "cannot start"), record(i+1, "cannot stop"))
	}
	list[1].Repeats = 4
	other := record(20, "cannot start")
	other.Component = logparse.ComponentScheduler
	known := record(21, "a known message")
	known.Signatures = []string{"known"}
	calm := record(22, "all is well")
	calm.Level = logparse.LevelInfo
	plain := record(23, "Something FAILED here")
	plain.Level = logparse.LevelUnknown
	quiet := record(24, "nothing to see")
	quiet.Level = logparse.LevelUnknown
	got, left := found(append(list, other, known, calm, plain, quiet), Limit)
	var lines []string
	for _, x := range got {
		lines = append(lines, fmt.Sprintf("%s %d %d-%d %s", x.Component, x.Count, x.First.Line, x.Last.Line, x.Text))
	}
	want := []string{
		"kube-scheduler 1 20-20 cannot start",
		"kubelet 1 23-23 Something FAILED here",
		"kubelet 12 1-8 cannot start",
		"kubelet 8 1-8 cannot stop",
		"kubelet 8 1-8 volume <*> is not there",
	}
	if !reflect.DeepEqual(lines, want) || left != 0 {
		t.Errorf("%d left, and\n%s", left, strings.Join(lines, "\n"))
	}
	// One word less, and they stay what they are.
	if got, _ := found(list[:21], Limit); len(got) != 9 {
		t.Errorf("%d templates of 7 volumes and 2 others", len(got))
	}
}

// TestOrder mines records in other orders and spread over several logs.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	records := manyRecords(r)
	for _, limit := range []int{5, 40, Limit} {
		want, left := found(records, limit)
		total := left
		for _, x := range want {
			total += x.Count
		}
		if total != len(records) {
			t.Errorf("limit %d: %d of %d records", limit, total, len(records))
		}
		for n := range 10 {
			parts := 1 + n
			miners := make([]*Miner, parts)
			for i := range miners {
				miners[i] = newMiner(0, limit)
			}
			for _, i := range r.Perm(len(records)) {
				rec := records[i]
				miners[rec.Line*parts/(len(records)+1)].Add(&rec)
			}
			r.Shuffle(parts, func(i, j int) { miners[i], miners[j] = miners[j], miners[i] })
			miners[0].Merge(miners[1:]...)
			got, gotLeft := miners[0].Templates(), miners[0].Left()
			for i := range got { // within one miner, which sees a log in order, these are by order
				if parts == 1 {
					got[i].First, got[i].Last = want[min(i, len(want)-1)].First, want[min(i, len(want)-1)].Last
				}
			}
			if gotLeft != left || !sameTemplates(got, want) {
				t.Fatalf("limit %d, %d parts: other templates", limit, parts)
			}
		}
	}
}

// sameTemplates compares all but the places, which follow the order of one log.
func sameTemplates(a, b []Template) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		x.First, x.Last, y.First, y.Last = Place{}, Place{}, Place{}, Place{}
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

func TestRate(t *testing.T) {
	m := New(0)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 3600 {
		n := 1
		if i >= 3000 && i < 3060 {
			n = 20
		}
		for range n {
			rec := record(i+1, "trouble")
			rec.Time = at.Add(time.Duration(i) * time.Second)
			m.Add(&rec)
		}
	}
	x := m.Templates()[0]
	if got := x.Rate(at, at.Add(10*time.Minute)); got < 55 || got > 65 {
		t.Errorf("%.1f a minute before, want 60", got)
	}
	if got := x.Rate(at.Add(50*time.Minute), at.Add(51*time.Minute)); got < 700 {
		t.Errorf("%.1f a minute during, want about 1200", got)
	}
	if got := x.Rate(at.Add(-time.Hour), at); got != 0 {
		t.Errorf("%.1f a minute before all", got)
	}
	if got := x.Rate(at, at); got != 0 {
		t.Errorf("%.1f a minute in no time", got)
	}
}

func TestAddAllocates(t *testing.T) {
	m := New(0)
	rec := record(1, "lost connection to 10.0.0.1:2379 after 1.5s, pod shop/web-7d9cf4bbd5-x2x7k")
	m.Add(&rec)
	if n := testing.AllocsPerRun(100, func() { m.Add(&rec) }); n > 0 {
		t.Errorf("%.0f allocations for a form that was seen", n)
	}
}

func FuzzMask(f *testing.F) {
	f.Add("lost connection to 10.0.0.1:2379 after 1.5s", "x")
	f.Add(`pod "web-1" \" in`, "`")
	f.Fuzz(func(t *testing.T, a, b string) {
		if n := len(mask(nil, a)); n > len(a)*6+maxForm {
			t.Errorf("%d bytes of %d", n, len(a))
		}
		x, y := record(1, a), record(2, b)
		one, _ := found([]logparse.Record{x, y}, Limit)
		two, _ := found([]logparse.Record{y, x}, Limit)
		if !sameTemplates(one, two) {
			t.Errorf("%q and %q: %v, %v", a, b, one, two)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	m := New(0)
	rec := record(1, "lost connection to 10.0.0.1:2379 after 1.5s, pod shop/web-7d9cf4bbd5-x2x7k: "+strings.Repeat("reason ", 10))
	b.SetBytes(int64(len(rec.Message)))
	b.ReportAllocs()
	for b.Loop() {
		m.Add(&rec)
	}
}
