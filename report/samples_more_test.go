package report

import (
	"fmt"
	"strings"
	"time"

	"etcd-autopsy/correlate"
)

// quorumLoss is a rollout that waited for a quorum and went on, with a write
// that was answered by a timeout and landed all the same.
func quorumLoss() *correlate.Analysis {
	id, w := web(3)
	other := "deployment/pay/gateway#7"
	a := &correlate.Analysis{
		SchemaVersion: 1, Tool: tool,
		Inputs: []correlate.Input{
			{Label: "cluster", Path: "etcd-1/member/snap/db", Kind: "member", Member: "etcd-1", SHA256: digestOf(11), Bytes: 64 << 20, Records: 52110, Why: "bbolt pages with a key bucket"},
			{Label: "cluster", Path: "etcd-1/member/wal/0000000000000002-00000000000186a0.wal", Kind: "wal", Member: "etcd-1", SHA256: digestOf(12), Bytes: 64000000, Records: 9120, Problems: []string{"The last record is torn; the entries before it are whole."}, Why: "WAL frames with a chained checksum"},
			logInput(13, "logs/etcd-1.log", "etcd", "etcd-1", "03:50:00", "04:31:00", 8100),
			logInput(14, "logs/kube-apiserver.log", "kube-apiserver", "", "03:50:00", "04:31:00", 22110),
			logInput(15, "logs/kube-controller-manager.log", "kube-controller-manager", "", "03:50:00", "04:31:00", 3120),
			logInput(16, "logs/kube-scheduler.log", "kube-scheduler", "", "03:50:00", "04:31:00", 1120),
		},
		Coverage: correlate.Coverage{FirstRevision: 88000, LastRevision: 91544, CompactRevision: 90100, Notes: []string{
			"The stores and logs of etcd-2 and etcd-3 were not given: why they stopped was not seen.",
			"Revisions 88000 to 90100 come from the WAL of etcd-1.",
			"No audit log was given: users of failed requests are known only where the API server log names them.",
		}},
		Verdict: correlate.Verdict{Text: "Stage 4 (replicaset) of default/web rollout #3 waited 3 min 22 s because etcd had no quorum from 04:12:09.5 to 04:15:31.7.",
			Rollout: &id, Stage: ptr(4), Cause: ptr("quorum-loss"), Confidence: correlate.Likely,
			Candidates:  []correlate.Candidate{{Cause: "quorum-loss", Confidence: correlate.Likely}, {Cause: "network-partition", Confidence: correlate.Possible}},
			WouldSettle: "The logs of etcd-2 and etcd-3 between 04:12:00 and 04:12:10."},
		Rollouts: []correlate.Rollout{
			{ID: id, Workload: w, Outcome: correlate.Complete, Start: at("04:12:08.101"), End: at("04:16:02.4"), Onset: at("04:12:10.0"),
				Trigger: correlate.Trigger{Revision: ptr(int64(91020)), Time: at("04:12:08.110"), Actor: "kubectl-edit", Change: "env LOG_LEVEL of web: info → debug"},
				Stages: stages(3, map[int]correlate.Stage{
					3: done("04:12:08.101", "04:12:08.110", "04:12:08.110", 91020, 91020, "E1"),
					4: {State: correlate.StageDelayed, Start: at("04:12:08.110"), Reached: at("04:15:33.0"), End: at("04:15:52"), FirstRevision: ptr(int64(91031)), LastRevision: ptr(int64(91080)), Through: 3, Evidence: []string{"E2", "E3"}},
					5: done("04:15:33.0", "04:15:33.2", "04:15:52.2", 91033, 91082, "E3"), 6: done("04:15:33.2", "04:15:35.0", "04:15:55", 91040, 91090, "E3"),
					7: done("04:15:35.0", "04:15:41.0", "04:16:01", 91050, 91097, "E3"), 8: {State: correlate.StageReached, Start: at("04:15:41.0"), Reached: at("04:15:41.0"), End: at("04:16:01"), FirstRevision: ptr(int64(91050)), LastRevision: ptr(int64(91097)), Through: 3, Note: "no Service selects these pods"},
					9: done("04:12:08.110", "04:16:02.4", "04:16:02.4", 91100, 91100, "E3"),
				}),
				Stalls: []correlate.Stall{{Stage: 4, From: at("04:12:10.0"), To: at("04:15:33.0"), Recovered: true, Cause: ptr("quorum-loss"), Confidence: correlate.Likely, Evidence: []string{"E2", "E4"}, Object: "ReplicaSet of default/web"}},
				Findings: []correlate.Finding{
					{Cause: "quorum-loss", Role: correlate.RoleCause, Confidence: correlate.Likely, Stage: 4, Rule: "R-QUORUM", Evidence: []string{"E2", "E4", "E5"},
						Text: "etcd-1 stepped down for want of a quorum at 04:12:09.512; no revision was stored until 04:15:31.700, and the controller manager's write was due in that time.", NextStep: "Read the logs of etcd-2 and etcd-3 around 04:12:09; check why two members were gone at once."},
					{Cause: "controller-down", Role: correlate.RoleContributing, Confidence: correlate.Proven, Stage: 4, Rule: "R-LEASE-LOST", Evidence: []string{"E6"}, Text: "The controller manager lost its lease at 04:12:22 and exited; a new one held it from 04:15:32.2 on.", NextStep: "None: it follows from the first link."},
					{Cause: "slow-disk", Role: correlate.RoleRejected, Rule: "R-DISK", Evidence: []string{"E5"}, Text: "No fsync of etcd-1 took more than 0.1 s before it stepped down."},
				}},
			{ID: other, Workload: correlate.Workload{Kind: "Deployment", Namespace: "pay", Name: "gateway"}, Outcome: correlate.Complete, Start: at("04:11:50"), End: at("04:15:50"),
				Trigger:  correlate.Trigger{Revision: ptr(int64(90990)), Time: at("04:11:50"), Actor: "helm", Change: "image of gateway: gw:41 → gw:42"},
				Stages:   stages(1, map[int]correlate.Stage{3: done("04:11:50", "04:11:50.1", "04:11:50.1", 90990, 90990)}),
				Stalls:   []correlate.Stall{{Stage: 7, From: at("04:12:22"), To: at("04:15:32"), Recovered: true, Cause: ptr("quorum-loss"), Confidence: correlate.Possible, Evidence: []string{"E4"}}},
				Findings: []correlate.Finding{{Cause: "quorum-loss", Role: correlate.RoleCause, Confidence: correlate.Possible, Stage: 7, Rule: "R-QUORUM", Evidence: []string{"E4"}, Text: "The pod's status was not stored while etcd had no quorum.", NextStep: "As for web."}}},
		},
		Episodes: []correlate.Episode{
			{ID: "P1", Kind: "quorum-loss", Start: at("04:12:09.512"), End: at("04:15:31.7"), Members: []string{"etcd-2", "etcd-3"}, Text: "etcd had no quorum for 3 min 22 s", Because: "Writes of two rollouts were due in that time.", AffectedRollouts: []string{id, other}, Evidence: []string{"E4", "E5"}},
			{ID: "P2", Kind: "controller-down", Start: at("04:12:22"), End: at("04:15:32.2"), Text: "No controller manager held its Lease", Because: "The write of the ReplicaSet was due.", AffectedRollouts: []string{id}, Evidence: []string{"E6"}},
			{ID: "P3", Kind: "clock-skew", Start: at("03:50:00"), Members: []string{"etcd-3"}, Harmless: true, Text: "The clock of etcd-3 was 1.1 s ahead", Because: "Nothing compared its times with those of others.", Evidence: []string{"E5"}},
		},
		Evidence: []correlate.Evidence{
			stored("E1", 91020, "deployments/default/web", "04:12:08.110", "04:12:08.101", "04:12:08.2", "generation 2 → 3"),
			stored("E2", 91031, "replicasets/default/web-79c5", "04:15:32.8", "04:15:32.2", "04:15:33", "created"),
			stored("E3", 91033, "pods/default/web-79c5-aaaaa", "04:15:33.2", "04:15:33", "04:15:34", "bound to node-a"),
			line("E4", "logs/etcd-1.log", 6000, "04:12:09.512", `{"level":"warn","msg":"etcd-1 stepped down to follower since quorum is not active"}`),
			line("E5", "logs/etcd-1.log", 6911, "04:15:31.7", `{"level":"info","msg":"etcd-1 became leader at term 9"}`),
			line("E6", "logs/kube-controller-manager.log", 2999, "04:12:22", `F0914 04:12:22.001 controllermanager.go:330] leaderelection lost`),
			line("E7", "logs/kube-apiserver.log", 20990, "04:12:16.5", `E0914 04:12:16.512 status.go:71] apiserver received an error that is not an metav1.Status: "etcdserver: request timed out"`),
		},
		Writes: []correlate.Write{
			{Time: at("04:12:09.490"), Verb: "update", Object: "replicasets/default/web-5bd7", User: "system:serviceaccount:kube-system:deployment-controller", Code: 500, Answer: "etcdserver: request timed out", Fate: correlate.FateLanded, Revision: ptr(int64(91024)), LandedAt: at("04:15:31.702"), Evidence: []string{"E7"}},
			{Time: at("04:12:12.1"), Verb: "update", Object: "leases/kube-system/kube-controller-manager", User: "system:kube-controller-manager", Code: 500, Answer: "etcdserver: request timed out", Fate: correlate.FateNotProposed, Evidence: []string{"E7"}, Repeats: 4},
		},
		Terms: []correlate.Term{
			{Number: 8, Leader: "etcd-1", Start: at("03:00:00"), End: at("04:12:09.512")},
			{Number: 9, Leader: "etcd-1", Start: at("04:15:31.7")},
		},
	}
	a.Signals = burstsOf(at("04:12:09"), 40)
	for i, s := range []string{"04:12:08.11", "04:15:32.8", "04:15:33", "04:15:33.2", "04:15:35", "04:15:41", "04:15:52", "04:16:02.4"} {
		kinds := []string{"Deployment", "ReplicaSet", "Pod"}
		p := point(id, int64(91020+11*i), kinds[min(i, 2)], fmt.Sprintf("web-79c5-%d", i), s, s, s, "change of the object's status")
		a.Points = append(a.Points, p)
	}
	return a
}

