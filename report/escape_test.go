package report

import (
	"regexp"
	"strings"
	"testing"
)

func TestEscapeMarkdown(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"plain words, 1.5 s (ok)", "plain words, 1.5 s (ok)"},
		{"<script>", "&lt;script&gt;"},
		{"a|b", `a\|b`},
		{`a\|b`, `a\\\|b`},
		{"`x`", "\\`x\\`"},
		{"*b* _u_ ~s~", `\*b\* \_u\_ \~s\~`},
		{"[x](http://y)", `\[x\](http\://y)`},
		{"line\nbreak", "line break"},
		{"a\u202eb", `a\\u202eb`},
		{"&lt;", "&amp;lt;"},
	} {
		if got := escapeMarkdown(tc.in); strings.ReplaceAll(got, `\\u202e`, `\u202e`) != strings.ReplaceAll(tc.want, `\\u202e`, `\u202e`) {
			t.Errorf("escapeMarkdown(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestGuardStart(t *testing.T) {
	for in, want := range map[string]string{"": "", "- x": `\- x`, "1. x": `1\. x`, "12) x": `12\) x`, "# x": `\# x`, "== x": `\== x`, "1 x": "1 x", "2026": "2026"} {
		if got := guardStart(in); got != want {
			t.Errorf("guardStart(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMarkdownCode(t *testing.T) {
	for _, tc := range []struct {
		in   string
		at   mdPlace
		want string
	}{
		{"a", inLine, "`a`"}, {"a|b", inLine, "`a|b`"}, {"a|b", inCell, "`a\\|b`"}, {"a`b", inLine, "``a`b``"},
		{"`", inLine, "`` ` ``"}, {"", inLine, "–"}, {"  ", inCell, "–"}, {" a ", inLine, "`  a  `"}, {"a\nb", inCell, "`a\\nb`"},
	} {
		if got := markdownCode(tc.in, tc.at); got != tc.want {
			t.Errorf("markdownCode(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

// cellEnds are the pipes that end a cell: those without a backslash before them.
var cellEnds = regexp.MustCompile(`(^|[^\\])\|`)

func TestMarkdownTablesAreWhole(t *testing.T) {
	for _, s := range samples {
		want, inText := 0, false
		for n, line := range strings.Split(rendered(t, s.build(), Markdown), "\n") {
			if strings.HasPrefix(line, "```") {
				inText = !inText
			}
			if inText || !strings.HasPrefix(line, "|") {
				want = 0
				continue
			}
			got := len(cellEnds.FindAllString(line, -1)) - 1
			if want == 0 {
				want = got
			}
			if got != want || !strings.HasSuffix(line, "|") {
				t.Errorf("%s: line %d has %d cells, its table %d: %s", s.name, n+1, got, want, line)
			}
		}
		if inText {
			t.Errorf("%s: a fenced block is not closed", s.name)
		}
	}
}

func TestMarkdownAnchorsExist(t *testing.T) {
	links, marks := regexp.MustCompile(`\]\(#([^)]*)\)`), regexp.MustCompile(`<a id="([^"]*)"></a>`)
	for _, s := range samples {
		doc := rendered(t, s.build(), Markdown)
		ids := map[string]bool{}
		for _, m := range marks.FindAllStringSubmatch(doc, -1) {
			if ids[m[1]] {
				t.Errorf("%s: two anchors %s", s.name, m[1])
			}
			ids[m[1]] = true
		}
		for _, m := range links.FindAllStringSubmatch(doc, -1) {
			if !ids[m[1]] {
				t.Errorf("%s: no anchor %s", s.name, m[1])
			}
		}
		if rest := codeSpans.ReplaceAllString(marks.ReplaceAllString(doc, ""), ""); strings.Contains(rest, "<") {
			t.Errorf("%s: raw HTML in the text", s.name)
		}
	}
}

// codeSpans matches code spans with fences of up to three backticks.
var codeSpans = regexp.MustCompile("(?s)```.*?[^`]```(?:[^`]|$)|``.*?[^`]``(?:[^`]|$)|`[^`\n]+`")

func FuzzEscapeMarkdown(f *testing.F) {
	for _, s := range []string{"", "a|b", `\|`, "`x`", evil, "1. x", "\xff\x00", "a\u0301\u0301\u0301\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := escapeMarkdown(s)
		for i, r := range got {
			if hidden(r) || r == '<' || r == '>' {
				t.Errorf("%q: %q at %d", s, r, i)
			}
		}
		if back, ok := unescape(got); !ok || back != visible(s, true) {
			t.Errorf("%q reads back as %q", visible(s, true), back)
		}
		for _, at := range []mdPlace{inLine, inCell} {
			checkCode(t, s, at)
		}
	})
}

// unescape reads Markdown text as its readers do; false if a mark stands bare.
func unescape(s string) (string, bool) {
	entities := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
		case strings.IndexByte("\\`*_{}[]|~$^", s[i]) >= 0:
			return "", false
		}
		b.WriteByte(s[i])
	}
	return entities.Replace(b.String()), true
}

// checkCode reads a code span back.
func checkCode(t *testing.T, s string, at mdPlace) {
	want := visible(s, false)
	if strings.Trim(want, " ") == "" {
		return
	}
	got := markdownCode(s, at)
	fence := len(got) - len(strings.TrimLeft(got, "`"))
	inner := got[fence : len(got)-fence]
	if strings.Contains(inner, "\n") || longestRun(inner, '`') >= fence && longestRun(inner, '`') == fence {
		t.Errorf("%q ends early", got)
	}
	if at == inCell {
		inner = strings.ReplaceAll(inner, `\|`, "|")
	}
	if strings.TrimSpace(inner) != strings.TrimSpace(want) {
		t.Errorf("%q reads back as %q", want, inner)
	}
}
