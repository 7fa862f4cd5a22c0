package logparse

import "strings"

// The log of a pod's container, static control-plane pods among them, has each
// line behind the runtime's stamp, stream and tag:
//
//	2026-11-30T21:51:00.123456789Z stderr F message
//
// A line longer than the runtime's buffer (16 KiB) comes as several with the tag
// P and a last one with F (k8s.io/cri-client/pkg/logs/logs.go).

func cutCRI(text string, f *frame) (rest string, ok bool) {
	if len(text) <= len("2006-01-02T15:04:05Z") || text[10] != 'T' {
		return text, false
	}
	m, rest, ok := cutDateTime(text)
	if !ok || !m.zoned || !strings.HasPrefix(rest, " std") {
		return text, false
	}
	source, rest, ok := strings.Cut(rest[1:], " ")
	if !ok || source != "stdout" && source != "stderr" {
		return text, false
	}
	tags, message, _ := strings.Cut(rest, " ") // an empty line may lack the blank
	tag, _, _ := strings.Cut(tags, ":")
	if tag != "F" && tag != "P" {
		return text, false
	}
	f.setStamp(m)
	f.stream, f.partial = source, tag == "P"
	return message, true
}
