package correlate

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// stalledPod is the newest version of a pod within a stall.
func (j *judge) stalledPod(w *wait) version[*corev1.Pod] {
	v := w.p.pod.first()
	for _, x := range w.p.pod.versions {
		if out := w.p.through(w.stage); out.ok && x.rev >= out.rev && out.rev != 0 {
			break
		}
		v = x
	}
	return v
}

func podName(v version[*corev1.Pod]) string { return v.obj.Namespace + "/" + v.obj.Name }

// unschedulable: the scheduler says that no node fits.
func unschedulable(j *judge, _ *attempt, s *stall) *suspect {
	for _, w := range s.waits {
		v := j.stalledPod(w)
		k := condition(v.obj, corev1.PodScheduled)
		if k == nil || k.Status != corev1.ConditionFalse || k.Reason != corev1.PodReasonUnschedulable {
			continue
		}
		cites := []*cite{revCite(v.idx, "Pod %s: PodScheduled=False, Unschedulable: %s", podName(v), k.Message)}
		cites = append(cites, j.eventCites(v.obj.UID, s, "FailedScheduling")...)
		return &suspect{cause: "unschedulable", confidence: Proven, cites: cites,
			text: fmt.Sprintf("The scheduler found no node for pod %s: %s", podName(v), cutText(k.Message))}
	}
	return nil
}

// imagePull: the kubelet waits after a failed pull, and still does at the end.
func imagePull(j *judge, _ *attempt, s *stall) *suspect {
	for _, w := range s.waits {
		v := j.stalledPod(w)
		st := waitingFor(v.obj, pullFailure)
		if st == nil {
			continue
		}
		image := imageOf(v.obj, st.Name)
		cites := []*cite{revCite(v.idx, "Pod %s: %s", podName(v), waitingText(st))}
		msg := st.State.Waiting.Message
		for _, e := range j.eventsOf(v.obj.UID, s, "Failed") {
			if strings.Contains(e.obj.Message, "pull") {
				msg = e.obj.Message
				cites = append(cites, eventCite(e))
				break
			}
		}
		class := pullClass(msg + " " + st.State.Waiting.Message)
		text := fmt.Sprintf("The kubelet of %s could not pull image %s for pod %s (%s)", v.obj.Spec.NodeName, image, podName(v), st.State.Waiting.Reason)
		if class != "" {
			text += ": " + class
		}
		return &suspect{cause: "image-pull", confidence: Proven, cites: cites, text: text}
	}
	return nil
}

// pullClasses are the classes of failed pulls, by what runtimes and registries
// answer. 429 of a registry is not overload of the API (incidents.md N-10).
var pullClasses = []struct {
	class string
	words []string
}{
	{"the name of the registry does not resolve", []string{"no such host", "server misbehaving"}},
	{"the registry refuses for too many requests", []string{"429", "toomanyrequests", "rate limit"}},
	{"the registry denies access", []string{"401", "403", "unauthorized", "authorization failed", "access denied", "denied"}},
	{"the registry has no such image or tag", []string{"not found", "manifest unknown", "404"}},
	{"the image's name is not valid", []string{"invalid reference", "InvalidImageName", "couldn't parse image"}},
	{"the registry does not answer", []string{"timeout", "connection refused", "deadline exceeded", "connection reset", "EOF"}},
	{"its certificate is not trusted", []string{"x509"}},
	{"the image could not be unpacked", []string{"unpack", "no space left"}},
}

func pullClass(msg string) string {
	for _, k := range pullClasses {
		for _, w := range k.words {
			if strings.Contains(msg, w) {
				return k.class
			}
		}
	}
	return ""
}

// waitingFor finds a container that waits for one of some reasons.
func waitingFor(p *corev1.Pod, reasons map[string]bool) *corev1.ContainerStatus {
	for _, all := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range all {
			if w := all[i].State.Waiting; w != nil && reasons[w.Reason] {
				return &all[i]
			}
		}
	}
	return nil
}

func imageOf(p *corev1.Pod, container string) string {
	for _, all := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, k := range all {
			if k.Name == container {
				return k.Image
			}
		}
	}
	return "?"
}

// failedMount: the kubelet or the attach controller states that a volume is
// missing, and did so until the end of the stall.
func failedMount(j *judge, _ *attempt, s *stall) *suspect {
	return j.podEvents(s, "volume", "A volume of pod %s could not be mounted: %s", "FailedMount", "FailedAttachVolume")
}

