package logparse

import "strings"

// noise yields a line that is no record, so that it is counted.
func (s *stream) noise(r *row) {
	s.emit(&Record{Line: r.first, Lines: r.lines, Offset: r.offset, Format: FormatNoise, Text: excerpt(r.raw, MaxText)})
}

// isNoise says whether a row is no record: without a letter or a digit, the head
// of a section, or text without a time before the first record of a log whose
// format is known.
func (s *stream) isNoise(r *row) bool {
	if component, ok := sectionOf(r.raw); ok {
		s.section = component
		return true
	}
	switch {
	case r.format != nil || r.nuls > 0 || r.lost > 0:
		return false
	case !strings.ContainsFunc(r.raw, isAlphanumeric), isJournalMark(r.raw), isPagerMark(r.raw):
		return true
	case r.stamped || !s.known || s.begun:
		return false
	}
	_, _, stamped := leadingStamp(r.text)
	return !stamped
}

func isAlphanumeric(c rune) bool {
	return c >= 0x80 || isLetter(byte(c)) || isDigit(byte(c))
}

// isJournalMark knows the lines that journalctl puts between entries:
// "-- Logs begin at …", "-- Boot 0123… --", "-- No entries --".
func isJournalMark(text string) bool {
	rest, ok := strings.CutPrefix(text, "-- ")
	return ok && (strings.HasSuffix(rest, " --") || strings.HasPrefix(rest, "Logs begin at ") || strings.HasPrefix(rest, "Journal begins at "))
}

// isPagerMark knows the last line of a page, as less shows it: "lines 1-13/13 (END)".
func isPagerMark(text string) bool {
	return strings.HasPrefix(text, "lines ") && strings.HasSuffix(text, " (END)")
}

// isSection knows the heads that "minikube logs" and "tail" put before each log:
// "==> kube-apiserver [ab994cbd77b2] <==".
func isSection(text string) bool {
	_, ok := sectionOf(text)
	return ok
}

func sectionOf(text string) (Component, bool) {
	if !strings.HasSuffix(text, "<==") {
		return "", false
	}
	name, ok := strings.CutPrefix(strings.TrimPrefix(text, "* "), "==> ")
	if !ok {
		return "", false
	}
	name = strings.TrimSpace(strings.TrimSuffix(name, "<=="))
	word, _, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], " ")
	return componentNamed(word), true
}

// componentOf is the program that printed a row: as the wrapper names it, as the
// section's head does, or that of the whole stream.
func (s *stream) componentOf(r *row) Component {
	for _, name := range [...]string{r.program, r.container, r.pod} {
		if name != "" {
			if c := componentNamed(name); c != ComponentUnknown {
				return c
			}
		}
	}
	if s.section != ComponentUnknown {
		return s.section
	}
	if s.component == ComponentAudit {
		return ComponentUnknown
	}
	return s.component
}

// componentNamed is the component that a process, a container or a static pod is
// named after: "kube-apiserver", "kube-apiserver-cp-1", "k8s.kube-apiserver",
// "etcd-member", "kubelet.service"; unknown if it is none.
func componentNamed(name string) Component {
	name = strings.TrimPrefix(strings.TrimSuffix(name, ".service"), "k8s.")
	for _, c := range namedComponents {
		rest, ok := strings.CutPrefix(name, string(c))
		if ok && (rest == "" || rest[0] == '-' || rest[0] == '.' || rest == "2") { // etcd2 was a program
			return c
		}
	}
	return ComponentUnknown
}

var namedComponents = []Component{ComponentAPIServer, ComponentControllerManager, ComponentScheduler, ComponentKubelet, ComponentEtcd}
