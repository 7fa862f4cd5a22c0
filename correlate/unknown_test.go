package correlate

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// An unknown message that begins with the stall is listed before one that was
// always there, however often; known messages and calm ones are not listed.
func TestUnknownMessages(t *testing.T) {
	var log strings.Builder
	line := func(at time.Duration, level, text string) {
		stamp := time.Date(2026, 11, 30, 21, 0, 0, 123456000, time.UTC).Add(at)
		fmt.Fprintf(&log, "%s%s       1 widget.go:7] %s\n", level, stamp.Format("0102 15:04:05.000000"), text)
	}
	for i := range 300 {
		line(time.Duration(i)*time.Second, "W", fmt.Sprintf("Cache of %d entries is full", i))
		if i >= 200 {
			line(time.Duration(i)*time.Second, "E", fmt.Sprintf("Widget pool %d exhausted by 10.0.0.%d:80", i, i%200))
		}
		line(time.Duration(i)*time.Second, "I", "All is well")
		line(time.Duration(i)*time.Second, "E", `"Unhandled Error" err="etcdserver: no leader"`)
	}
	c := openLogs(t, map[string]string{"kubelet.log": log.String()})
	from, to := time.Date(2026, 11, 30, 21, 3, 20, 0, time.UTC), time.Date(2026, 11, 30, 21, 5, 0, 0, time.UTC)
	id := "P1"
	for range 2 { // the answer is the same each time
		a := &Analysis{Verdict: Verdict{Episode: &id}, Episodes: []Episode{{ID: id, Start: &from, End: &to}}}
		b := newBook(c)
		u := c.unknownMessages(a, b)
		if len(u.List) != 2 || u.More != 0 || u.MoreRecords != 0 {
			t.Fatalf("%+v", u)
		}
		grown, old := u.List[0], u.List[1]
		if grown.Text != "Widget pool <n> exhausted by <*>" || grown.Count != 100 || grown.Level != "error" || *grown.During < 50 || *grown.Before > 2 {
			t.Errorf("%+v, before %v, during %v", grown, *grown.Before, *grown.During)
		}
		if old.Text != "Cache of <n> entries is full" || old.Count != 300 || *old.Before < 50 {
			t.Errorf("%+v", old)
		}
		if len(grown.Evidence) != 2 || b.list[0].Line != 602 || !strings.Contains(b.list[0].Text, "Widget pool 200") {
			t.Errorf("evidence %+v", b.list)
		}
	}
	// Without a time to compare, the more frequent comes first.
	u := c.unknownMessages(&Analysis{}, newBook(c))
	if u.From != nil || u.List[0].Count != 300 || u.List[0].During != nil {
		t.Errorf("%+v", u)
	}
}