// failedSandbox: the runtime could not make the pod's sandbox.
func failedSandbox(j *judge, _ *attempt, s *stall) *suspect {
	x := j.podEvents(s, "runtime-sandbox", "The sandbox of pod %s could not be made: %s", "FailedCreatePodSandBox", "NetworkNotReady")
	if x != nil {
		low := strings.ToLower(x.text)
		if strings.Contains(low, "network") || strings.Contains(low, "cni") {
			x.cause = "cni"
		}
	}
	return x
}

// podEvents fires on Events of the stalled pods that were still repeated within
// the last part of the stall; the pod itself must say nothing more definite.
func (j *judge) podEvents(s *stall, cause, format string, reasons ...string) *suspect {
	for _, w := range s.waits {
		v := j.stalledPod(w)
		for _, r := range reasons {
			events := j.eventsOf(v.obj.UID, s, r)
			if len(events) == 0 {
				continue
			}
			e := events[len(events)-1]
			if j.wentOn(v.obj.UID, e) {
				continue
			}
			// A kubelet repeats a failure after at most 2 min 3 s.
			if s.to.Sub(j.c.clock.Time(e.rev)) > 130*time.Second {
				continue
			}
			return &suspect{cause: cause, confidence: Likely, text: fmt.Sprintf(format, podName(v), cutText(e.obj.Message)),
				cites: []*cite{eventCite(e), revCite(v.idx, "Pod %s: %s", podName(v), podState(v.obj))}}
		}
	}
	return nil
}

// wentOn says whether a later Event of the same pod shows that the kubelet got past
// what an Event complains of (incidents.md N-8).
func (j *judge) wentOn(uid types.UID, e version[*corev1.Event]) bool {
	for _, l := range j.w.events[uid] {
		for _, v := range l.versions {
			switch v.obj.Reason {
			case "Pulling", "Pulled", "Created", "Started":
				if v.rev > e.rev {
					return true
				}
			}
		}
	}
	return false
}

// missingKey is what a kubelet says when a Secret, a ConfigMap or a key of one is
// missing (pkg/kubelet/kubelet_pods.go).
var missingKey = regexp.MustCompile(`secret ".*" not found|configmap ".*" not found|couldn't find key`)

// startFailures are the waiting reasons of a container that could not be started.
var startFailures = map[string]string{
	"CreateContainerConfigError": "config-missing",
	"CreateContainerError":       "start-error",
	"RunContainerError":          "start-error",
	"StartError":                 "start-error",
	"PostStartHookError":         "start-error",
}

// containerFails: the container states why it does not run: it cannot be created,
// was killed for memory, or starts and exits again and again.
func containerFails(j *judge, _ *attempt, s *stall) *suspect {
	for _, w := range s.waits {
		v := j.stalledPod(w)
		if v.obj.Status.Phase == corev1.PodFailed {
			continue // evicted or refused: its containers do not try again
		}
		for i := range v.obj.Status.ContainerStatuses {
			if x := j.containerSuspect(v.obj, &v.obj.Status.ContainerStatuses[i], s); x != nil {
				st := &v.obj.Status.ContainerStatuses[i]
				x.cites = append([]*cite{revCite(v.idx, "Pod %s: %s", podName(v), containerText(st))}, x.cites...)
				x.cites = append(x.cites, j.eventCites(v.obj.UID, s, "BackOff", "Failed")...)
				x.text = fmt.Sprintf("Container %s of pod %s %s", st.Name, podName(v), x.text)
				j.withLastWords(x, v.obj, st)
				return x
			}
		}
	}
	return nil
}

