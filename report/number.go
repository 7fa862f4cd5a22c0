package report

import (
	"fmt"
	"strconv"
	"strings"
)

var byteUnits = []string{"B", "KiB", "MiB", "GiB", "TiB"}

// size writes a number of bytes with the unit that leaves it below 1,024.
func size(n int64) string {
	v, u := float64(n), 0
	for v >= 1024 && u < len(byteUnits)-1 {
		v /= 1024
		u++
	}
	if u == 0 || v >= 100 {
		return fmt.Sprintf("%.0f %s", v, byteUnits[u])
	}
	return fmt.Sprintf("%.1f %s", v, byteUnits[u])
}

// count writes a number with separators between thousands.
func count(n int) string {
	s := strconv.Itoa(n)
	if n < 0 {
		return "−" + count(-n)
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes a number with its noun, which takes an s for all but one.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return count(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return count(n) + " " + noun + "s"
}

// listing joins words for a sentence: "a, b and c".
func listing(words []string, last string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// revisionSpan writes one revision or the two ends of a range.
func revisionSpan(first, last *int64) string {
	switch {
	case first == nil && last == nil:
		return "–"
	case first == nil:
		return fmt.Sprintf("… %d", *last)
	case last == nil || *last == *first:
		return strconv.FormatInt(*first, 10)
	}
	return fmt.Sprintf("%d–%d", *first, *last)
}
