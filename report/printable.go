package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of text in runes; what is longer is cut and says by how much.
const (
	maxProse    = 2000
	maxVerbatim = 600
	maxName     = 200
)

// prose makes a sentence printable: line breaks become spaces, marks that are
// invisible or change the direction of text become visible escapes.
func prose(s string) string {
	return strings.Join(strings.Fields(visible(cut(s, maxProse), true)), " ")
}

// verbatim makes quoted text printable on one line and keeps all else as it is.
func verbatim(s string) string {
	return visible(cut(strings.TrimRight(s, "\r\n"), maxVerbatim), false)
}

// name is verbatim for the names of things.
func name(s string) string { return visible(cut(s, maxName), false) }

// visible replaces what a reader could not see.
func visible(s string, breaksAsSpace bool) string {
	var b strings.Builder
	b.Grow(len(s))
	marks := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case breaksAsSpace && (r == '\n' || r == '\r' || r == '\t'):
			b.WriteByte(' ')
		case hidden(r), marks > maxMarks:
			b.WriteString(escapeRune(r))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// maxMarks is how many combining marks may sit on one letter; more of them
// would be drawn over the lines around it.
const maxMarks = 2

// hidden reports whether a rune leaves no mark of its own or moves its
// neighbours: controls, direction and joining marks, odd spaces, unassigned,
// private, variation and tag characters.
func hidden(r rune) bool {
	return r != ' ' && (!unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r))
}

// shortEscapes are the control characters with a name everybody knows.
var shortEscapes = map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}

func escapeRune(r rune) string {
	if s, ok := shortEscapes[r]; ok {
		return s
	}
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// cut shortens text to at most limit runes and says how many were left out.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	return prefix(s, limit) + fmt.Sprintf("… (%d more characters)", n-limit)
}

// clip shortens text for a place that has room for limit runes only.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return prefix(s, limit-1) + "…"
}

// clipMiddle shortens a name whose end tells it from its neighbours.
func clipMiddle(s string, limit int) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	tail := (limit - 1) / 2
	runes := []rune(s)
	return string(runes[:limit-1-tail]) + "…" + string(runes[n-tail:])
}

func prefix(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
