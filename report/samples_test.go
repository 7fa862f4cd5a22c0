package report

import (
	"fmt"
	"strings"
	"time"

	"etcd-autopsy/correlate"
)

// day is the day of all samples.
const day = "2026-09-14T"

// at is a time of that day.
func at(clock string) *time.Time {
	t, err := time.Parse(time.RFC3339Nano, day+clock+"Z")
	if err != nil {
		panic(err)
	}
	return &t
}

func ptr[T any](v T) *T { return &v }

// samples are the analyses that the goldens are rendered from.
var samples = []struct {
	name  string
	build func() *correlate.Analysis
}{
	{"image-pull", imagePull},
	{"refused", refused},
	{"healthy", healthySample},
	{"quorum-loss", quorumLoss},
	{"undecided", undecidedSample},
	{"hostile", hostile},
	{"empty", func() *correlate.Analysis { return &correlate.Analysis{SchemaVersion: 1} }},
}

func digestOf(n int) string { return strings.Repeat(fmt.Sprintf("%02x", n*37%251), 32) }

func logInput(n int, path, component, member, first, last string, records int) correlate.Input {
	return correlate.Input{
		Label: "bundle", Path: path, Kind: "log", Component: component, Member: member, SHA256: digestOf(n), Bytes: int64(records) * 212,
		Records: records, First: at(first), Last: at(last), Why: "lines in the format of " + component,
	}
}

// line and stored are pieces of evidence.
func line(id, source string, n int, when, text string) correlate.Evidence {
	return correlate.Evidence{ID: id, Input: "bundle", Source: source, Line: n, Time: at(when), Text: text}
}

func stored(id string, rev int64, key, when, early, late, text string) correlate.Evidence {
	return correlate.Evidence{
		ID: id, Input: "bundle", Source: "after.db", Revision: rev, Key: "/registry/" + key,
		Time: at(when), Earliest: at(early), Latest: at(late), Text: text,
	}
}

func point(rollout string, rev int64, kind, name, when, early, late, text string) correlate.Point {
	return correlate.Point{Rollout: rollout, Revision: rev, Kind: kind, Name: name, Time: at(when), Earliest: at(early), Latest: at(late), Text: text}
}

func signal(signature, component, source, level string, n, count int, from, to, text string) correlate.Signal {
	return correlate.Signal{
		Signature: signature, Input: "bundle", Source: source, Component: component, Level: level,
		Start: at(from), End: at(to), Count: count, Line: n, Text: text,
	}
}

// stages gives the nine stages the times of steps, by number.
func stages(desired int, steps map[int]correlate.Stage) []correlate.Stage {
	out := make([]correlate.Stage, 9)
	for i := range out {
		s, ok := steps[i+1]
		if !ok {
			s.State = correlate.StageNotReached
			if i < 2 {
				s.State = correlate.StageNoEvidence
			}
		}
		s.Number, s.Name = i+1, correlate.StageName(i+1)
		if i > 1 && s.Desired == 0 {
			s.Desired = desired
		}
		out[i] = s
	}
	return out
}

func done(start, reached, end string, first, last int64, evidence ...string) correlate.Stage {
	return correlate.Stage{
		State: correlate.StageReached, Start: at(start), Reached: at(reached), End: at(end),
		FirstRevision: ptr(first), LastRevision: ptr(last), Through: 3, Desired: 3, Evidence: evidence,
	}
}

func web(n int) (string, correlate.Workload) {
	return fmt.Sprintf("deployment/default/web#%d", n),
		correlate.Workload{Kind: "Deployment", Namespace: "default", Name: "web", UID: "0b6f2b9e-1f0c-4f8e-9a51-7d6d3c0b1a11"}
}

var tool = correlate.Tool{Name: "etcd-autopsy", Version: "v0.3.0"}

