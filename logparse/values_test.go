package logparse

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// valueSamples are messages without fields, as the releases that printed them had
// them, with what Values reads.
var valueSamples = []struct{ id, message, want string }{
	{"etcd-slow-fdatasync", "sync duration of 1.251s, expected less than 1s", "took=1.251s:duration expected-duration=1s:duration"},
	{"etcd-heartbeat-late", "failed to send out heartbeat on time (exceeded the 100ms timeout for 312.4ms, to 8211f1d0f64f3269)",
		"to=8211f1d0f64f3269:id heartbeat-interval=100ms:duration exceeded-duration=312.4ms:duration"},
	{"etcd-apply-slow", `read-only range request "key:\"/registry/pods\" " with result "range_response_count:3 size:12" took too long (1.5s) to execute`,
		`took=1.5s:duration prefix=read-only range:text request=key:\"/registry/pods\":text response=range_response_count:3 size:12:text`},
	{"etcd-apply-entries-slow-old", "apply entries took too long [153.2ms for 1 entries]", "took=153.2ms:duration entries=1:number"},
	{"etcd-election-start", "8211f1d0f64f3269 is starting a new election at term 7", "member=8211f1d0f64f3269:id term=7:number"},
	{"etcd-became-precandidate", "8211f1d0f64f3269 became pre-candidate at term 7", "member=8211f1d0f64f3269:id term=7:number"},
	{"etcd-became-candidate", "8211f1d0f64f3269 became candidate at term 8", "member=8211f1d0f64f3269:id term=8:number"},
	{"etcd-became-follower", "8211f1d0f64f3269 became follower at term 8", "member=8211f1d0f64f3269:id term=8:number"},
	{"etcd-became-leader", "8211f1d0f64f3269 became leader at term 8", "member=8211f1d0f64f3269:id term=8:number"},
	{"etcd-vote-request-sent", "8211f1d0f64f3269 [logterm: 7, index: 812] sent MsgPreVote request to 91bc3c398fb3c146 at term 7",
		"type=MsgPreVote:text logterm=7:number index=812:number to=91bc3c398fb3c146:id term=7:number member=8211f1d0f64f3269:id"},
	{"etcd-vote-resp-received", "8211f1d0f64f3269 received MsgVoteResp from 91bc3c398fb3c146 at term 8", "from=91bc3c398fb3c146:id term=8:number member=8211f1d0f64f3269:id type=MsgVoteResp:text"},
	{"etcd-leader-lost", "raft.node: 8211f1d0f64f3269 lost leader 91bc3c398fb3c146 at term 8", "member=8211f1d0f64f3269:id leader=91bc3c398fb3c146:id term=8:number"},
	{"etcd-leader-elected", "raft.node: 8211f1d0f64f3269 elected leader 91bc3c398fb3c146 at term 8", "member=8211f1d0f64f3269:id leader=91bc3c398fb3c146:id term=8:number"},
	{"etcd-leader-changed-raft", "raft.node: 8211f1d0f64f3269 changed leader from 91bc3c398fb3c146 to fd422379fda50e48 at term 9",
		"member=8211f1d0f64f3269:id old=91bc3c398fb3c146:id new=fd422379fda50e48:id term=9:number"},
	{"etcd-no-leader-drop-read", "8211f1d0f64f3269 no leader at term 51; dropping index reading msg", "member=8211f1d0f64f3269:id term=51:number"},
	{"etcd-no-leader-drop-proposal", "8211f1d0f64f3269 no leader at term 51; dropping proposal", "member=8211f1d0f64f3269:id term=51:number"},
	{"etcd-stepdown-quorum", "8211f1d0f64f3269 stepped down to follower since quorum is not active", "member=8211f1d0f64f3269:id"},
	{"etcd-raft-higher-term", "8211f1d0f64f3269 [term: 7] received a MsgVote message with higher term from 91bc3c398fb3c146 [term: 8]",
		"member=8211f1d0f64f3269:id term=7:number type=MsgVote:text from=91bc3c398fb3c146:id their-term=8:number"},
	{"etcd-raft-lower-term", "8211f1d0f64f3269 [term: 8] ignored a MsgAppResp message with lower term from 91bc3c398fb3c146 [term: 7]",
		"member=8211f1d0f64f3269:id term=8:number type=MsgAppResp:text from=91bc3c398fb3c146:id their-term=7:number"},
	{"etcd-vote-lease-ignored", "8211f1d0f64f3269 [logterm: 7, index: 5, vote: 0] ignored MsgVote from 91bc3c398fb3c146 [logterm: 7, index: 5] at term 7: lease is not expired (remaining ticks: 4)",
		"from=91bc3c398fb3c146:id term=7:number remaining ticks=4:number"},
	{"etcd-log-conflict", "found conflict at index 12 [existing term: 3, conflicting term: 4]", "index=12:number existing term=3:number conflicting term=4:number"},
	{"etcd-transfer-start", "8211f1d0f64f3269 starts leadership transfer from 8211f1d0f64f3269 to 91bc3c398fb3c146", "from=8211f1d0f64f3269:id to=91bc3c398fb3c146:id"},
	{"etcd-transfer-finish", "8211f1d0f64f3269 finished leadership transfer from 8211f1d0f64f3269 to 91bc3c398fb3c146 (took 101.2ms)", "from=8211f1d0f64f3269:id to=91bc3c398fb3c146:id took=101.2ms:duration"},
	{"etcd-transfer-failed", "failed to transfer leadership (context deadline exceeded)", "error=context deadline exceeded:text"},
	{"etcd-peer-active", "peer 8211f1d0f64f3269 became active", "peer-id=8211f1d0f64f3269:id"},
	{"etcd-peer-inactive", "peer 8211f1d0f64f3269 became inactive (message send to peer failed)", "peer-id=8211f1d0f64f3269:id error=message send to peer failed:text"},
	{"etcd-peer-stream-lost", "lost the TCP streaming connection with peer 8211f1d0f64f3269 (stream MsgApp v2 reader)", "remote-peer-id=8211f1d0f64f3269:id"},
	{"etcd-peer-stream-up", "established a TCP streaming connection with peer 8211f1d0f64f3269 (stream Message writer)", "remote-peer-id=8211f1d0f64f3269:id"},
	{"etcd-peer-probe-unhealthy", "health check for peer 8211f1d0f64f3269 could not connect: dial tcp 10.0.0.2:2380: connect: connection refused",
		"remote-peer-id=8211f1d0f64f3269:id error=dial tcp 10.0.0.2:2380: connect: connection refused:text"},
	{"etcd-clock-drift", "the clock difference against peer 8211f1d0f64f3269 is too high [1.52s > 1s]", "remote-peer-id=8211f1d0f64f3269:id clock-drift=1.52s:duration"},
	{"etcd-raft-drop-send", "dropped internal raft message to 8211f1d0f64f3269 since sending buffer is full (bad/overloaded network)", "remote-peer-id=8211f1d0f64f3269:id"},
	{"etcd-raft-drop-recv", "dropped internal raft message from 8211f1d0f64f3269 since receiving buffer is full (overloaded network)", "remote-peer-id=8211f1d0f64f3269:id"},
	{"etcd-alarm-raised", "alarm NOSPACE raised by peer 8211f1d0f64f3269", "alarm=NOSPACE:text from=8211f1d0f64f3269:id"},
	{"etcd-compaction-finished", "finished scheduled compaction at 81245 (took 2.41ms)", "compact-revision=81245:number took=2.41ms:duration"},
	{"etcd-compact-index", "store.index: compact 81245", "revision=81245:number"},
	{"etcd-autocompact-start", "Starting auto-compaction at revision 81245", "revision=81245:number"},
	{"etcd-autocompact-done", "Finished auto-compaction at revision 81245 (took 1.2s)", "revision=81245:number took=1.2s:duration"},
	{"etcd-autocompact-failed", "Failed auto-compaction at revision 81245 (etcdserver: request timed out)", "revision=81245:number error=etcdserver: request timed out:text"},
	{"etcd-statecommit-panic", "8211f1d0f64f3269 state.commit 15901077 is out of range [15899041, 15901076]",
		"member=8211f1d0f64f3269:id commit=15901077:number first=15899041:text last=15901076:text"},
	{"etcd-tocommit-panic", "tocommit(8) is out of range [lastIndex(5)]. Was the raft log corrupted, truncated, or lost?", "tocommit=8:number lastIndex=5:number"},
	{"etcd-restarting-member", "restarting member 8211f1d0f64f3269 in cluster 0ef7d51e27fdd5bb at commit index 41", "cluster-id=0ef7d51e27fdd5bb:id local-member-id=8211f1d0f64f3269:id commit-index=41:number"},
	{"etcd-conn-rejected", `rejected connection from "10.0.0.9:51230" (error "remote error: tls: bad certificate", ServerName "etcd-1")`,
		"remote-addr=10.0.0.9:51230:text error=remote error: tls: bad certificate:text server-name=etcd-1:text"},
	{"etcd-db-flocked", `another etcd process is using "/var/lib/etcd/member/snap/db" and holds the file lock, or loading backend file is taking >10 seconds`, "path=/var/lib/etcd/member/snap/db:text"},
	{"lease-retrieve-failed", "error retrieving resource lock kube-system/kube-scheduler: etcdserver: request timed out", "lock=kube-system/kube-scheduler:text err=etcdserver: request timed out:text"},
	{"lease-update-failed", "Failed to update lock: etcdserver: leader changed", "err=etcdserver: leader changed:text"},
	{"lease-renew-failed", "failed to renew lease kube-system/kube-scheduler: timed out waiting for the condition", "lock=kube-system/kube-scheduler:text err=timed out waiting for the condition:text"},
	{"lease-release-failed", "Failed to release lock: resource name may not be empty", "err=resource name may not be empty:text"},
	{"lease-acquired", "successfully acquired lease kube-system/kube-scheduler", "lock=kube-system/kube-scheduler:text"},
	{"lease-acquire-try", "attempting to acquire leader lease kube-system/kube-scheduler...", "lock=kube-system/kube-scheduler:text"},
	{"reflector-list-failed", `k8s.io/client-go/informers/factory.go:134: failed to list *v1.Pod: Get "https://10.0.0.1:6443/api/v1/pods": EOF`, `type=*v1.Pod:text err=Get "https://10.0.0.1:6443/api/v1/pods": EOF:text`},
	{"apiserver-webhook-call-failed", `failed calling webhook "pods.example.com": failed to call webhook: Post "https://hook": EOF`, `webhook=pods.example.com:text err=failed to call webhook: Post "https://hook": EOF:text`},
	{"apiserver-trace-head", "Trace[19662109]: \"Create\" url:/api/v1/namespaces/shop/events,user-agent:kubelet/v1.18.10 (started: 2021-03-15 19:11:43.2 +0000 UTC) (total time: 681.7ms):",
		"trace id=19662109:id name=Create:text url=/api/v1/namespaces/shop/events:text total time=681.7ms:duration"},
	{"apiserver-http-504-old", "PATCH /api/v1/nodes/a/status?timeout=10s: (1m2.78s) 504", "verb=PATCH:text URI=/api/v1/nodes/a/status?timeout=10s:text latency=1m2.78s:duration"},
	{"conn-refused", "dial tcp 10.0.0.2:2380: connect: connection refused", "address=10.0.0.2:2380:text"},
	{"x509-expired", "x509: certificate has expired or is not yet valid: current time 2025-06-01T06:00:04Z is after 2025-05-30T00:00:00Z", "current time=2025-06-01T06:00:04Z:text not after=2025-05-30T00:00:00Z:text"},
	{"k3s-leaderelection-fatal", "leaderelection lost for k3s-controllers", "lock=k3s-controllers:text"},
}

