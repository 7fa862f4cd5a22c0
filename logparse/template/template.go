package template

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"etcd-autopsy/logparse"
)

// Template is a group of messages that differ only in what varies.
type Template struct {
	// Text is the message with masks: "<n>" for numbers, "<*>" for names, IDs,
	// paths and quoted text.
	Text      string
	Component logparse.Component
	Level     logparse.Level
	// Count is how many messages there were, those included that a program folded.
	Count int
	// First and Last are the first and last record by log and line.
	First, Last Place

	rate histogram
}

// Rate is how many of the messages a minute there were between two times, as far
// as their histogram can tell: it has 64 buckets over the whole span. It is 0 for
// an empty interval.
func (t *Template) Rate(from, to time.Time) float64 {
	if !from.Before(to) {
		return 0
	}
	return t.rate.between(from, to) / to.Sub(from).Minutes()
}

// manyWords is how many different words have to stand at one place of otherwise
// equal forms before the place is taken for one of a name.
const manyWords = 8

// pattern is a form, or several that became one.
type pattern struct {
	form
	words []string
}

// key is what patterns share that differ at most in the word at a place.
func (p *pattern) key(without int) string {
	var b strings.Builder
	b.WriteString(string(p.component))
	b.WriteByte(0)
	b.WriteByte(byte(p.level))
	b.WriteString(p.caller)
	for i, w := range p.words {
		b.WriteByte(0)
		if i != without {
			b.WriteString(w)
		}
	}
	return b.String()
}

// Templates returns what was found, sorted by component, level and text.
func (m *Miner) Templates() []Template {
	list, longest := make([]*pattern, 0, len(m.order)), 0
	for _, f := range m.order {
		p := &pattern{form: *f.clone(), words: strings.Fields(f.text)}
		longest = max(longest, len(p.words))
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *pattern) int { return cmp.Compare(a.form.key, b.form.key) })
	for place := range longest {
		list = unite(list, place)
	}
	out := make([]Template, len(list))
	for i, p := range list {
		out[i] = Template{
			Text: strings.Join(p.words, " "), Component: p.component, Level: p.level,
			Count: p.count, First: p.first, Last: p.last, rate: p.rate,
		}
	}
	slices.SortStableFunc(out, func(a, b Template) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), cmp.Compare(a.Level, b.Level), cmp.Compare(a.Text, b.Text))
	})
	return out
}

// unite makes one pattern of those that differ in nothing but the word at a place,
// if there are many of them.
func unite(list []*pattern, place int) []*pattern {
	groups, order := map[string][]*pattern{}, []string{}
	for _, p := range list {
		k := p.key(place)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], p)
	}
	out := make([]*pattern, 0, len(list))
	for _, k := range order {
		group := groups[k]
		if len(group) < manyWords || place >= len(group[0].words) {
			out = append(out, group...)
			continue
		}
		first := group[0]
		first.words = slices.Clone(first.words)
		first.words[place] = anyWord
		for _, p := range group[1:] {
			first.join(&p.form)
		}
		out = append(out, first)
	}
	return out
}