// imagePull is a rollout that could not pull its image while a leader change
// went by that held up nothing.
func imagePull() *correlate.Analysis {
	id, w := web(2)
	first, _ := web(1)
	oldPod, newPod := "web-5c9f7d8b6-4kq2z", "web-7f6b4c9d5-x2k9p"
	return &correlate.Analysis{
		SchemaVersion: 1, Tool: tool,
		Inputs: []correlate.Input{
			{Label: "bundle", Path: "after.db", Kind: "snapshot", SHA256: digestOf(1), Bytes: 4 << 20, Records: 412, First: at("21:02:11"), Last: at("21:11:08"), Why: "bbolt pages with a key bucket and a hash at the end"},
			logInput(2, "logs/etcd-1.log", "etcd", "etcd-1", "21:00:00.112", "21:11:10.402", 1873),
			logInput(3, "logs/etcd-2.log", "etcd", "etcd-2", "21:00:00.201", "21:11:09.877", 1790),
			{Label: "bundle", Path: "logs/etcd-3.log", Kind: "log", Component: "etcd", Member: "etcd-3", SHA256: digestOf(4), Bytes: 88213, Records: 402, First: at("21:04:00"), Last: at("21:11:09"), Problems: []string{"Lines 233 to 240 are cut in the middle.", "The log begins at 21:04:00, four minutes after the others."}, Why: "zap JSON"},
			logInput(5, "logs/kube-apiserver.log", "kube-apiserver", "", "21:00:02.1", "21:11:10.9", 5120),
			logInput(6, "logs/kubelet-node-b.log", "kubelet", "", "21:00:01", "21:11:10.1", 911),
			{Label: "bundle", Path: "audit.log", Kind: "audit", Component: "kube-apiserver", SHA256: digestOf(7), Bytes: 9 << 20, Records: 8123, First: at("21:00:00"), Last: at("21:11:10.8"), Why: "audit.k8s.io/v1 events"},
			{Label: "bundle", Path: "README", Kind: "unknown", SHA256: digestOf(8), Bytes: 120, Why: "no mark of a known kind"},
		},
		Coverage: correlate.Coverage{FirstRevision: 801, LastRevision: 1088, CompactRevision: 800, Collect: []correlate.Collect{
			{What: "the log of kubelet", Why: "what happened on the nodes is seen only through the pods' status", Command: "journalctl -u kubelet > kubelet-$(hostname).log", Decides: true},
			{What: "the data folder of etcd member etcd-3", Why: "its write-ahead log reaches hours back", Command: "tar -C /var/lib/etcd -cf etcd-$(hostname).tar member"},
		}, Notes: []string{
			"No containerd log was given: what the registry answered is known from k8s Events only.",
			"k8s Events are kept for one hour; all of the window lies within it.",
		}},
		Verdict: correlate.Verdict{
			Text:    "Stage 6 (prepare) stalled because the registry had no manifest for localhost:5000/web:v3, which the kubelet of node-b asked for from 21:10:08.902 on; the trigger was the image change at revision 1050.",
			Rollout: &id, Stage: ptr(6), Cause: ptr("image-pull"), Confidence: correlate.Proven,
			Candidates: []correlate.Candidate{{Cause: "image-pull", Confidence: correlate.Proven}},
		},
		Rollouts: []correlate.Rollout{
			{
				ID: first, Workload: w, Outcome: correlate.Complete, Start: at("21:03:00.100"), End: at("21:03:09.500"),
				Trigger:  correlate.Trigger{Revision: ptr(int64(812)), Time: at("21:03:00.100"), Actor: "kubectl-create (ci-deployer)", Change: "created with image localhost:5000/web:v1"},
				Stages:   stages(3, map[int]correlate.Stage{3: done("21:03:00.1", "21:03:00.1", "21:03:00.1", 812, 812), 9: done("21:03:00.1", "21:03:09.5", "21:03:09.5", 840, 840)}),
				Findings: []correlate.Finding{},
			},
			{
				ID: id, Workload: w, Outcome: correlate.Stalled, Start: at("21:10:07.412"), Onset: at("21:10:08.902"), StalledStage: ptr(6),
				Trigger: correlate.Trigger{
					Revision: ptr(int64(1050)), Time: at("21:10:07.431"), Actor: "kubectl-set (ci-deployer)",
					Change:  "image of web: localhost:5000/web:v1 → localhost:5000/web:v3",
					Request: &correlate.Request{AuditID: "c3a1f0de-64b1-4b44-9d0e-02f6a0b7f3aa", Code: 200},
				},
				Stages: stages(3, map[int]correlate.Stage{
					3: {State: correlate.StageReached, Start: at("21:10:07.412"), Reached: at("21:10:07.431"), End: at("21:10:07.431"), FirstRevision: ptr(int64(1050)), LastRevision: ptr(int64(1050)), Through: 3, Evidence: []string{"E1", "E2"}},
					4: {State: correlate.StageReached, Start: at("21:10:07.431"), Reached: at("21:10:07.522"), FirstRevision: ptr(int64(1053)), Through: 1, Evidence: []string{"E3"}, Note: "maxSurge allows one further pod at a time"},
					5: {State: correlate.StageReached, Start: at("21:10:07.522"), Reached: at("21:10:07.548"), FirstRevision: ptr(int64(1055)), Through: 1, Evidence: []string{"E4"}},
					6: {State: correlate.StageStalled, Start: at("21:10:07.548"), Through: 0, Evidence: []string{"E5", "E6", "E7"}},
				}),
				Stalls: []correlate.Stall{{Stage: 6, From: at("21:10:08.902"), Cause: ptr("image-pull"), Confidence: correlate.Proven, Evidence: []string{"E5", "E6"}, Object: "Pod default/" + newPod}},
				Findings: []correlate.Finding{
					{Cause: "image-pull", Role: correlate.RoleCause, Confidence: correlate.Proven, Stage: 6, Rule: "R-PULL-NOTFOUND", Evidence: []string{"E5", "E6", "E7"},
						Text:     "The kubelet of node-b reported ErrImagePull, then ImagePullBackOff, for container web: the registry answered that localhost:5000/web:v3 is not found.",
						NextStep: "Check that localhost:5000/web:v3 exists (crane digest localhost:5000/web:v3); push it, or set the image back to v1."},
					{Cause: "image-pull", Role: correlate.RoleContributing, Confidence: correlate.Likely, Stage: 6, Rule: "R-PULL-BACKOFF", Evidence: []string{"E7"},
						Text: "Back-off had grown to 40 s by 21:10:52, so the pod tries again later than the tag may appear.", NextStep: "Delete the pod once the tag exists."},
					{Cause: "leader-loss", Role: correlate.RoleRejected, Rule: "R-LEADER-DUE", Evidence: []string{"E8", "E9"},
						Text: "The leader changed from etcd-1 to etcd-2 at 21:10:21.4, 12 s after the pull had failed, and writes of this rollout were stored 0.4 s later."},
					{Cause: "unschedulable", Role: correlate.RoleRejected, Rule: "R-SCHED", Evidence: []string{"E4"}, Text: "The pod was bound to node-b 26 ms after it was created."},
				},
			},
		},
		Episodes: []correlate.Episode{
			{ID: "P1", Kind: "leader-loss", Start: at("21:10:21.402"), End: at("21:10:22.655"), Members: []string{"etcd-1", "etcd-2"}, Harmless: true,
				Text: "etcd had no leader for 1.25 s", Because: "No write of a rollout was due in that time, and leases did not expire.", Evidence: []string{"E8", "E9"}},
		},
		Evidence: []correlate.Evidence{
			line("E1", "audit.log", 7641, "21:10:07.412", `{"kind":"Event","auditID":"c3a1f0de-64b1-4b44-9d0e-02f6a0b7f3aa","stage":"ResponseComplete","verb":"patch","user":{"username":"ci-deployer"},"objectRef":{"resource":"deployments","namespace":"default","name":"web"},"responseStatus":{"code":200}}`),
			stored("E2", 1050, "deployments/default/web", "21:10:07.431", "21:10:07.412", "21:10:07.440", "generation 1 → 2; image of web: localhost:5000/web:v1 → localhost:5000/web:v3"),
			stored("E3", 1053, "pods/default/"+newPod, "21:10:07.522", "21:10:07.431", "21:10:08", "created by ReplicaSet web-7f6b4c9d5"),
			stored("E4", 1055, "pods/default/"+newPod, "21:10:07.548", "21:10:07.530", "21:10:08", "spec.nodeName: node-b; PodScheduled=True"),
			stored("E5", 1061, "pods/default/"+newPod, "21:10:08.902", "21:10:08.3", "21:10:09.1", "container web waiting: ErrImagePull"),
			line("E6", "logs/kubelet-node-b.log", 877, "21:10:08.899", `E0914 21:10:08.899120    1201 kuberuntime_image.go:42] "Failed to pull image" err="rpc error: code = NotFound desc = failed to pull and unpack image \"localhost:5000/web:v3\": not found" image="localhost:5000/web:v3"`),
			stored("E7", 1079, "pods/default/"+newPod, "21:10:52.110", "21:10:51.9", "21:10:53", "container web waiting: ImagePullBackOff"),
			line("E8", "logs/etcd-2.log", 1604, "21:10:22.655", `{"level":"info","ts":"2026-09-14T21:10:22.655Z","msg":"etcd-2 became leader at term 4"}`),
			line("E9", "logs/etcd-1.log", 1590, "21:10:21.402", `{"level":"warn","ts":"2026-09-14T21:10:21.402Z","msg":"etcd-1 lost leader at term 3"}`),
		},
		Writes: []correlate.Write{
			{Time: at("21:10:21.9"), Verb: "update", Object: "leases/kube-node-lease/node-a", User: "system:node:node-a", AuditID: "aa", Code: 500, Answer: "etcdserver: leader changed", Fate: correlate.FateLanded, Revision: ptr(int64(1066)), LandedAt: at("21:10:22.8"), Evidence: []string{"E8"}, Repeats: 2},
			{Time: at("21:10:22.0"), Verb: "create", Object: "events/default/web-7f6b4c9d5-x2k9p.17a", User: "system:node:node-b", Code: 500, Answer: "etcdserver: leader changed", Fate: correlate.FateUnknown, Evidence: []string{"E9"}},
		},
		UnknownMessages: correlate.UnknownMessages{
			From: at("21:10:08.902"), To: at("21:11:12"), More: 3, MoreRecords: 41,
			List: []correlate.UnknownMessage{
				{Text: "Mirror <*> answered <n>, giving up on | \"<*>\"", Component: "kubelet", Level: "error", Count: 12, First: at("21:10:09"), Last: at("21:11:01"),
					Before: ptr(0.0), During: ptr(11.4), Evidence: []string{"E6"}},
				{Text: "disk cache is cold", Level: "warn", Count: 40, First: at("21:02:00"), Last: at("21:11:00"), During: ptr(0.05), Evidence: []string{"E9"}},
			},
		},
		Signals: []correlate.Signal{
			signal("etcd-leader-lost", "etcd", "logs/etcd-1.log", "warn", 1590, 1, "21:10:21.402", "21:10:21.402", "lost leader"),
			signal("etcd-leader-elected", "etcd", "logs/etcd-2.log", "info", 1604, 1, "21:10:22.655", "21:10:22.655", "became leader at term 4"),
			signal("etcd-apply-slow", "etcd", "logs/etcd-1.log", "warn", 1500, 14, "21:10:11", "21:10:20", "apply request took too long"),
			signal("etcd-apply-slow", "etcd", "logs/etcd-2.log", "warn", 1611, 4, "21:10:23", "21:10:25", "apply request took too long"),
			signal("etcd-apply-slow", "etcd", "logs/etcd-1.log", "warn", 200, 3, "21:02:11", "21:02:14", "apply request took too long"),
			signal("apiserver-leader-changed", "kube-apiserver", "logs/kube-apiserver.log", "error", 4800, 6, "21:10:21.9", "21:10:22.6", "etcdserver: leader changed"),
			signal("kubelet-image-pull-failed", "kubelet", "logs/kubelet-node-b.log", "error", 877, 1, "21:10:08.899", "21:10:08.899", "Failed to pull image"),
			signal("kubelet-image-pull-failed", "kubelet", "logs/kubelet-node-b.log", "error", 880, 1, "21:10:23.1", "21:10:23.1", "Failed to pull image"),
			signal("kubelet-image-pull-failed", "kubelet", "logs/kubelet-node-b.log", "error", 888, 1, "21:10:50.1", "21:10:50.1", "Failed to pull image"),
			signal("kubelet-pod-worker-error", "kubelet", "logs/kubelet-node-b.log", "error", 878, 9, "21:10:08.9", "21:11:10.1", "Error syncing pod, skipping"),
		},
		Points: []correlate.Point{
			point(first, 812, "Deployment", "web", "21:03:00.1", "21:03:00", "21:03:01", "created"),
			point(id, 1050, "Deployment", "web", "21:10:07.431", "21:10:07.412", "21:10:07.440", "image v1 → v3, generation 2"),
			point(id, 1051, "ReplicaSet", "web-7f6b4c9d5", "21:10:07.470", "21:10:07.431", "21:10:08", "created, 1 replica wanted"),
			point(id, 1052, "Deployment", "web", "21:10:07.490", "21:10:07.431", "21:10:08", "observedGeneration 2"),
			point(id, 1053, "Pod", newPod, "21:10:07.522", "21:10:07.431", "21:10:08", "created"),
			point(id, 1055, "Pod", newPod, "21:10:07.548", "21:10:07.530", "21:10:08", "bound to node-b"),
			point(id, 1056, "Pod", newPod, "21:10:07.650", "21:10:07.548", "21:10:08", "PodReadyToStartContainers"),
			point(id, 1061, "Pod", newPod, "21:10:08.902", "21:10:08.3", "21:10:09.1", "waiting: ErrImagePull"),
			point(id, 1064, "Pod", newPod, "21:10:20.5", "21:10:19.8", "21:10:21.4", "waiting: ImagePullBackOff"),
			point(id, 1070, "Pod", newPod, "21:10:23.1", "21:10:22.8", "21:10:27", "waiting: ErrImagePull"),
			point(id, 1079, "Pod", newPod, "21:10:52.110", "21:10:51.9", "21:10:53", "waiting: ImagePullBackOff"),
			point(id, 1082, "Pod", oldPod, "21:10:58", "21:10:55", "21:11:02", "Ready still True"),
			{Rollout: id, Revision: 1085, Kind: "EndpointSlice", Name: "web-8wq7c", Time: at("21:11:04"), Text: "3 ready addresses, all of the old ReplicaSet"},
		},
		Terms: []correlate.Term{
			{Number: 3, Leader: "etcd-1", Start: at("20:58:00"), End: at("21:10:21.402"), Stood: []string{"etcd-1"}, SeenBy: []string{"etcd-1", "etcd-2"}, Source: "wal"},
			{Number: 4, Leader: "etcd-2", Start: at("21:10:22.655"), Election: ptr(1.253), Stood: []string{"etcd-2", "etcd-3"}, SeenBy: []string{"etcd-2", "etcd-3"},
				Disputed: []string{"other-0"}, Source: "log"},
		},
	}
}

