package correlate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"etcd-autopsy/logparse"
)

// noLogOfContainer is said where the last words of a container cannot be known.
const noLogOfContainer = "no log of this container is among the inputs"

// maxWords is how many records of a container are quoted.
const maxWords = 3

// lastWords are the last records of a container before its last exit, or why none
// are known. A log that is not among the inputs says nothing about what was printed.
func (j *judge) lastWords(p *corev1.Pod, st *corev1.ContainerStatus) (words []note, why string) {
	logs := j.c.logsOf(p, st.Name)
	if len(logs) == 0 {
		return nil, noLogOfContainer
	}
	for _, t := range []*corev1.ContainerStateTerminated{st.State.Terminated, st.LastTerminationState.Terminated} {
		for _, l := range logs {
			if words := l.container.wordsBefore(t); len(words) > 0 {
				return words, ""
			}
		}
	}
	return nil, "the logs of this container that are among the inputs do not reach to its exit"
}

// wordsBefore are the last records before an exit, nil if the log has none.
func (l *containerLog) wordsBefore(t *corev1.ContainerStateTerminated) []note {
	if t == nil {
		return nil
	}
	for _, e := range l.exits {
		if e.at.Equal(t.FinishedAt.UTC()) && (e.id == "" || e.id == bareID(t.ContainerID)) {
			return e.words
		}
	}
	return nil
}

// logsOf are the logs of a pod's container: those whose path has the UID, and those
// of its name, if no other pod has had it.
func (c *Case) logsOf(p *corev1.Pod, container string) []*logFile {
	var out []*logFile
	for _, l := range c.logs {
		if l == nil || l.container == nil || l.container.container != "" && l.container.container != container {
			continue
		}
		if len(l.container.pods) == 1 && l.container.pods[0] == p.UID {
			out = append(out, l)
		}
	}
	return out
}

// mostTelling chooses from the last records: the first panic or fatal message, else
// the last error, else the last record; shown are a few with it and behind it.
func mostTelling(words []note) (main note, shown []note) {
	at := slices.IndexFunc(words, func(n note) bool { return n.level >= logparse.LevelFatal })
	for i := len(words) - 1; i >= 0 && at < 0; i-- {
		if words[i].level == logparse.LevelError {
			at = i
		}
	}
	if at < 0 {
		at = len(words) - 1
	}
	from := min(at, max(0, len(words)-maxWords))
	return words[at], words[from:min(len(words), from+maxWords)]
}

// withLastWords adds the last words to a suspect about a container that exits.
func (j *judge) withLastWords(x *suspect, p *corev1.Pod, st *corev1.ContainerStatus) {
	if st.State.Terminated == nil && st.LastTerminationState.Terminated == nil {
		return
	}
	words, why := j.lastWords(p, st)
	if why != "" {
		x.text += fmt.Sprintf(" (%s)", why)
		return
	}
	main, shown := mostTelling(words)
	for _, n := range shown {
		x.cites = append(x.cites, lineCite(n))
	}
	x.text += ". Before it exited it printed: " + main.msg
}

// cutWords keeps a quoted message to one line of the report.
func cutWords(s string) string {
	const most = 160
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
