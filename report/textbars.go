package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// barCells is how many characters the scale of the text picture has.
const barCells = 40

// textBars draws the stages with characters, for formats without pictures: a
// dot for the usual range, # for the time to the first pod, = to the last one,
// > where the stage was still open.
func textBars(v stripView) string {
	var b strings.Builder
	for _, r := range append(v.Small[:len(v.Small):len(v.Small)], v.Rows...) {
		fmt.Fprintf(&b, "%s %s %-12s %s |%s| %s\n", pointer(r.Here), r.Number, fit(r.Name, 10), pad(r.State, 11), barLine(r), orDash(r.Actual))
	}
	return b.String()
}

func pointer(here bool) string {
	if here {
		return ">"
	}
	return " "
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// fit keeps hostile names of stages from bending the picture.
func fit(s string, n int) string {
	return clip(strings.ReplaceAll(visible(s, false), "`", "'"), n)
}

func pad(s string, n int) string {
	s = fit(s, n)
	return s + strings.Repeat(" ", n-utf8.RuneCountInString(s))
}

func barLine(r stripRow) string {
	line := []byte(strings.Repeat(" ", barCells))
	paint(line, r.Usual, '.')
	paint(line, r.Rest, '=')
	paint(line, r.First, '#')
	if r.Open != nil {
		line[min(cellAt(r.Open.Left), barCells-1)] = '>'
	}
	return string(line)
}

func paint(line []byte, b *bar, with byte) {
	if b == nil {
		return
	}
	from := min(cellAt(b.Left), len(line)-1)
	to := min(max(cellAt(b.Left+b.Width), from+1), len(line))
	for i := from; i < to; i++ {
		line[i] = with
	}
}

// cellAt is the character at a place given in percent.
func cellAt(percent float64) int { return int(percent * barCells / 100) }