// refused is an update that RBAC did not let through.
func refused() *correlate.Analysis {
	_, w := web(1)
	w.Kind, w.Namespace, w.Name = "StatefulSet", "shop", "ledger"
	id := "statefulset/shop/ledger@1b2c77aa-0000-4c1d-8a3e-5dfd13c0ffee"
	return &correlate.Analysis{
		SchemaVersion: 1, Tool: tool,
		Inputs: []correlate.Input{
			{Label: "audit.log", Path: "audit.log", Kind: "audit", Component: "kube-apiserver", SHA256: digestOf(3), Bytes: 1234567, Records: 900, First: at("08:00:00"), Last: at("08:20:00"), Why: "audit.k8s.io/v1 events"},
			{Label: "m1", Path: "member/snap/db", Kind: "member", Member: "etcd-1", SHA256: digestOf(4), Bytes: 20 << 20, Records: 3111, Why: "bbolt pages with a key bucket"},
		},
		Coverage: correlate.Coverage{FirstRevision: 44000, LastRevision: 47110},
		Verdict: correlate.Verdict{Text: "The update of shop/ledger was refused in stage 3 (update): ci-deployer may not patch StatefulSets in namespace shop.",
			Rollout: &id, Stage: ptr(3), Cause: ptr("forbidden"), Confidence: correlate.Proven},
		Rollouts: []correlate.Rollout{{
			ID: id, Workload: w, Outcome: correlate.Refused, Start: at("08:12:30.001"), Onset: at("08:12:30.001"), StalledStage: ptr(3),
			Trigger: correlate.Trigger{Time: at("08:12:30.001"), Actor: "kubectl-client-side-apply (ci-deployer)", Change: "image of ledger: ledger:7 → ledger:8",
				Request: &correlate.Request{AuditID: "1b2c77aa-0000-4c1d-8a3e-5dfd13c0ffee", Code: 403, Message: `statefulsets.apps "ledger" is forbidden: User "ci-deployer" cannot patch resource "statefulsets" in API group "apps" in the namespace "shop"`}},
			Stages: stages(2, map[int]correlate.Stage{3: {State: correlate.StageStalled, Start: at("08:12:30.001"), Evidence: []string{"E1"}, Note: "the attempt left no revision"}}),
			Stalls: []correlate.Stall{{Stage: 3, From: at("08:12:30.001"), Cause: ptr("forbidden"), Confidence: correlate.Proven, Evidence: []string{"E1"}}},
			Findings: []correlate.Finding{{Cause: "forbidden", Role: correlate.RoleCause, Confidence: correlate.Proven, Stage: 3, Rule: "R-403", Evidence: []string{"E1"},
				Text: "The API server answered the patch with 403: RBAC gives ci-deployer no right to patch StatefulSets in shop.", NextStep: "kubectl auth can-i patch statefulsets -n shop --as ci-deployer; bind a Role that allows it."}},
		}},
		Evidence: []correlate.Evidence{line("E1", "audit.log", 612, "08:12:30.001", `{"auditID":"1b2c77aa-0000-4c1d-8a3e-5dfd13c0ffee","verb":"patch","responseStatus":{"code":403,"reason":"Forbidden"}}`)},
		Writes: []correlate.Write{{Time: at("08:12:30.001"), Verb: "patch", Object: "statefulsets/shop/ledger", User: "ci-deployer", AuditID: "1b2c77aa", Code: 403,
			Answer: `statefulsets.apps "ledger" is forbidden`, Fate: correlate.FateRejected, Evidence: []string{"E1"}, Repeats: 3}},
	}
}

