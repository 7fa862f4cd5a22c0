package logparse

import "strings"

// zap's console encoder, of etcd with --log-format=console (3.6) and of etcdctl
// and etcdutl, separates its parts by tabs and has the fields as a JSON object at
// the end:
//
//	2026-11-30T21:51:00.123456Z	warn	wal/wal.go:805	slow fdatasync	{"took": "1.1s"}
//
// A logger's name stands before the caller. Copies of a terminal have blanks for
// tabs.

func claimsConsole(text string) bool {
	_, ok := openConsole(text)
	return ok
}

// console is a line cut into its parts.
type console struct {
	moment
	level                           Level
	logger, caller, message, fields string
}

func openConsole(text string) (c console, ok bool) {
	var rest string
	if c.moment, rest, ok = cutDateTime(text); !ok || !c.zoned || rest == "" {
		return c, false
	}
	tab := rest[0] == '\t'
	if !tab && rest[0] != ' ' {
		return c, false
	}
	word, rest := cutColumn(rest)
	if c.level = levelNamed(word); c.level == LevelUnknown || len(word) < len("info") {
		return c, false
	}
	word, rest = cutColumn(rest)
	if tab && !isGoCaller(word) && strings.ContainsAny(rest, "\t") && isWord(word, ".-_") {
		c.logger = word
		word, rest = cutColumn(rest)
	}
	switch {
	case isGoCaller(word):
		c.caller = word
	case !tab:
		return c, false
	default: // no caller
		rest = "\t" + word + rest
	}
	rest = strings.TrimLeft(rest, "\t ")
	if i := strings.LastIndex(rest, "\t{"); i >= 0 && strings.HasSuffix(rest, "}") {
		rest, c.fields = rest[:i], rest[i+1:]
	} else if i := strings.Index(rest, ` {"`); i >= 0 && !tab && strings.HasSuffix(rest, "}") {
		rest, c.fields = strings.TrimRight(rest[:i], " "), rest[i+1:]
	}
	c.message = rest
	return c, true
}

// cutColumn reads one column behind its separator.
func cutColumn(s string) (word, rest string) {
	s = strings.TrimLeft(s, "\t ")
	if i := strings.IndexAny(s, "\t "); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// isGoCaller says whether s is "folder/file.go:12".
func isGoCaller(s string) bool {
	i := strings.Index(s, ".go:")
	return i > 0 && allDigits(s[i+len(".go:"):]) && len(s) > i+len(".go:")
}

func readConsole(s *stream, r *row, rec *Record) {
	c, _ := openConsole(r.text)
	rec.Time, rec.Inferred = s.clock.at(c.moment, r.outer)
	rec.Level, rec.Caller, rec.Message = c.level, c.caller, c.message
	if c.logger != "" {
		rec.Fields = append(rec.Fields, Field{"logger", c.logger})
	}
	o := openJSON(c.fields)
	for c.fields != "" {
		key, value, ok := o.member()
		if !ok {
			break
		}
		rec.Fields = append(rec.Fields, Field{key, jsonText(value)})
	}
	if c.fields != "" && o.err != nil {
		rec.problem(o.err.Error())
	}
	rec.Component = zapComponent(s.componentOf(r), rec)
}