// containerSuspect judges one container's state. One that is ready, or that runs on
// after a single restart, explains nothing.
func (j *judge) containerSuspect(p *corev1.Pod, st *corev1.ContainerStatus, s *stall) *suspect {
	if st.Ready {
		return nil
	}
	end := st.State.Terminated
	if end == nil {
		end = st.LastTerminationState.Terminated
	}
	if w := st.State.Waiting; w != nil && startFailures[w.Reason] != "" {
		cause := startFailures[w.Reason]
		if cause == "config-missing" && !missingKey.MatchString(w.Message) {
			cause = "start-error"
		}
		return &suspect{cause: cause, confidence: Proven, text: fmt.Sprintf("could not be started (%s): %s", w.Reason, cutText(w.Message))}
	}
	if end == nil || st.State.Running != nil && (st.RestartCount < 2 || s.to.Sub(end.FinishedAt.Time) > longestBackOff) {
		return nil
	}
	if x := j.probeKilled(p, st, s); x != nil {
		return x
	}
	switch {
	case end.Reason == "OOMKilled":
		return &suspect{cause: "oom", confidence: Proven, text: "was killed for using more memory than its limit, " + count(int(st.RestartCount), "restart")}
	case end.Reason == "StartError" || end.Reason == "ContainerCannotRun":
		return &suspect{cause: "start-error", confidence: Proven, text: fmt.Sprintf("could not be started (%s): %s", end.Reason, cutText(end.Message))}
	case end.ExitCode == 0 && st.RestartCount == 0:
		return nil
	}
	conf := Likely
	if st.RestartCount > 0 {
		conf = Proven
	}
	return &suspect{cause: "crash-loop", confidence: conf,
		text: fmt.Sprintf("started and exited with code %d (%s), %s", end.ExitCode, end.Reason, count(int(st.RestartCount), "restart"))}
}

// longestBackOff is the cap of the kubelet's restart back-off.
const longestBackOff = 5 * time.Minute

// probeKilled: the kubelet killed the container because a probe failed; its exit is
// then no crash (pkg/kubelet/kuberuntime: "Container %s failed %s probe").
func (j *judge) probeKilled(p *corev1.Pod, st *corev1.ContainerStatus, s *stall) *suspect {
	events := j.eventsOf(p.UID, s, "Killing")
	for i := len(events) - 1; i >= 0; i-- {
		msg := events[i].obj.Message
		if !strings.Contains(msg, st.Name) {
			continue
		}
		for _, probe := range []string{"liveness", "startup"} {
			if strings.Contains(msg, "failed "+probe+" probe") {
				return &suspect{cause: probe + "-probe", confidence: Proven, cites: []*cite{eventCite(events[i])},
					text: fmt.Sprintf("was killed because its %s probe failed, %s", probe, count(int(st.RestartCount), "restart"))}
			}
		}
	}
	return nil
}

// containerText is a container's state with its last end.
func containerText(st *corev1.ContainerStatus) string {
	if st.State.Waiting != nil {
		return waitingText(st)
	}
	out := "container " + st.Name
	if t := st.State.Terminated; t != nil {
		out += fmt.Sprintf(" terminated: %s, exit code %d", t.Reason, t.ExitCode)
	} else if st.State.Running != nil {
		out += " running"
	}
	if t := st.LastTerminationState.Terminated; t != nil {
		out += fmt.Sprintf(", last terminated: %s, exit code %d", t.Reason, t.ExitCode)
	}
	return out + ", " + count(int(st.RestartCount), "restart")
}

// eventsOf are the stored versions of Events of an object with a reason, written
// within a stall, in order of revision.
func (j *judge) eventsOf(uid types.UID, s *stall, reason string) []version[*corev1.Event] {
	var out []version[*corev1.Event]
	for _, l := range j.w.events[uid] {
		for _, v := range l.versions {
			if v.obj.Reason == reason && inSpan(j.c.clock.Time(v.rev), s, 2*time.Second) {
				out = append(out, v)
			}
		}
	}
	sort.SliceStable(out, func(i, k int) bool { return out[i].rev < out[k].rev })
	return out
}

// eventCites cites the newest Event of each reason.
func (j *judge) eventCites(uid types.UID, s *stall, reasons ...string) []*cite {
	var out []*cite
	for _, r := range reasons {
		if e := j.eventsOf(uid, s, r); len(e) > 0 {
			out = append(out, eventCite(e[len(e)-1]))
		}
	}
	return out
}

// eventCite cites a stored k8s Event.
func eventCite(v version[*corev1.Event]) *cite {
	n := ""
	if v.obj.Count > 1 {
		n = fmt.Sprintf(" (×%d)", v.obj.Count)
	}
	return revCite(v.idx, "Event %s%s on %s %s: %s", v.obj.Reason, n, v.obj.InvolvedObject.Kind, v.obj.InvolvedObject.Name, v.obj.Message)
}
