package correlate

import (
	"testing"
	"time"

	"etcd-autopsy/fixtures"
)

// TestMembers: databases, restarts and terms of recorded members.
func TestMembers(t *testing.T) {
	rec := fixtures.Unpack(t, "hiccup-not-guilty")
	rows := loadDir(t, rec.Dir).Members()
	if len(rows) != 3 {
		t.Fatalf("%d members, want 3", len(rows))
	}
	var killed MemberRow
	for _, m := range rows {
		if len(m.Stores) != 1 || len(m.Logs) != 1 || m.Name == "" || len(m.ClientURLs) == 0 {
			t.Errorf("member %s: %+v", m.ID, m)
		}
		if m.Name == "etcd-1" {
			killed = m
		} else if len(m.Starts) != 1 || len(m.Down) != 0 {
			t.Errorf("%s starts %v down %v, want one start and no time down", m.Name, m.Starts, m.Down)
		}
	}
	if len(killed.Starts) != 2 || len(killed.Down) != 1 || len(killed.Led) == 0 {
		t.Fatalf("etcd-1 starts %v, down %v, led %v: it led, was killed and came back", killed.Starts, killed.Down, killed.Led)
	}
	if d := killed.Down[0]; d.End == nil || d.End.Sub(*d.Start) < 5*time.Second || d.End.Sub(*d.Start) > 12*time.Second {
		t.Errorf("etcd-1 was down %v to %v, truth about 8 s", d.Start, d.End)
	}
	if killed.Led[0].End == nil {
		t.Error("etcd-1 leads for ever")
	}
}
