package logparse

import (
	"strings"
	"time"
)

// logrus' text formatter (k3s, rke2, kine, containerd, Docker):
//
//	time="2026-11-30T21:51:00Z" level=info msg="text" key=value
//
// and on a terminal, where the number is the seconds since the program started:
//
//	INFO[0039] text                                      key=value

func claimsLogrus(text string) bool {
	_, ok := openLogrus(text)
	return ok
}

// logrusLine is a line cut into its parts.
type logrusLine struct {
	stamp, message string
	level          Level
	fields         Fields
	broken         bool
}

func openLogrus(text string) (l logrusLine, ok bool) {
	rest, ok := strings.CutPrefix(text, "time=")
	if !ok || rest == "" {
		return l, false
	}
	l.stamp, rest = cutValue(rest)
	if !strings.HasPrefix(rest, " level=") {
		return l, false
	}
	var level string
	level, rest = cutValue(rest[len(" level="):])
	l.level = levelNamed(level)
	for rest = strings.TrimLeft(rest, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		n := keyLen(rest)
		if n == 0 || len(l.fields) == maxFields {
			l.broken = true
			return l, true
		}
		f := Field{Key: rest[:n]}
		after := rest[n+1:]
		f.Value, rest = cutValue(after)
		if strings.HasPrefix(after, `"`) && strings.HasPrefix(f.Value, `"`) {
			l.broken = true // its closing quote is missing
		}
		if f.Key == "msg" {
			l.message = f.Value
			continue
		}
		l.fields = append(l.fields, f)
	}
	return l, true
}

func readLogrus(s *stream, r *row, rec *Record) {
	l, _ := openLogrus(r.text)
	rec.Level, rec.Message, rec.Fields = l.level, l.message, l.fields
	rec.Component = s.componentOf(r)
	if m, rest, ok := cutDateTime(l.stamp); ok && rest == "" {
		rec.Time, rec.Inferred = s.clock.at(m, r.outer)
	}
	switch {
	case l.broken:
		rec.problem("text after the fields, or a quote that does not close")
		if rec.Message == "" {
			rec.Message = r.text
		}
	case rec.Time.IsZero():
		rec.problem("no readable time")
	}
}

// claimsLogrusTTY knows the level in four capitals and the seconds in brackets.
func claimsLogrusTTY(text string) bool {
	_, rest, ok := strings.Cut(text[:min(len(text), 16)], "[")
	if !ok || len(text) < len("INFO[0000] ") || text[4] != '[' || levelNamed(text[:4]) == LevelUnknown {
		return false
	}
	seconds, _, ok := strings.Cut(rest, "]")
	return ok && len(seconds) >= 4 && allDigits(seconds)
}

// readLogrusTTY gives the record no time: how long the program ran says nothing
// of when it started. A time of day may stand in the brackets' place only with
// another setting.
func readLogrusTTY(s *stream, r *row, rec *Record) {
	rec.Level = levelNamed(r.text[:4])
	_, rest, _ := strings.Cut(r.text, "]")
	rec.Message = strings.TrimSpace(rest)
	rec.Component = s.componentOf(r)
	rec.Time, rec.Inferred = s.frameTime(r)
}

// golog is the line of Go's log package and of what imitates it (slog's default,
// gRPC, Rancher):
//
//	2026/11/30 21:51:00 message
//	raft2026/11/30 21:51:00.123456 INFO: message   etcd's raft up to 3.4
//
// in local time. A word for the level may follow.

func claimsGoLog(text string) bool {
	text = strings.TrimPrefix(text, "raft")
	if len(text) < len("2006/01/02 15:04:05 ") || text[4] != '/' || text[10] != ' ' {
		return false
	}
	m, rest, ok := cutDateTime(text)
	return ok && !m.zoned && strings.HasPrefix(rest, " ")
}

func readGoLog(s *stream, r *row, rec *Record) {
	text := strings.TrimPrefix(r.text, "raft")
	if len(text) < len(r.text) {
		rec.Caller = "raft"
	}
	m, rest, _ := cutDateTime(text)
	rec.Time, rec.Inferred = s.clock.at(m, r.outer)
	rest = rest[1:]
	word, after, _ := strings.Cut(rest, " ")
	if name := strings.Trim(word, "[]:"); name != word || name == strings.ToUpper(name) {
		if l := levelNamed(name); l != LevelUnknown && len(name) >= len("INFO") {
			rec.Level, rest = l, after
		}
	}
	rec.Message = rest
	if rec.Component = s.componentOf(r); rec.Component == ComponentUnknown && rec.Caller == "raft" {
		rec.Component = ComponentEtcd
	}
	s.clock.learn(rest)
}

// frameTime is the time that the innermost wrapper gives.
func (s *stream) frameTime(r *row) (time.Time, Inferred) {
	if !r.stamped {
		return time.Time{}, 0
	}
	if !r.outer.IsZero() {
		return r.outer, 0
	}
	return s.clock.at(r.stamp, time.Time{})
}
