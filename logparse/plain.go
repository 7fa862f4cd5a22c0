package logparse

import "strings"

// readPlain keeps a line that no format claims. Its time is the stamp that it
// begins with, else that of its wrapper.
func readPlain(s *stream, r *row, rec *Record) {
	rec.Message = r.text
	rec.Component = s.componentOf(r)
	rec.Level = r.level
	s.clock.learn(r.text)
	if m, rest, ok := leadingStamp(r.text); ok {
		rec.Time, rec.Inferred = s.clock.at(m, r.outer)
		if word, after, ok := strings.Cut(rest, " "); ok && rec.Level == LevelUnknown && len(word) >= len("INFO") {
			if l := levelNamed(strings.Trim(word, "[]:")); l != LevelUnknown && after != "" {
				rec.Level = l
			}
		}
	} else {
		rec.Time, rec.Inferred = s.frameTime(r)
	}
	if rest, n, ok := cutRepeated(r.text); ok {
		rec.Message, rec.Repeats = rest, n
	}
}

// leadingStamp reads the stamp that a line begins with, in brackets or not; a
// blank, a tab or the end must follow.
func leadingStamp(text string) (m moment, rest string, ok bool) {
	bare := strings.TrimPrefix(text, "[")
	if len(bare) < len("2006-01-02 15:04:05") || !isDigit(bare[0]) {
		return m, text, false
	}
	if m, rest, ok = cutDateTime(bare); !ok {
		return m, text, false
	}
	if bare != text {
		rest = strings.TrimPrefix(rest, "]")
	}
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return m, text, false
	}
	return m, strings.TrimLeft(rest, "\t "), true
}

// beginsRecord reports whether a line that no format claims stands for itself
// all the same: it has a stamp, so it does not continue a record. The API
// server's old audit lines have one and do continue: they are printed inside a
// message about the audit log (apiserver/pkg/audit/format.go).
func beginsRecord(text string) bool {
	_, rest, ok := leadingStamp(text)
	return ok && !strings.HasPrefix(rest, "AUDIT: id=")
}

// cutRepeated reads rsyslog's "message repeated 5 times: [ text]".
func cutRepeated(text string) (message string, repeats int, ok bool) {
	rest, ok := strings.CutPrefix(text, "message repeated ")
	if !ok {
		return text, 0, false
	}
	count, rest, ok := strings.Cut(rest, " times: [")
	n, isNumber := parseInt(count)
	if !ok || !isNumber || n < 1 || !strings.HasSuffix(rest, "]") {
		return text, 0, false
	}
	return strings.TrimPrefix(strings.TrimSuffix(rest, "]"), " "), n - 1, true
}
