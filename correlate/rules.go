package correlate

import "time"

// A suspect is a cause that a rule put forward for a stall, before roles are given.
type suspect struct {
	cause      string
	rule       string
	role       Role
	confidence Confidence
	text       string
	cites      []*cite
	episode    *episode
}

// ruling is what the judge says of one stall.
type ruling struct {
	// main is the cause; nil when undecided. more are contributing links and
	// rejected suspects.
	main       *suspect
	more       []*suspect
	candidates []Candidate
	settle     string
}

// A localRule recognises a cause that a stored object states or that the chain of
// objects shows. It gets the stall and returns nil when it does not fire.
type localRule struct {
	id     string
	cause  string
	stages []int
	judge  func(*judge, *attempt, *stall) *suspect
}

// localRules are tried in order; the first that fires is the direct cause. The
// table is the whole list: what is not here is never named as a local cause.
var localRules = []localRule{
	{"S4-failed-create", "", []int{stageReplicaSet, stageConverge}, failedCreate},
	{"S4-paused", "paused", []int{stageReplicaSet}, paused},
	{"S5-unschedulable", "unschedulable", []int{stageSchedule}, unschedulable},
	{"S6-waiting-pull", "image-pull", []int{stagePrepare}, imagePull},
	{"S6-failed-mount", "volume", []int{stagePrepare}, failedMount},
	{"S6-failed-sandbox", "", []int{stagePrepare}, failedSandbox},
	{"S7-container-state", "", []int{stageStart}, containerFails},
	{"S8-selector", "selector-mismatch", []int{stageServe}, selectorMismatch},
}

// nextSteps say what to do about a cause first. They name the object where the
// text of the finding does.
var nextSteps = map[string]string{
	"image-pull":              "Check the image name and tag in the registry from a node of this cluster; roll back or set an image that exists.",
	"crash-loop":              "Read the container's previous log (kubectl logs --previous) and the exit code above; roll back if the change is the only difference.",
	"liveness-probe":          "Compare the liveness probe (path, port, timeouts) with how the container really answers while it starts.",
	"startup-probe":           "Give the startup probe the time that the container really needs, or find why it is slow.",
	"oom":                     "Compare the container's memory limit with what it used; raise the limit or find the growth.",
	"start-error":             "Check command, entry point and architecture of the image against the message above.",
	"config-missing":          "Create the Secret, ConfigMap or key that the message names, or correct the reference.",
	"volume":                  "Look at the volume that the message names: its claim, its attachment, the Secret or ConfigMap behind it.",
	"cni":                     "Look at the network plugin's pods and configuration on the node named above.",
	"runtime-sandbox":         "Read the container runtime's log on the node named above.",
	"unschedulable":           "Compare what the pod asks for with the nodes as the message counts them; correct the request or add capacity.",
	"quota":                   "Raise the quota that the message names, or free what it counts; the ReplicaSet retries by itself, with growing pauses.",
	"limit-range":             "Correct the pod's requests and limits to fit the LimitRange that the message names.",
	"admission-webhook":       "Bring the webhook's service back, or correct its failure policy; the message names it.",
	"admission-denied":        "Correct the pod to what the policy in the message asks for.",
	"service-account-missing": "Create the service account that the message names.",
	"namespace-terminating":   "Nothing can be created in a namespace that is being deleted; find what asked for the deletion.",
	"paused":                  "Resume the Deployment (kubectl rollout resume).",
	"controller-down":         "Find out why the controller manager stopped: its own last lines, its pod or unit, its API server.",
	"scheduler-down":          "Find out why the scheduler stopped: its own last lines, its pod or unit, its API server.",
	"kubelet-down":            "Look at the node: is it up, and is its kubelet running? Its journal says why it stopped.",
	"apiserver-down":          "Read the last lines of that API server and of the etcd member it uses.",
	"selector-mismatch":       "Compare the Service's selector with the pods' labels and correct the one that is wrong.",
	"forbidden":               "Grant the user the verb that the message names (Role and RoleBinding), or deploy with the account meant for it.",
	"unauthenticated":         "Renew the client's credentials.",
	"invalid-object":          "Correct the object as the message says; nothing was stored.",
	"leader-loss":             "Find why the leader was lost: its disk, its network, its CPU, a restart.",
	"quorum-loss":             "Find why a majority of etcd members was away at once; after the quorum is back, check that every component holds its Lease.",
	"member-down":             "Find why the member stopped; give every API server all members as etcd endpoints.",
	"slow-disk":               "Find what else writes to the members' disks, and whether they fit etcd (fsync p99 below 10 ms).",
	"member-inconsistency":    "Compare the members (etcdctl endpoint hashkv at one revision), keep a copy of each, then remove the member that differs and add it anew with an empty data directory; etcd's release notes name the versions with known faults.",
	"restore-rewind":          "Restart the API servers, controllers and kubelets that ran before the restore, so that they list anew; compare what was written after the snapshot with what is there now.",
	"nospace":                 "Compact, defragment each member in turn, then disarm the alarm; find what filled the store.",
}

// inSpan says whether a moment lies in the stall, with some slack on both sides.
func inSpan(t time.Time, s *stall, slack time.Duration) bool {
	return !t.Before(s.from.Add(-slack)) && !t.After(s.to.Add(slack))
}
