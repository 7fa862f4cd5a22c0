package logparse

import (
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Log lines are scanned, not decoded: encoding/json would spend more time on a
// line than everything else here, and it loses the order of the members. The
// scanner trusts brackets and strings only; what it hands out of other values
// is their text.

var (
	errJSONCut    = errors.New("json ends early")
	errJSONSyntax = errors.New("json is broken")
)

// jsonObject walks the members of one JSON object in the order they stand.
type jsonObject struct {
	s   string
	pos int
	err error // why member returned false; nil at the closing brace
}

// openJSON starts at the opening brace of an object; anything else is an error.
func openJSON(s string) jsonObject {
	o := jsonObject{s: s}
	o.skipSpace()
	if o.pos >= len(s) {
		o.err = errJSONCut
	} else if s[o.pos] != '{' {
		o.err = errJSONSyntax
	} else {
		o.pos++
	}
	return o
}

// member returns the next key and the text of its value, strings with quotes.
func (o *jsonObject) member() (key, value string, ok bool) {
	if o.err != nil {
		return "", "", false
	}
	o.skipSpace()
	if o.peek() == '}' {
		o.pos++
		return "", "", false
	}
	if o.peek() != '"' {
		return "", "", o.broken()
	}
	end := jsonStringEnd(o.s, o.pos)
	if end < 0 {
		o.err = errJSONCut
		return "", "", false
	}
	key = jsonString(o.s[o.pos:end])
	o.pos = end
	o.skipSpace()
	if o.peek() != ':' {
		return "", "", o.broken()
	}
	o.pos++
	o.skipSpace()
	end, o.err = jsonValueEnd(o.s, o.pos)
	if o.err != nil {
		return "", "", false
	}
	value = o.s[o.pos:end]
	o.pos = end
	return key, value, o.comma()
}

// comma moves past the comma after a member; a closing brace stays for the next
// call. A value before a broken end is still good, so the fault waits for it.
func (o *jsonObject) comma() bool {
	o.skipSpace()
	switch {
	case o.pos >= len(o.s):
		o.err = errJSONCut
	case o.s[o.pos] == ',':
		o.pos++
	case o.s[o.pos] != '}':
		o.err = errJSONSyntax
	}
	return true
}

// rest is what follows the closing brace, for objects that end a line.
func (o *jsonObject) rest() string { return strings.TrimSpace(o.s[o.pos:]) }

func (o *jsonObject) broken() bool {
	o.err = errJSONSyntax
	if o.pos >= len(o.s) {
		o.err = errJSONCut
	}
	return false
}

func (o *jsonObject) peek() byte {
	if o.pos < len(o.s) {
		return o.s[o.pos]
	}
	return 0
}

func (o *jsonObject) skipSpace() {
	for o.pos < len(o.s) {
		switch o.s[o.pos] {
		case ' ', '\t', '\n', '\r':
			o.pos++
		default:
			return
		}
	}
}

// jsonStringEnd returns the index after the closing quote of the string that
// opens at i, -1 if it does not close.
func jsonStringEnd(s string, i int) int {
	for i++; ; {
		q := strings.IndexByte(s[i:], '"')
		if q < 0 {
			return -1
		}
		i += q
		slashes := 0
		for s[i-1-slashes] == '\\' { // ends at the opening quote
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
}

// jsonValueEnd returns the index after the value that starts at i.
func jsonValueEnd(s string, i int) (int, error) {
	if i >= len(s) {
		return 0, errJSONCut
	}
	switch s[i] {
	case '"':
		if end := jsonStringEnd(s, i); end > 0 {
			return end, nil
		}
		return 0, errJSONCut
	case '{', '[':
		return jsonNestedEnd(s, i)
	case ',', ':', '}', ']':
		return 0, errJSONSyntax
	}
	n := strings.IndexAny(s[i:], ",}] \t\r\n")
	if n < 0 {
		return 0, errJSONCut
	}
	return i + n, nil
}

func jsonNestedEnd(s string, i int) (int, error) {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			if i = jsonStringEnd(s, i); i < 0 {
				return 0, errJSONCut
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return 0, errJSONCut
}

// jsonText returns what a value says: the content of a string, else its text.
func jsonText(value string) string {
	if strings.HasPrefix(value, `"`) {
		return jsonString(value)
	}
	return value
}

// jsonString returns the content of a string given with its quotes. A broken
// escape stands for itself.
func jsonString(quoted string) string {
	s := quoted[1 : len(quoted)-1]
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for ; i >= 0; i = strings.IndexByte(s, '\\') {
		out = append(out, s[:i]...)
		s = s[i:]
		r, n := jsonEscape(s)
		out = utf8.AppendRune(out, r)
		s = s[n:]
	}
	return string(append(out, s...))
}

var jsonEscapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// jsonEscape decodes the escape at the start of s and says how long it is.
func jsonEscape(s string) (rune, int) {
	if len(s) < 2 {
		return '\\', 1
	}
	if r, ok := jsonEscapes[s[1]]; ok {
		return r, 2
	}
	r, ok := hexRune(s)
	if !ok {
		return '\\', 1
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hexRune(s[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return utf16.DecodeRune(r, low), 12
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

// hexRune reads \uXXXX at the start of s.
func hexRune(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[2:6]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