// burstsOf makes many signals of many signatures.
func burstsOf(start *time.Time, n int) []correlate.Signal {
	components := []string{"etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", ""}
	signatures := []string{"peer-unreachable", "request-timeout", "lease-renew-failed", "watch-closed", "context-deadline", "throttled", "reflector-list-failed", "handler-panic"}
	levels := []string{"error", "warn", "info"}
	var out []correlate.Signal
	for i := range n {
		from := start.Add(time.Duration(i*i%190) * time.Second)
		to := from.Add(time.Duration(i%7) * 3 * time.Second)
		out = append(out, correlate.Signal{
			Signature: signatures[i%len(signatures)], Input: "cluster", Source: "logs/x.log", Component: components[i%len(components)], Level: levels[i%3],
			Start: &from, End: &to, Count: 1 + i*i%4000, Line: 100 + i, Text: "a record of the burst",
		})
	}
	return out
}

// undecidedSample has two causes that fit, over two days.
func undecidedSample() *correlate.Analysis {
	a := imagePull()
	id := a.Rollouts[1].ID
	a.Verdict = correlate.Verdict{Text: "Stage 6 (prepare) of default/web rollout #2 is stalled; the evidence does not decide why.", Rollout: &id, Stage: ptr(6),
		Candidates: []correlate.Candidate{{Cause: "image-pull", Confidence: correlate.Possible}, {Cause: "cni", Confidence: correlate.Possible}}, WouldSettle: "The kubelet log of node-b from 21:10:07 on."}
	a.Rollouts[1].Findings = nil
	a.Rollouts[1].Stalls[0].Cause = nil
	a.Rollouts[1].Stalls[0].Confidence = ""
	a.Inputs = a.Inputs[:4]
	before := at("21:03:00").AddDate(0, 0, -1)
	a.Rollouts[0].Start, a.Rollouts[0].Trigger.Time = &before, &before
	a.Writes, a.Episodes, a.Terms = nil, nil, nil
	return a
}