func TestValuesOfText(t *testing.T) {
	tried := map[string]bool{}
	for _, x := range valueSamples {
		s, ok := LookupSignature(x.id)
		if !ok {
			t.Errorf("no signature %s", x.id)
			continue
		}
		tried[x.id] = true
		got := valueTexts(s.Values(&Record{Message: x.message}))
		if !sameWords(got, x.want) {
			t.Errorf("%s: %s\nwant %s", x.id, got, x.want)
		}
		if n := len(s.Values(&Record{Message: "something else"})); n != 0 {
			t.Errorf("%s: %d values of another message", x.id, n)
		}
	}
	for _, s := range Signatures() {
		if len(s.extract) > 0 && !tried[s.ID] {
			t.Errorf("%s: no sample for its patterns", s.ID)
		}
		for _, re := range s.extract {
			for _, g := range re.SubexpNames() {
				if regexp.MustCompile("[^A-Za-z0-9_]").MatchString(g) {
					t.Errorf("%s: group %q", s.ID, g)
				}
			}
		}
	}
}

// sameWords compares without order.
func sameWords(a, b string) bool {
	count := map[string]int{}
	for _, w := range strings.Fields(a) {
		count[w]++
	}
	for _, w := range strings.Fields(b) {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func valueTexts(list []Value) string {
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprintf("%s=%s:%s", v.Name, v.Text, v.Kind))
	}
	return strings.Join(out, " ")
}

