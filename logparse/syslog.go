package logparse

import (
	"slices"
	"strconv"
	"strings"
)

// Syslog lines, as rsyslog writes them into files and as journalctl prints them:
//
//	Nov 30 21:51:00 host ident[123]: message           RFC 3164, -o short
//	Nov 30 21:51:00.123456 host ident[123]: message    -o short-precise
//	2026-11-30T21:51:00.123456+01:00 host ident: m     rsyslog, -o short-iso
//	<30>1 2026-11-30T21:51:00Z host app 1 - - message  RFC 5424

// cutSyslog reads RFC 3164 and journald's short form. The stamp has neither year
// nor zone. Some systems print the month in their own language as a number
// ("2月"), and the priority may stand before it.
func cutSyslog(text string, f *frame) (rest string, ok bool) {
	rest = text
	if text[0] == '<' {
		if rest, ok = f.cutPriority(text); !ok {
			return text, false
		}
	}
	if len(rest) < len("Jan _2 15:04:05 h i: ") {
		return text, false
	}
	month := monthNamed(rest[:3])
	if month == 0 || rest[3] != ' ' {
		return text, false
	}
	return f.cutSyslogFrom(text, month, rest[4:])
}

// cutSyslogNumbered reads the form whose month is a number and the sign for
// month: "2月 23 18:39:59 host ident: message".
func cutSyslogNumbered(text string, f *frame) (rest string, ok bool) {
	digits, rest, ok := strings.Cut(text[:min(len(text), 8)], "月")
	if !ok {
		return text, false
	}
	month, err := strconv.Atoi(digits)
	if err != nil || month < 1 || month > 12 || !strings.HasPrefix(rest, " ") {
		return text, false
	}
	return f.cutSyslogFrom(text, month, text[len(digits)+len("月 "):])
}

// cutSyslogFrom reads on behind the month.
func (f *frame) cutSyslogFrom(text string, month int, rest string) (string, bool) {
	rest = strings.TrimLeft(rest, " ")
	day, rest, ok := strings.Cut(rest, " ")
	if !ok {
		return text, false
	}
	n, err := strconv.Atoi(day)
	if err != nil || n < 1 || n > monthDays[month-1] {
		return text, false
	}
	m := moment{month: month, day: n}
	if m.clock, rest, ok = cutClock(rest); !ok || !strings.HasPrefix(rest, " ") {
		return text, false
	}
	if rest, ok = f.cutIdent(rest[1:]); !ok {
		return text, false
	}
	f.setStamp(m)
	return rest, true
}

const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"

// monthNamed is 1 to 12, 0 if the name is none.
func monthNamed(name string) int {
	i := strings.Index(monthNames, name)
	if i < 0 || i%3 != 0 {
		return 0
	}
	return i/3 + 1
}

// cutSyslogISO reads the forms with a full stamp.
func cutSyslogISO(text string, f *frame) (rest string, ok bool) {
	m, rest, ok := cutDateTime(text)
	if !ok || !m.zoned || text[10] != 'T' || !strings.HasPrefix(rest, " ") {
		return text, false
	}
	if rest, ok = f.cutIdent(rest[1:]); !ok {
		return text, false
	}
	f.setStamp(m)
	return rest, true
}

// cutIdent reads "host ident[pid]: " and the message behind it. The message may
// be empty.
func (f *frame) cutIdent(s string) (rest string, ok bool) {
	host, rest, ok := strings.Cut(s, " ")
	if !ok || host == "" || !isWord(host, ".-_:") {
		return s, false
	}
	if host == "-" {
		host = ""
	}
	program, pid, rest, ok := cutProgram(rest)
	if !ok {
		return s, false
	}
	f.host, f.program, f.pid = host, program, pid
	return rest, true
}

// cutProgram reads "ident[pid]: ".
func cutProgram(s string) (program, pid, rest string, ok bool) {
	end := strings.IndexByte(s[:min(len(s), 80)], ':')
	if end < 1 || end+1 < len(s) && s[end+1] != ' ' {
		return "", "", s, false
	}
	program, rest = s[:end], strings.TrimPrefix(s[end+1:], " ")
	if open := strings.IndexByte(program, '['); open > 0 && strings.HasSuffix(program, "]") {
		program, pid = program[:open], program[open+1:len(program)-1]
		if !allDigits(pid) {
			return "", "", s, false
		}
	}
	if !isWord(program, ".-_/()@") {
		return "", "", s, false
	}
	return program, pid, rest, true
}

// isWord says whether s is of letters, digits and the bytes given.
func isWord(s, more string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return s != ""
}

// syslogLevels are the levels of syslog's severities, 0 (emergency) to 7 (debug).
// An Info record may stand behind any of them: programs that write to stderr get
// one severity for all.
var syslogLevels = [...]Level{LevelFatal, LevelFatal, LevelFatal, LevelError, LevelWarn, LevelInfo, LevelInfo, LevelDebug}

// cutPriority reads <PRI>.
func (f *frame) cutPriority(text string) (rest string, ok bool) {
	end := strings.IndexByte(text[:min(len(text), 5)], '>')
	if end < 2 || !allDigits(text[1:end]) {
		return text, false
	}
	pri, err := strconv.Atoi(text[1:end])
	if err != nil || pri > 191 {
		return text, false
	}
	f.level = syslogLevels[pri&7]
	return text[end+1:], true
}

// cutSyslog5424 reads RFC 5424.
func cutSyslog5424(text string, f *frame) (rest string, ok bool) {
	rest, ok = f.cutPriority(text)
	if !ok || !strings.HasPrefix(rest, "1 ") {
		return text, false
	}
	m, rest, ok := cutDateTime(rest[2:])
	if !ok || !m.zoned {
		return text, false
	}
	head := strings.SplitN(strings.TrimPrefix(rest, " "), " ", 5)
	if len(head) < 5 {
		return text, false
	}
	f.host, f.program, f.pid = strings.Trim(head[0], "-"), strings.Trim(head[1], "-"), strings.Trim(head[2], "-")
	if rest, ok = cutStructuredData(head[4]); !ok {
		return text, false
	}
	f.setStamp(m)
	return strings.TrimPrefix(rest, "\ufeff"), true
}

// cutStructuredData reads "-" or [id name="value"]…, where ], " and \ are escaped
// in values.
func cutStructuredData(s string) (rest string, ok bool) {
	if strings.HasPrefix(s, "-") {
		return strings.TrimPrefix(s[1:], " "), true
	}
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ']' && !quoted && (i+1 == len(s) || s[i+1] != '['):
			return strings.TrimPrefix(s[i+1:], " "), s[0] == '['
		}
	}
	return s, false
}

// findPager tells a JSON line that journalctl has cut to the width of a terminal:
// it marks the cut with ">".
func (r *Record) findPager() {
	if r.Problem == errJSONCut.Error() && slices.Contains(r.Framing, "syslog") && strings.HasSuffix(r.Text, ">") {
		r.Problem += ": journalctl cut the line"
	}
}
