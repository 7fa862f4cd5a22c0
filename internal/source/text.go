package source

import (
	"bytes"
	"unicode/utf8"
)

// byteOrderMarks begin UTF-16 and UTF-8 text. UTF-16 without one is not known
// from binary data.
var byteOrderMarks = [][]byte{{0xff, 0xfe}, {0xfe, 0xff}, {0xef, 0xbb, 0xbf}}

// strictHead is how far no control byte is allowed in text at all.
const strictHead = 512

// isText says whether a block is text: UTF-8 that may have some bytes of
// another encoding (one in 20), and no control bytes at its beginning. Further
// on a few are taken for an interrupted write (one in 100).
func isText(block []byte) bool {
	for _, m := range byteOrderMarks {
		if bytes.HasPrefix(block, m) {
			return true
		}
	}
	var control, foreign int
	for i := 0; i < len(block); {
		if b := block[i]; b < utf8.RuneSelf {
			if isControl(b) {
				if i < strictHead {
					return false
				}
				control++
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(block[i:])
		if r == utf8.RuneError && n == 1 && utf8.FullRune(block[i:]) {
			foreign++
		}
		i += n
	}
	return control <= len(block)/100 && foreign <= len(block)/20
}

// isControl leaves out what logs have: tab, line ends, form feed, backspace,
// bell and the escape of terminal colours.
func isControl(b byte) bool {
	switch b {
	case '\a', '\b', '\t', '\n', '\v', '\f', '\r', 0x1b:
		return false
	}
	return b < ' ' || b == 0x7f
}
