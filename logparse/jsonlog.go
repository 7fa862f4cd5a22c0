package logparse

import (
	"strconv"
	"strings"
	"time"
)

// Loggers that write one JSON object a line differ in the names of a few members
// only: zap (level, ts, caller, msg), klog's JSON (ts, caller, msg, v, err),
// logrus and slog (level, msg, time), fluent-bit's views of them (log, severity,
// source), and whatever an application uses.

// jsonHeads are the members that tell of a record and of no other object.
var (
	jsonMessages = []string{`"msg":`, `"message":`, `"log":`}
	jsonMarks    = []string{`"level":`, `"severity":`, `"ts":`, `"time":`, `"timestamp":`, `"@timestamp":`}
)

// jsonHead is how much of an object is searched for the members that tell a
// record.
const jsonHead = 2048

func claimsJSON(text string) bool {
	if !strings.HasPrefix(text, `{"`) {
		return false
	}
	head := text[:min(len(text), jsonHead)]
	return containsAny(head, jsonMessages) && containsAny(head, jsonMarks)
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// jsonKeys are the members that are no fields.
type jsonKeys uint8

const (
	keyField jsonKeys = iota
	keyLevel
	keyStamp
	keyCaller
	keyMessage
)

func jsonKey(key string) jsonKeys {
	switch key {
	case "level", "severity", "lvl":
		return keyLevel
	case "ts", "time", "timestamp", "@timestamp":
		return keyStamp
	case "caller", "source":
		return keyCaller
	case "msg", "message", "log":
		return keyMessage
	}
	return keyField
}

// readJSON reads any of them. A member that occurs twice is a field the second
// time.
func readJSON(s *stream, r *row, rec *Record) {
	o := openJSON(r.text)
	var stamp string
	var message bool
	fields := s.fields.open()
	for {
		key, value, ok := o.member()
		if !ok {
			break
		}
		switch k := jsonKey(key); {
		case k == keyLevel && rec.Level == LevelUnknown && value[0] == '"':
			rec.Level = levelNamed(jsonText(value))
		case k == keyStamp && stamp == "":
			stamp = value
		case k == keyCaller && rec.Caller == "" && value[0] == '"':
			rec.Caller = jsonText(value)
		case k == keyMessage && !message:
			rec.Message, message = strings.TrimSuffix(jsonText(value), "\n"), true
		default:
			fields = append(fields, Field{key, jsonText(value)})
		}
	}
	rec.Fields = s.fields.done(fields, r.text)
	rec.Component = s.componentOf(r)
	s.timed(r, rec, stamp)
	r.objectEnd(&o)
	switch {
	case o.err != nil:
		rec.problem(o.err.Error())
	case rec.Time.IsZero():
		rec.problem("no readable ts")
	}
}

// objectEnd notes whether a row's object ends, and what follows it.
func (r *row) objectEnd(o *jsonObject) {
	r.cut = o.err == errJSONCut
	if o.err == nil {
		r.after = o.rest()
	}
}

// timed reads the stamp of a JSON record: text, or a number of seconds or
// milliseconds since 1970. Without one the record has its wrapper's time.
func (s *stream) timed(r *row, rec *Record, value string) {
	switch {
	case value == "":
		rec.Time, rec.Inferred = s.frameTime(r)
	case value[0] == '"':
		text := jsonText(value)
		if t, ok := s.clock.sameSecond(text); ok {
			rec.Time = t
			return
		}
		m, rest, ok := cutDateTime(text)
		if ok && rest == "" {
			rec.Time, rec.Inferred = s.clock.at(m, r.outer)
			s.clock.learnSecond(text, rec.Time)
		}
	default:
		if t, ok := epoch(value); ok {
			rec.Time = t
			s.clock.saw(t)
		}
	}
}

// epoch reads a number of seconds since 1970 (zap's own default encoder, used by
// etcd's grpc-proxy and by operators), of milliseconds (klog's JSON) or of
// nanoseconds; their ranges do not meet for a thousand years.
func epoch(value string) (time.Time, bool) {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || n < 0 || n > 9e18:
		return time.Time{}, false
	case n < 1e11:
		return time.UnixMicro(int64(n * 1e6)).UTC(), true
	case n < 1e14:
		return time.UnixMicro(int64(n * 1e3)).UTC(), true
	}
	return time.Unix(0, int64(n)).UTC(), true
}

// klog's JSON has no level: an error has err, an info has v (component-base
// v1.34, logs/json/json.go).
func claimsKlogJSON(text string) bool {
	rest, ok := strings.CutPrefix(text, `{"ts":`)
	return ok && rest != "" && isDigit(rest[0])
}

func readKlogJSON(s *stream, r *row, rec *Record) {
	readJSON(s, r, rec)
	rec.Component = s.klogComponent(r)
	level := LevelError
	for i, f := range rec.Fields {
		if f.Key == "v" {
			level = LevelInfo
			rec.Fields = append(rec.Fields[:i], rec.Fields[i+1:]...)
			break
		}
	}
	if rec.Level == LevelUnknown {
		rec.Level = level
	}
}
