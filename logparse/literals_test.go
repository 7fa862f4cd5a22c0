package logparse

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// containedPlainly is what contained has to say.
func containedPlainly(words []string, text string) (out []int) {
	for id, w := range words {
		if start, ok := strings.CutPrefix(w, "^"); ok && strings.HasPrefix(text, start) || !ok && strings.Contains(text, w) {
			out = append(out, id)
		}
	}
	return out
}

func TestLiterals(t *testing.T) {
	words := []string{"abc", "bcd", "abcdefgh", "aa", "zzzzzzzzz", "cdefghab", "\xff\x00\xff\x00\xff\x00\xff\x00", "efghabcdefgh", "^abc", "^zzzzzzzzz"}
	l := newLiteralSet(words)
	for _, text := range []string{"", "a", "aa", "ab", "abc", "xabcdefghx", "aaaa", "zzzzzzzz", "zzzzzzzzz", "zzzzzzzzzzzz", "abcdefghabcdefgh",
		strings.Repeat("\xff\x00", 6), "bcdabcaa"} {
		if got, want := l.contained(text), containedPlainly(words, text); !slices.Equal(got, want) {
			t.Errorf("%q has %v, want %v", text, got, want)
		}
	}
}

// TestLiteralsOfTable holds the table's literals against strings.Contains on texts
// made of their pieces.
func TestLiteralsOfTable(t *testing.T) {
	m := signatureMatcher()
	r := rand.New(rand.NewPCG(1, 2))
	for _, o := range []owned{m.inMessages, m.inValues} {
		words := o.literals.words
		for range 20000 {
			var b strings.Builder
			for range r.IntN(6) {
				w := words[r.IntN(len(words))]
				from := r.IntN(len(w))
				if r.IntN(3) == 0 {
					from = 0
				}
				to := from + r.IntN(len(w)-from+1)
				if r.IntN(3) == 0 {
					to = len(w)
				}
				b.WriteString(w[from:to])
				b.WriteString([]string{"", " ", "x", w}[r.IntN(4)])
			}
			if got, want := o.literals.contained(b.String()), containedPlainly(words, b.String()); !slices.Equal(got, want) {
				t.Fatalf("%q has %v, want %v", b.String(), got, want)
			}
		}
	}
}

func FuzzLiterals(f *testing.F) {
	f.Add("abc", "bcd", "xabcdx")
	f.Add("aa", "aaa", "aaaa")
	f.Add("abcabcabc", "bcabcabca", "abcabcabcabcabc")
	f.Fuzz(func(t *testing.T, a, b, text string) {
		if a == "" || b == "" || len(a) > 250 || len(b) > 250 {
			t.Skip()
		}
		words := []string{a, b}
		if got, want := newLiteralSet(words).contained(text), containedPlainly(words, text); !slices.Equal(got, want) {
			t.Errorf("%q among %q has %v, want %v", words, text, got, want)
		}
	})
}
