package logparse

import (
	"strconv"
	"strings"
)

// klog's structured calls print the quoted message and then key=value pairs
// (k8s.io/klog/v2/internal/serialize/keyvalues.go): strings quoted, a string of
// several lines as
//
//	key=<
//		line
//	 >
//
// and other values as JSON, or as %+v in older releases.

// maxFields is how many fields a message may have; with more it is taken for
// text. It bounds the work on a line that only looks like fields.
const maxFields = 200

// parseStructured splits a structured message, false if the text is no such
// message. Values that follow no rule keep their text. Lines behind the last
// field, printed without a header by somebody else or by a dying program, are
// the value of a field without a key. The fields are appended to the empty list
// that is given.
func parseStructured(text string, fields Fields) (message string, all Fields, ok bool) {
	message, rest, ok := cutQuoted(text)
	if !ok {
		return "", nil, false
	}
	for rest != "" {
		rest = strings.TrimLeft(rest, " ")
		n := keyLen(rest)
		if n == 0 {
			if strings.TrimSpace(rest) == "" {
				break
			}
			if rest[0] != '\n' {
				return "", nil, false
			}
			fields = append(fields, Field{Value: rest[1:]})
			break
		}
		if len(fields) == maxFields {
			return "", nil, false
		}
		f := Field{Key: rest[:n]}
		f.Value, rest = cutValue(rest[n+1:])
		fields = append(fields, f)
	}
	return message, fields, true
}

// keyLen returns the length of the key of a key=value pair, 0 if there is none.
func keyLen(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '=':
			return i
		case c <= ' ', c == '"', c == '{', c == '[', c == '<', c == ',':
			return 0
		}
	}
	return 0
}

// cutValue reads one value and returns what follows it.
func cutValue(s string) (value, rest string) {
	if s == "" {
		return "", ""
	}
	switch s[0] {
	case '"':
		if value, rest, ok := cutQuoted(s); ok {
			return value, rest
		}
	case '<':
		if value, rest, ok := cutLines(s); ok {
			return value, rest
		}
	case '[', '{':
		if end, err := jsonNestedEnd(s, 0); err == nil && atBoundary(s[end:]) {
			return s[:end], s[end:]
		}
	}
	end := valueBoundary(s)
	return s[:end], s[end:]
}

// cutQuoted reads a Go string literal that ends at a boundary.
func cutQuoted(s string) (value, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", "", false
	}
	end := jsonStringEnd(s, 0) // quotes and backslashes are alike in Go and JSON
	if end < 0 || !atBoundary(s[end:]) {
		return "", "", false
	}
	value, rest = s[1:end-1], s[end:]
	if strings.IndexByte(value, '\\') >= 0 {
		value = unquoted(s[:end])
	}
	return value, rest, true
}

// unquoted is the content of a Go string literal; of one that is none, what JSON
// makes of it.
func unquoted(quoted string) string {
	if plain, ok := simplyUnquoted(quoted[1 : len(quoted)-1]); ok {
		return plain
	}
	plain, err := strconv.Unquote(quoted)
	if err != nil {
		return jsonString(quoted)
	}
	return plain
}

// simplyUnquoted knows the escapes that nearly all literals do with, and gives up
// at any other; a literal of several lines is none.
func simplyUnquoted(s string) (string, bool) {
	if strings.IndexByte(s, '\n') >= 0 {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			return b.String(), true
		}
		b.WriteString(s[:i])
		if i+1 == len(s) {
			return "", false
		}
		switch s[i+1] {
		case '"', '\\':
			b.WriteByte(s[i+1])
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		default:
			return "", false
		}
		s = s[i+2:]
	}
}

// cutLines reads the form for strings of several lines, of which each begins
// with a tab.
func cutLines(s string) (value, rest string, ok bool) {
	body, ok := strings.CutPrefix(s, "<\n")
	if !ok {
		return "", "", false
	}
	end := strings.Index("\n"+body, "\n >")
	if end < 0 || !atBoundary(body[end+len(" >"):]) {
		return "", "", false
	}
	value = strings.TrimPrefix(strings.TrimSuffix(body[:end], "\n"), "\t")
	return strings.ReplaceAll(value, "\n\t", "\n"), body[end+len(" >"):], true
}

func atBoundary(s string) bool { return s == "" || s[0] == ' ' || s[0] == '\n' }

// valueBoundary returns where a bare value ends: before the next blank that a
// key follows, or at the end of the line.
func valueBoundary(s string) int {
	for i := range len(s) {
		switch {
		case s[i] == '\n':
			return i
		case s[i] == ' ' && keyLen(s[i+1:]) > 0:
			return i
		}
	}
	return len(s)
}