// healthySample is a rollout in which nothing waited.
func healthySample() *correlate.Analysis {
	id, w := web(5)
	steps := map[int]correlate.Stage{
		3: done("10:00:00.000", "10:00:00.040", "10:00:00.040", 2001, 2001, "E1"), 4: done("10:00:00.040", "10:00:00.110", "10:00:06.2", 2003, 2041, "E2"),
		5: done("10:00:00.110", "10:00:00.180", "10:00:06.3", 2004, 2043, "E2"), 6: done("10:00:00.180", "10:00:02.1", "10:00:08.1", 2009, 2050, "E2"),
		7: done("10:00:02.1", "10:00:03.0", "10:00:09.2", 2012, 2055, "E2"), 8: done("10:00:03.0", "10:00:03.2", "10:00:09.4", 2014, 2057, "E2"),
		9: done("10:00:00.040", "10:00:09.9", "10:00:09.9", 2060, 2060, "E3"),
	}
	var points []correlate.Point
	for i := range 36 {
		when := at("10:00:00").Add(time.Duration(i) * 280 * time.Millisecond)
		kind, object := "Pod", fmt.Sprintf("web-6d8f9c-%05d", i%6)
		if i%9 == 0 {
			kind, object = "Deployment", "web"
		}
		points = append(points, correlate.Point{Rollout: id, Revision: int64(2001 + i*2), Kind: kind, Name: object, Time: &when, Earliest: ptr(when.Add(-30 * time.Millisecond)), Latest: ptr(when.Add(20 * time.Millisecond)), Text: "status changed"})
	}
	return &correlate.Analysis{
		SchemaVersion: 1, Tool: tool,
		Inputs: []correlate.Input{
			{Label: "after.db", Path: "after.db", Kind: "snapshot", SHA256: digestOf(9), Bytes: 3 << 20, Records: 800, First: at("09:58:00"), Last: at("10:05:00"), Why: "bbolt pages with a key bucket"},
			logInput(2, "logs/etcd-1.log", "etcd", "etcd-1", "09:50:00", "10:05:02", 400),
		},
		Coverage: correlate.Coverage{FirstRevision: 1500, LastRevision: 2300, CompactRevision: 1500, Notes: []string{"No audit log was given: requests that left no revision were not seen."}},
		Verdict:  correlate.Verdict{Text: "No rollout stalled in the evidence, and no control-plane fault held anything up.", Cause: ptr("none")},
		Rollouts: []correlate.Rollout{{ID: id, Workload: w, Outcome: correlate.Complete, Start: at("10:00:00.000"), End: at("10:00:09.9"),
			Trigger: correlate.Trigger{Revision: ptr(int64(2001)), Time: at("10:00:00.040"), Actor: "argocd-controller", Change: "image of web: web:v8 → web:v9"},
			Stages:  stages(3, steps)}},
		Episodes: []correlate.Episode{{ID: "P1", Kind: "slow-disk", Start: at("10:00:04"), End: at("10:00:05.3"), Members: []string{"etcd-1"}, Harmless: true, Text: "One fsync of etcd-1 took 1.3 s", Because: "etcd-1 was a follower and the two others committed.", Evidence: []string{"E4"}}},
		Evidence: []correlate.Evidence{
			stored("E1", 2001, "deployments/default/web", "10:00:00.040", "10:00:00", "10:00:00.1", "generation 5"),
			stored("E2", 2057, "pods/default/web-6d8f9c-00002", "10:00:09.4", "10:00:09.2", "10:00:09.6", "Ready=True"),
			stored("E3", 2060, "deployments/default/web", "10:00:09.9", "10:00:09.8", "10:00:10", "3 updated, 3 available"),
			line("E4", "logs/etcd-1.log", 212, "10:00:05.3", "slow fdatasync took 1.3s"),
		},
		Signals: []correlate.Signal{signal("etcd-slow-fdatasync", "etcd", "logs/etcd-1.log", "warn", 212, 1, "10:00:05.3", "10:00:05.3", "slow fdatasync")},
		Points:  points,
	}
}