const evil = "<script>alert(1)</script> `code` ``two`` | pipe || \\| [x](javascript:alert(1)) ![i](http://evil.example/x.png) *b* _u_ ~~s~~ &amp; \"q' \x00\x1b[31m\u202egnp.exe\u2066 \ufeff\r\n# heading\n- item\n1. one {{.Title}} www.evil.example $x$"

// hostile has text that tries to get out of its place, everywhere.
func hostile() *correlate.Analysis {
	a := imagePull()
	id := a.Rollouts[1].ID
	a.Tool.Version = evil
	a.Coverage.Notes = append(a.Coverage.Notes, evil, "1. not a list", "- not an item", "# not a heading", strings.Repeat("long ", 200_000))
	a.Verdict.Text = evil
	a.Evidence[0].ID, a.Evidence[1].ID = evil, "verdict"
	a.Evidence[2].Text = strings.Repeat("A", 1<<20) + "\xff\xfe"
	a.Evidence[3].Text = evil + "\n" + evil
	a.Evidence[4].Key, a.Evidence[5].Source = evil, evil
	a.Evidence = append(a.Evidence, a.Evidence[5], correlate.Evidence{ID: `"><img src=x onerror=alert(1)>`, Text: "שלום עולם مرحبا"})
	r := &a.Rollouts[1]
	r.Workload.Name, r.Trigger.Actor, r.Trigger.Change = "we|b`</title>", evil, evil
	r.Trigger.Request.Message = evil
	r.Stages[5].Note, r.Stages[5].Evidence = evil, []string{evil, "verdict", "E99", "E5"}
	r.Stages[6].State = correlate.StageState(`x" onload="alert(1)`)
	r.Stages[7].Name = "`\n```\n</svg>"
	r.Stalls[0].Object = evil
	r.Outcome = correlate.Outcome(`x" onclick="y`)
	r.Findings[0].Text, r.Findings[0].NextStep, r.Findings[0].Rule = evil, evil, evil
	a.Inputs[1].Path, a.Inputs[1].SHA256, a.Inputs[1].Problems = evil, evil, []string{evil, evil, evil, evil, evil}
	a.Episodes[0].ID, a.Episodes[0].Text, a.Episodes[0].Members = "E6", evil, []string{evil}
	a.Writes[0].Answer, a.Writes[0].Object, a.Writes[0].User = evil, evil, evil
	a.Signals[0].Signature, a.Signals[1].Component, a.Signals[2].Text = evil, evil, evil
	a.Terms[0].Leader = evil
	a.Terms[1].Stood, a.Terms[1].SeenBy, a.Terms[1].Disputed = []string{evil}, []string{evil, evil}, []string{evil}
	for i := range 60 {
		when := at("21:10:08").Add(time.Duration(i) * time.Second)
		a.Points = append(a.Points, correlate.Point{Rollout: id, Revision: int64(1100 + i), Time: &when, Kind: fmt.Sprintf("Kind%d|<b>", i%20), Name: evil + fmt.Sprint(i%40), Text: evil})
	}
	return a
}
