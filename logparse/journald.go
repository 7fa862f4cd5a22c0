package logparse

import (
	"strconv"
	"strings"
	"time"
)

// journald's own outputs (systemd, journalctl(1), src/shared/logs-show.c). The
// short ones look like syslog; see syslog.go.

// cutJournalJSON reads an entry of "journalctl -o json": an object of strings; a
// value that is no UTF-8 is an array of its bytes, one that occurs twice an array
// of its values.
func cutJournalJSON(text string, f *frame) (rest string, ok bool) {
	if !strings.Contains(text, `"__REALTIME_TIMESTAMP"`) {
		return text, false
	}
	o := openJSON(text)
	found := false
	for {
		key, value, ok := o.member()
		if !ok {
			break
		}
		if key == "MESSAGE" {
			rest, found = journalText(value), true
			continue
		}
		f.journal(key, journalText(value))
	}
	if o.err != nil || !found || !f.stamped {
		return text, false
	}
	return rest, true
}

// journal takes one field of an entry.
func (f *frame) journal(key, value string) {
	switch key {
	case "__REALTIME_TIMESTAMP":
		if us, err := strconv.ParseInt(value, 10, 64); err == nil && us > 0 && us < 1e17 {
			f.setStamp(momentOf(time.UnixMicro(us)))
		}
	case "_HOSTNAME":
		f.host = value
	case "SYSLOG_IDENTIFIER":
		f.program = value
	case "_COMM":
		if f.program == "" {
			f.program = value
		}
	case "_PID":
		f.pid = value
	case "CONTAINER_NAME":
		f.container = value
	}
}

// momentOf is the full stamp of an instant.
func momentOf(t time.Time) moment {
	t = t.UTC()
	y, mo, d := t.Date()
	return moment{year: y, month: int(mo), day: d, clock: t.Sub(time.Date(y, mo, d, 0, 0, 0, 0, time.UTC)), zoned: true}
}

// journalText is a value of an entry as text.
func journalText(value string) string {
	if !strings.HasPrefix(value, "[") {
		return jsonText(value)
	}
	list := strings.Trim(value, "[] ")
	if strings.HasPrefix(list, `"`) { // several values: the first
		if end := jsonStringEnd(list, 0); end > 0 {
			return jsonString(list[:end])
		}
	}
	var b strings.Builder
	for x := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(x), 10, 8)
		if err != nil {
			return value
		}
		b.WriteByte(byte(n))
	}
	return strings.TrimRight(strings.ToValidUTF8(b.String(), "\uFFFD"), "\n")
}

// cutJournalPretty reads a line of "journalctl -o json-pretty": one member of an
// entry. Its message is a line of its own; the entry's other members are not
// tied to it, for they may stand behind it.
func cutJournalPretty(text string, _ *frame) (rest string, ok bool) {
	value, ok := strings.CutPrefix(strings.TrimLeft(text, "\t "), `"MESSAGE" : `)
	if !ok {
		return text, false
	}
	value = strings.TrimSuffix(strings.TrimSpace(value), ",")
	if len(value) < 2 || value[0] != '"' && value[0] != '[' || value[len(value)-1] != '"' && value[len(value)-1] != ']' {
		return text, false
	}
	return journalText(value), true
}

// cutJournalFull reads "journalctl -o short-full":
//
//	Mon 2026-11-30 21:51:00 UTC host ident[1]: message
func cutJournalFull(text string, f *frame) (rest string, ok bool) {
	if len(text) < len("Mon 2006-01-02 15:04:05 UTC h i: ") || text[3] != ' ' {
		return text, false
	}
	m, rest, ok := cutDateTime(text[4:])
	if !ok || m.zoned || !strings.HasPrefix(rest, " ") {
		return text, false
	}
	zone, rest, ok := strings.Cut(rest[1:], " ")
	if !ok || zone == "" {
		return text, false
	}
	switch zone {
	case "UTC", "GMT", "Z":
		m.zoned = true
	default:
		if east, ok := parseZone(zone); ok {
			m.east, m.zoned = east, true
		} else if east, ok := parseZone(zone + "00"); ok { // zones without letters: "+03"
			m.east, m.zoned = east, true
		}
	}
	if rest, ok = f.cutIdent(rest); !ok {
		return text, false
	}
	f.setStamp(m)
	return rest, true
}

// cutJournalUnix reads "journalctl -o short-unix": 1700000000.123456 host ident: message
func cutJournalUnix(text string, f *frame) (rest string, ok bool) {
	stamp, rest, ok := strings.Cut(text, " ")
	if !ok || len(stamp) != len("1700000000.123456") || stamp[10] != '.' {
		return text, false
	}
	us, err := strconv.ParseInt(stamp[:10]+stamp[11:], 10, 64)
	if err != nil {
		return text, false
	}
	if rest, ok = f.cutIdent(rest); !ok {
		return text, false
	}
	f.setStamp(momentOf(time.UnixMicro(us)))
	return rest, true
}
