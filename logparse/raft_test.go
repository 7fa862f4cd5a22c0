package logparse

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRaftEventOf(t *testing.T) {
	const m, n = "82fe5b068afab294", "995e0239fb8cc3db"
	tests := []struct {
		in   string
		want RaftEvent // zero: none
	}{
		{m + " became leader at term 2", RaftEvent{Kind: RaftBecameLeader, Member: m, Leader: m, Term: 2}},
		{m + " became follower at term 3", RaftEvent{Kind: RaftBecameFollower, Member: m, Term: 3}},
		{m + " became candidate at term 4", RaftEvent{Kind: RaftBecameCandidate, Member: m, Term: 4}},
		{m + " became pre-candidate at term 5", RaftEvent{Kind: RaftBecamePreCandidate, Member: m, Term: 5}},
		{m + " is starting a new election at term 6", RaftEvent{Kind: RaftElectionStart, Member: m, Term: 6}},
		{m + " stepped down to follower since quorum is not active", RaftEvent{Kind: RaftSteppedDown, Member: m}},
		{"raft.node: " + m + " elected leader " + n + " at term 7", RaftEvent{Kind: RaftElectedLeader, Member: m, Leader: n, Term: 7}},
		{"raft: raft.node: " + m + " elected leader " + n + " at term 7", RaftEvent{Kind: RaftElectedLeader, Member: m, Leader: n, Term: 7}},
		{"raft.node: " + m + " lost leader " + n + " at term 8", RaftEvent{Kind: RaftLostLeader, Member: m, Leader: n, Former: n, Term: 8}},
		{"raft.node: " + m + " changed leader from " + n + " to " + m + " at term 9", RaftEvent{Kind: RaftChangedLeader, Member: m, Leader: m, Former: n, Term: 9}},
		{"raft: " + m + " became leader at term 2", RaftEvent{Kind: RaftBecameLeader, Member: m, Leader: m, Term: 2}},
		{"c3e8 became leader at term 18446744073709551615", RaftEvent{Kind: RaftBecameLeader, Member: "000000000000c3e8", Leader: "000000000000c3e8", Term: 1<<64 - 1}},

		{m + " became leader at term", RaftEvent{}},
		{m + " became leader at term x", RaftEvent{}},
		{m + " became leader", RaftEvent{}},
		{"peer became active", RaftEvent{}},
		{m + "0 became leader at term 2", RaftEvent{}},
		{"Z2fe became leader at term 2", RaftEvent{}},
		{m + " [logterm: 2, index: 9] sent MsgPreVote request to " + n + " at term 2", RaftEvent{}},
		{m + " received MsgVoteResp from " + n + " at term 3", RaftEvent{}},
		{"raft.node: " + m + " lost leader " + n, RaftEvent{}},
		{"raft.node: " + m + " lost leader at term 8", RaftEvent{}},
		{"raft.node: " + m + " changed leader from " + n + " at term 9", RaftEvent{}},
		{"raft.node: " + m + " changed leader from " + n + " to nobody at term 9", RaftEvent{}},
		{"raft.node: ", RaftEvent{}},
		{"", RaftEvent{}},
	}
	for _, tt := range tests {
		got, ok := RaftEventOf(Record{Format: FormatZapJSON, Component: ComponentEtcd, Message: tt.in})
		if ok != (tt.want != RaftEvent{}) {
			t.Errorf("%q: %v", tt.in, ok)
		}
		if diff := cmp.Diff(tt.want, got); ok && diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.in, diff)
		}
	}
	if _, ok := RaftEventOf(Record{Format: FormatKlog, Component: ComponentKubelet, Message: m + " became leader at term 2"}); ok {
		t.Error("a kubelet took part in raft")
	}
}

func TestDuration(t *testing.T) {
	f := Fields{{"took", "1.580884457s"}, {"time spent", "7.001557671s"}, {"small", "38.332µs"}, {"n", "12"}}
	for key, want := range map[string]time.Duration{"took": 1580884457, "time spent": 7001557671, "small": 38332} {
		if got, ok := f.Duration(key); !ok || got != want {
			t.Errorf("%s = %v, %v", key, got, ok)
		}
	}
	for _, key := range []string{"n", "none"} {
		if got, ok := f.Duration(key); ok || got != 0 {
			t.Errorf("%s = %v, %v", key, got, ok)
		}
	}
}
