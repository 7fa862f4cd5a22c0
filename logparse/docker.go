package logparse

import "strings"

// Docker's json-file driver writes each line as an object
// (moby/daemon/logger/jsonfilelog/jsonlog):
//
//	{"log":"text\n","stream":"stderr","time":"2026-11-30T21:51:00.123456789Z"}
//
// A line longer than 16 KiB comes as several, of which only the last one's log
// ends in a newline.

func cutDocker(text string, f *frame) (rest string, ok bool) {
	if !strings.HasPrefix(text, `{"log":"`) {
		return text, false
	}
	o := openJSON(text)
	var stamp string
	for {
		key, value, ok := o.member()
		if !ok {
			break
		}
		switch key {
		case "log":
			rest = jsonText(value)
		case "stream":
			f.stream = jsonText(value)
		case "time":
			stamp = jsonText(value)
		}
	}
	m, _, ok := cutDateTime(stamp)
	if o.err != nil || !ok || !m.zoned {
		return text, false
	}
	f.setStamp(m)
	line, ended := strings.CutSuffix(rest, "\n")
	f.partial = !ended
	return strings.TrimSuffix(line, "\r"), true
}
