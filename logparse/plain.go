package logparse

import (
	"strings"
	"time"
)

// readPlain keeps a line that no format claims. Its time is the stamp that it
// begins with, else the container runtime's.
func readPlain(s *stream, r row, rec *Record) {
	rec.Message = r.text
	if s.component != ComponentAudit {
		rec.Component = s.component
	}
	s.clock.learn(r.text)
	var ok bool
	if rec.Time, rec.Inferred, ok = leadingStamp(r.text, s.clock.zone); !ok {
		rec.Time = r.wrap.time
	}
}

// beginsRecord reports whether a line that no format claims stands for itself
// all the same: it has a stamp, so it does not continue a klog record. Several
// programs write into one log where one embeds the others (k3s).
func beginsRecord(text string) bool {
	_, _, ok := leadingStamp(text, time.UTC)
	return ok
}

// leadingStamp reads the stamp that a line begins with:
//
//	2026-11-30T21:51:00.123Z  RFC 3339
//	time="2026-11-30T21:51:00Z"  logrus (k3s, kine)
//	2026-11-30 21:51:00.123456  etcd up to 3.4, without a zone
//	2026/11/30 21:51:00  Go's log package, without a zone; gRPC uses it
func leadingStamp(text string, zone *time.Location) (time.Time, Inferred, bool) {
	text = strings.TrimPrefix(text, `time="`)
	const layout = "2006/01/02 15:04:05"
	if len(text) < len(layout) || !isDigit(text[0]) {
		return time.Time{}, 0, false
	}
	if text[10] == 'T' {
		end := strings.IndexAny(text, " \t\"")
		if end < 0 {
			end = len(text)
		}
		t, ok := parseStamp(text[:end])
		return t, 0, ok
	}
	if text[4] != text[7] || text[4] != '-' && text[4] != '/' || text[10] != ' ' {
		return time.Time{}, 0, false
	}
	day, ok1 := parseDay(text[:4] + "-" + text[5:7] + "-" + text[8:10])
	clock, ok2 := parseClock(text[11:])
	fraction, _, ok3 := parseFraction(text[len(layout):])
	if !ok1 || !ok2 {
		return time.Time{}, 0, false
	}
	if ok3 {
		clock += fraction
	}
	y, m, d := day.Date()
	t := time.Date(y, m, d, 0, 0, int(clock/time.Second), int(clock%time.Second), zone)
	return t.UTC(), InferredZone, true
}
