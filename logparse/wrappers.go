package logparse

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Wrappers of command line tools, terminals and other programs.

// cutPodPrefix reads what "kubectl logs --prefix" puts before each line:
// [pod/NAME/CONTAINER].
func cutPodPrefix(text string, f *frame) (rest string, ok bool) {
	inner, rest, ok := strings.Cut(text[1:], "] ")
	if !ok {
		inner, ok = strings.CutSuffix(text[1:], "]") // an empty line
	}
	name, found := strings.CutPrefix(inner, "pod/")
	if !ok || !found {
		return text, false
	}
	pod, container, ok := strings.Cut(name, "/")
	if !ok || !isWord(pod, ".-") || !isWord(container, ".-_") {
		return text, false
	}
	f.pod, f.container = pod, container
	return rest, true
}

// cutBracketed reads the lines that Docker Desktop collects:
// [2026-11-30T21:51:00.123456789Z][unit][I] message. The level is that of the
// collector, not of the message.
func cutBracketed(text string, f *frame) (rest string, ok bool) {
	m, rest, ok := cutDateTime(text[1:])
	if !ok || !m.zoned || !strings.HasPrefix(rest, "][") {
		return text, false
	}
	unit, rest, ok := strings.Cut(rest[2:], "][")
	if !ok || !isWord(unit, ".-_/") {
		return text, false
	}
	level, rest, ok := strings.Cut(rest, "]")
	if !ok || len(level) != 1 {
		return text, false
	}
	f.setStamp(m)
	f.program = unit
	return strings.TrimPrefix(rest, " "), true
}

// cutMonotonic reads the time since boot in brackets, as dmesg and "journalctl -o
// short-monotonic" print it: "[   12.345678] ". It gives no time of day.
func cutMonotonic(text string, f *frame) (rest string, ok bool) {
	inner, rest, ok := strings.Cut(text[1:min(len(text), 24)], "] ")
	if !ok {
		return text, false
	}
	seconds, micros, ok := strings.Cut(strings.TrimLeft(inner, " "), ".")
	if !ok || !allDigits(seconds) || len(micros) != 6 || !allDigits(micros) {
		return text, false
	}
	rest = text[len(text[1:min(len(text), 24)])-len(rest)+1:]
	if inner, ok := f.cutIdent(rest); ok {
		return inner, true
	}
	return rest, true
}

// cutTimestamp reads the stamp that "kubectl logs --timestamps", must-gather and
// "docker logs -t" put before each line. Fluentd's is followed by a tab and has no
// zone.
func cutTimestamp(text string, f *frame) (rest string, ok bool) {
	m, rest, ok := cutDateTime(text)
	if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' || !m.zoned && rest[0] != '\t' {
		return text, false
	}
	f.setStamp(m)
	return rest[1:], true
}

// cutQuote reads the marks that a quoting mail or a list puts before a line, and
// an indent.
func cutQuote(text string, f *frame) (rest string, ok bool) {
	rest = strings.TrimLeft(text, "\t ")
	if rest != text {
		return rest, rest != ""
	}
	if strings.HasPrefix(text, "> ") || strings.HasPrefix(text, "* ") {
		return text[2:], true
	}
	return text, false
}

// cutStern reads "POD CONTAINER message", as stern prints it.
func cutStern(text string, f *frame) (rest string, ok bool) {
	pod, rest, ok := strings.Cut(text, " ")
	if !ok || !isWord(pod, ".-") {
		return text, false
	}
	container, rest, ok := strings.Cut(rest, " ")
	if !ok || !isWord(container, ".-_") || container == "" {
		return text, false
	}
	f.pod, f.container = pod, container
	return rest, true
}

// cutTag reads a program's name before its message: "kubelet: ", "etcd[123]: ".
func cutTag(text string, f *frame) (rest string, ok bool) {
	program, pid, rest, ok := cutProgram(text)
	if !ok || !isLetter(program[0]) && pid == "" || rest == "" {
		return text, false
	}
	f.program, f.pid = program, pid
	return rest, true
}

// cutSupervisord reads the line that supervisord's log has before each chunk of a
// program's output: "2026-11-30 21:51:00,123 DEBG 'name' stdout output:".
func cutSupervisord(text string, f *frame) (rest string, ok bool) {
	m, rest, ok := cutDateTime(text)
	if !ok || m.zoned {
		return text, false
	}
	quoted, ok := strings.CutPrefix(rest, " DEBG '")
	if !ok {
		return text, false
	}
	program, what, ok := strings.Cut(quoted, "' ")
	if !ok || what != "stdout output:" && what != "stderr output:" {
		return text, false
	}
	f.setStamp(m)
	f.program, f.stream, f.header = program, what[:len("stdout")], true
	return "", true
}

// cutRancherUI reads the stamp that Rancher's log view puts before a line, with no
// blank between: "10/5/2017 10:09:00 PMI0511 …". It does not show which of the
// first two numbers is the month, unless one cannot be.
func cutRancherUI(text string, f *frame) (rest string, ok bool) {
	date, rest, ok := strings.Cut(text[:min(len(text), 32)], " ")
	if !ok {
		return text, false
	}
	p := strings.Split(date, "/")
	if len(p) != 3 || len(p[2]) != 4 {
		return text, false
	}
	clock, rest, ok := strings.Cut(rest, " ")
	if !ok || len(rest) < 2 || rest[1] != 'M' || rest[0] != 'A' && rest[0] != 'P' {
		return text, false
	}
	at, err := time.Parse("2/1/2006 3:04:05 PM", date+" "+clock+" "+rest[:2])
	if err != nil {
		if at, err = time.Parse("1/2/2006 3:04:05 PM", date+" "+clock+" "+rest[:2]); err != nil {
			return text, false
		}
	}
	m := momentOf(at)
	m.zoned = false
	f.setStamp(m)
	return text[len(date)+1+len(clock)+1+2:], true
}

// cutLogrusWrapped reads a line of another program that logrus passes on as its
// message, as k3s and rke2 do with what they start.
func cutLogrusWrapped(text string, f *frame) (rest string, ok bool) {
	l, ok := openLogrus(text)
	if !ok || l.broken {
		return text, false
	}
	inner := formatOf(l.message)
	if inner == nil || !inner.distinct {
		return text, false
	}
	if m, rest, ok := cutDateTime(l.stamp); ok && rest == "" {
		f.setStamp(m)
	}
	return l.message, true
}

// cutANSI drops the escape sequences of a terminal: colours, links and the like
// (ECMA-48). Other control bytes stay.
func cutANSI(text string) (string, bool) {
	var b strings.Builder
	changed := false
	for {
		i := strings.IndexByte(text, 0x1b)
		if i < 0 {
			b.WriteString(text)
			return b.String(), changed
		}
		n := escapeLen(text[i:])
		b.WriteString(text[:i])
		if n == 0 {
			b.WriteByte(0x1b)
			n = 1
		} else {
			changed = true
		}
		text = text[i+n:]
	}
}

// escapeLen is the length of the escape sequence at the start of s, 0 for none.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '[': // control sequence: parameters, then one byte from @ to ~
		for i := 2; i < len(s) && i < 64; i++ {
			if s[i] >= '@' && s[i] <= '~' {
				return i + 1
			}
			if s[i] < ' ' || s[i] > '?' {
				return 0
			}
		}
	case ']': // operating system command, ended by BEL or ESC \
		for i := 2; i < len(s) && i < 4096; i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
	case '(', ')':
		if len(s) > 2 && s[2] < utf8.RuneSelf {
			return 3
		}
	}
	return 0
}

func parseInt(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil
}