// Structured fields count before the text, and what is not what its field says stays
// a text.
func TestValuesOfFields(t *testing.T) {
	s, _ := LookupSignature("etcd-slow-fdatasync")
	rec := Record{Message: "slow fdatasync", Fields: Fields{{"took", "1.5s"}, {"expected-duration", "soon"}, {"other", "x"}}}
	got := s.Values(&rec)
	if valueTexts(got) != "took=1.5s:duration expected-duration=soon:text" || got[0].Duration.Seconds() != 1.5 || got[1].Duration != 0 {
		t.Errorf("%+v", got)
	}
	s, _ = LookupSignature("lease-renew-failed")
	if got := valueTexts(s.Values(&Record{Message: "Failed to renew lease", Fields: Fields{{"lock", "a/b"}, {"error", "x"}}})); got != "lock=a/b:text err=x:text" {
		t.Error(got)
	}
	s, _ = LookupSignature("etcd-compaction-finished")
	rec = Record{Fields: Fields{{"compact-revision", "-4"}, {"took", "2ms"}}}
	if got := valueTexts(s.Values(&rec)); got != "compact-revision=-4:text took=2ms:duration" {
		t.Error(got)
	}
}

// Every signature says what it means, what it does not, and what to look at.
func TestSignatureTexts(t *testing.T) {
	for _, s := range Signatures() {
		if s.Meaning == "" || s.NotMeaning == "" {
			t.Errorf("%s: meaning %q, not %q", s.ID, s.Meaning, s.NotMeaning)
		}
		for _, f := range s.Fields {
			if f != strings.TrimSpace(f) || f == "" {
				t.Errorf("%s: field %q", s.ID, f)
			}
		}
	}
}
