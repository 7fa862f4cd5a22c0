package correlate

import (
	"context"
	"testing"
	"time"
)

// What a message without fields says is in the timeline's fields, and its duration
// counts.
func TestTextValues(t *testing.T) {
	c := openLogs(t, map[string]string{"etcd.log": "2018-03-01 10:00:00.123456 W | wal: sync duration of 2.5s, expected less than 1s\n" +
		"2018-03-01 10:00:01.123456 I | raft: 8211f1d0f64f3269 became leader at term 8\n"})
	want := []map[string]string{{"took": "2.5s", "expected-duration": "1s"}, {"member": "8211f1d0f64f3269", "term": "8"}}
	n := 0
	for row := range c.Timeline(context.Background(), false) {
		if row.Kind != "record" {
			continue
		}
		for k, v := range want[n] {
			if row.Fields[k] != v {
				t.Errorf("line %d: %s is %q, want %q", row.Line, k, row.Fields[k], v)
			}
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d records", n)
	}
	if b := c.bursts("etcd-slow-fdatasync"); len(b) != 1 || b[0].longest != 2500*time.Millisecond {
		t.Errorf("%+v", b)
	}
}
