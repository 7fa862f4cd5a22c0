package report

import (
	"strings"
)

// markdownMarks are the characters that Markdown, or an extension of it in
// common use, gives a meaning; each is set with a backslash before it, save
// those that HTML gives one, which are set as entities.
var markdownMarks = func() *strings.Replacer {
	pairs := []string{"<", "&lt;", ">", "&gt;", "&", "&amp;", "://", `\://`, "www.", `www\.`, "WWW.", `WWW\.`}
	for _, c := range "\\`*_{}[]|~$^" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

// escapeMarkdown sets printable text so that a Markdown reader shows it as it
// is: on one line, outside or inside a table.
func escapeMarkdown(s string) string {
	return markdownMarks.Replace(visible(s, true))
}

// markdownHeading sets text as a heading, whose trailing number signs would
// otherwise be taken for its end.
func markdownHeading(s string) string {
	s = guardStart(escapeMarkdown(s))
	if strings.HasSuffix(s, "#") {
		return s[:len(s)-1] + `\#`
	}
	return s
}

// guardStart keeps a line that begins like a heading, a list item, a heading's
// underline or a rule from being one.
func guardStart(s string) string {
	if s == "" {
		return s
	}
	if strings.ContainsRune("#-+=", rune(s[0])) {
		return `\` + s
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')') {
		return s[:digits] + `\` + s[digits:]
	}
	return s
}

// markdownCode sets printable text as a code span. Its fence is longer than any
// run of backticks inside; in a table a pipe takes a backslash even there.
func markdownCode(s string, at mdPlace) string {
	s = visible(s, false)
	if strings.Trim(s, " ") == "" {
		return "–"
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' || (s[0] == ' ' && s[len(s)-1] == ' ') {
		s = " " + s + " "
	}
	if at == inCell {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	return fence + s + fence
}

func longestRun(s string, of byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
