package template

import "bytes"

// Masks stand for what varies.
const (
	anyWord   = "<*>"
	anyNumber = "<n>"
	anyQuoted = `"<*>"`
)

// maxForm bounds a form, in bytes.
const maxForm = 320

// mask appends the form of a message to buf: numbers, durations, addresses, paths,
// IDs, quoted text and names with digits in them are replaced, blanks are folded.
// Of a message of several lines only the first counts.
func mask(buf []byte, message string) []byte {
	for i := 0; i < len(message) && len(buf) < maxForm; {
		switch c := message[i]; {
		case c == '\n':
			return bytes.TrimRight(buf, " ")
		case c == ' ' || c == '\t' || c == '\r':
			if len(buf) > 0 && buf[len(buf)-1] != ' ' {
				buf = append(buf, ' ')
			}
			i++
		case c == '"' || c == '`':
			end := quoteEnd(message, i)
			buf = append(buf, anyQuoted...)
			i = end
		case isWord(c):
			end := i + 1
			for end < len(message) && (isWord(message[end]) || isInner(message[end]) && end+1 < len(message) && isWord(message[end+1])) {
				end++
			}
			buf = maskWord(buf, message[i:end])
			i = end
		default:
			buf = append(buf, c)
			i++
		}
	}
	return bytes.TrimRight(buf, " ")
}

// quoteEnd is behind the quote that ends the quotation at i, or the end of the text.
func quoteEnd(s string, i int) int {
	quote := s[i]
	for i++; i < len(s) && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return min(i, len(s))
}

// isWord is for bytes that words consist of, isInner for those that stand between
// such bytes. All bytes of other alphabets are of words.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

func isInner(c byte) bool {
	switch c {
	case '.', ':', '/', '-', '@', '%', '+', '#', '~':
		return true
	}
	return false
}

// maskWord appends a word, or what stands for it.
func maskWord(buf []byte, word string) []byte {
	digits, letters, inner := 0, 0, 0
	for i := range len(word) {
		switch c := word[i]; {
		case c >= '0' && c <= '9':
			digits++
		case isWord(c):
			letters++
		default:
			inner++
		}
	}
	switch {
	case digits == 0:
		return append(buf, word...)
	case letters == 0 && inner <= 1, isQuantity(word):
		return append(buf, anyNumber...)
	case inner > 0 || digits+letters >= 8:
		return maskParts(buf, word)
	}
	return maskDigits(buf, word)
}

// isQuantity is for numbers with a unit, or several: 1.5s, 4m3.2s, 12MiB.
func isQuantity(word string) bool {
	for word != "" {
		n := 0
		for n < len(word) && (word[n] >= '0' && word[n] <= '9' || word[n] == '.') {
			n++
		}
		unit := n
		for unit < len(word) && isWord(word[unit]) && (word[unit] < '0' || word[unit] > '9') {
			unit++
		}
		if n == 0 || !units[word[n:unit]] {
			return false
		}
		word = word[unit:]
	}
	return true
}

// units are those of times and sizes.
var units = map[string]bool{
	"": true, "ns": true, "us": true, "µs": true, "μs": true, "ms": true, "s": true, "m": true, "h": true, "d": true,
	"B": true, "k": true, "K": true, "M": true, "G": true, "T": true, "Ki": true, "Mi": true, "Gi": true, "Ti": true,
	"kB": true, "KB": true, "MB": true, "GB": true, "TB": true, "KiB": true, "MiB": true, "GiB": true, "TiB": true,
}

// maskParts appends a word that has digits and is long, or has parts: the words
// before its first part with a digit tell what it is of (a key, a host, a caller).
func maskParts(buf []byte, word string) []byte {
	end := 0
	for i := 0; i < len(word); i++ {
		if c := word[i]; c >= '0' && c <= '9' {
			break
		} else if isInner(c) {
			end = i + 1
		}
	}
	return append(append(buf, word[:end]...), anyWord...)
}

// maskDigits appends a short word with each run of digits masked: x509, ipv4.
func maskDigits(buf []byte, word string) []byte {
	for i := 0; i < len(word); i++ {
		if c := word[i]; c < '0' || c > '9' {
			buf = append(buf, c)
		} else if i == 0 || word[i-1] < '0' || word[i-1] > '9' {
			buf = append(buf, '#')
		}
	}
	return buf
}
