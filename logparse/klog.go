package logparse

import (
	"strings"
	"time"
)

// klog's text format (k8s.io/klog/v2/klog.go, formatHeader):
//
//	Lmmdd hh:mm:ss.uuuuuu threadid file:line] message
//
// The message is not escaped, so lines without a header belong to the record
// before them: the steps of a utiltrace block, the goroutines after a fatal
// line, a configuration printed whole.

// MaxBlock is how many bytes of a record of several lines are kept.
const MaxBlock = 64 << 10

const klogStampLen = len("I0102 15:04:05.000000")

func claimsKlog(text string) bool {
	_, ok := klogHeader(text)
	return ok
}

// klogHeader returns the length of the header with the blank after it.
func klogHeader(text string) (int, bool) {
	if len(text) < klogStampLen+len(" 1 a:1]") || !isKlogStamp(text) {
		return 0, false
	}
	i := klogStampLen
	for i < len(text) && text[i] == ' ' {
		i++
	}
	pid := i
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == pid || i == len(text) || text[i] != ' ' {
		return 0, false
	}
	i++
	window := text[i:min(len(text), i+256)]
	end := strings.IndexByte(window, ']')
	if end < 0 || !isCaller(window[:end]) {
		return 0, false
	}
	i += end + 1
	if i < len(text) && text[i] == ' ' {
		i++
	}
	return i, true
}

func isKlogStamp(s string) bool {
	switch s[0] {
	case 'I', 'W', 'E', 'F':
	default:
		return false
	}
	if s[5] != ' ' || s[8] != ':' || s[11] != ':' || s[14] != '.' || s[klogStampLen] != ' ' {
		return false
	}
	for _, i := range [...]int{1, 2, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 17, 18, 19, 20} {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// isCaller reports whether s is "file:line".
func isCaller(s string) bool {
	colon := strings.LastIndexByte(s, ':')
	if colon < 1 || colon == len(s)-1 {
		return false
	}
	for i := colon + 1; i < len(s); i++ {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// readKlog takes the header; the message follows when the whole record is
// there.
func readKlog(s *stream, r *row, rec *Record) {
	n, _ := klogHeader(r.text)
	rec.Level = klogLevel(r.text[0])
	head := strings.TrimSuffix(strings.TrimSuffix(r.text[:n], " "), "]")
	rec.Caller = head[strings.LastIndexByte(head, ' ')+1:]
	rec.Component = s.klogComponent(r)
	rec.Message = r.text[n:]
	s.clock.learn(rec.Message)
	rec.Time, rec.Inferred = s.clock.klog(r.text, r.outer)
}

// claimsKlogBare knows a klog line whose header somebody cut off before the file
// name: "trace.go:76] Trace[1760458533]: …".
func claimsKlogBare(text string) bool {
	end := strings.Index(text[:min(len(text), 80)], "] ")
	return end > 0 && isCaller(text[:end]) && strings.Contains(text[:end], ".go:") && isWord(text[:end], "._-:/")
}

// readKlogBare has no stamp to read; a trace tells when it started.
func readKlogBare(s *stream, r *row, rec *Record) {
	rec.Caller, rec.Message, _ = strings.Cut(r.text, "] ")
	rec.Component = s.klogComponent(r)
	s.clock.learn(rec.Message)
	if rec.Time, rec.Inferred = s.frameTime(r); !rec.Time.IsZero() {
		return
	}
	const mark = "(started: "
	if i := strings.Index(rec.Message, mark); i >= 0 {
		if m, rest, ok := cutDateTime(rec.Message[i+len(mark):]); ok {
			m.east, m.zoned, _ = cutZone(strings.TrimPrefix(rest, " "))
			rec.Time, rec.Inferred = s.clock.at(m, r.outer)
		}
	}
}

// klogComponent is the program of a klog line: never etcd, which has another
// logger.
func (s *stream) klogComponent(r *row) Component {
	c := s.componentOf(r)
	if c == ComponentEtcd || c == ComponentAudit {
		return ComponentUnknown
	}
	return c
}

func klogLevel(c byte) Level {
	switch c {
	case 'I':
		return LevelInfo
	case 'W':
		return LevelWarn
	case 'E':
		return LevelError
	}
	return LevelFatal
}

// finishKlog splits a whole record's text into message and fields.
func finishKlog(s *stream, rec *Record) {
	if message, fields, ok := parseStructured(rec.Message, s.fields.open()); ok {
		rec.Message, rec.Fields = message, s.fields.done(fields, rec.Message)
	}
}

// klogParts are the numbers of a stamp.
func klogParts(text string) (month, day int, clock time.Duration, ok bool) {
	month, _ = twoDigits(text[1:])
	day, _ = twoDigits(text[3:])
	clock, ok1 := parseClock(text[6:14])
	micros, _, ok2 := parseFraction(text[14:klogStampLen])
	return month, day, clock + micros, ok1 && ok2
}
