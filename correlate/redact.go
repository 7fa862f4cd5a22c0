package correlate

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A redactor replaces what looks like a credential by a token: an ordinal in order
// of first appearance, equal values sharing one, nothing derived from the value.
type redactor struct{ tokens map[string]string }

func newRedactor() *redactor { return &redactor{tokens: map[string]string{}} }

// credentials are the shapes in which credentials stand in logs, messages and image
// names; the first group is what is replaced. A shape is tried only on texts that
// hold one of its hints: most hold none.
var credentials = []struct {
	hints []string
	shape *regexp.Regexp
}{
	{[]string{"earer"}, regexp.MustCompile(`(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})`)},
	{[]string{"asic "}, regexp.MustCompile(`(?i)\bauthorization\W+basic\s+([A-Za-z0-9+/=]{4,})`)},
	{[]string{"oken", "assw", "ecret", "pi_key", "pikey", "rivate_key", "auth"}, regexp.MustCompile(
		`(?i)[?&\s",'](?:access_token|token|password|passwd|secret|api_key|apikey)=([^&\s"',;)\\]{3,})`)},
	{[]string{"oken", "assw", "ecret", "rivate_key", "auth"}, regexp.MustCompile(
		`(?i)\\?"(?:password|passwd|token|secret|access_token|client_secret|private_key|auth)\\?"\s*:\s*\\?"([^"\\]{3,})`)},
	{[]string{"Secret"}, regexp.MustCompile(`"Secret\\?".*?"(?:data|stringData)\\?"\s*:\s*\{([^}]*)`)},
	{[]string{"@"}, regexp.MustCompile(`[a-z]://([^/\s:@"]+:[^/\s@"]+)@`)},
	{[]string{"@"}, regexp.MustCompile(`(?:^|[\s"'=(])([A-Za-z0-9._-]+:[^\s/@"':]+)@[A-Za-z0-9.-]+(?::\d+)?/`)},
	{[]string{"eyJ"}, regexp.MustCompile(`\b(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)`)},
	{[]string{"PRIVATE KEY"}, regexp.MustCompile(`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----.*)`)},
}

// text redacts one text.
func (r *redactor) text(s string) string {
	for _, k := range credentials {
		if !slices.ContainsFunc(k.hints, func(h string) bool { return strings.Contains(s, h) }) || !k.shape.MatchString(s) {
			continue
		}
		var b strings.Builder
		at := 0
		for _, m := range k.shape.FindAllStringSubmatchIndex(s, -1) {
			b.WriteString(s[at:m[2]])
			b.WriteString(r.token(s[m[2]:m[3]]))
			at = m[3]
		}
		b.WriteString(s[at:])
		s = b.String()
	}
	return s
}

func (r *redactor) token(value string) string {
	if strings.HasPrefix(value, "secret#") {
		return value
	}
	t, ok := r.tokens[value]
	if !ok {
		t = fmt.Sprintf("secret#%d", len(r.tokens)+1)
		r.tokens[value] = t
	}
	return t
}

// all redacts every string that a value holds, in the order of its fields. Map keys
// stay; maps are small and have their values redacted in the order of their keys.
func (r *redactor) all(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			r.all(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.all(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			r.all(v.Index(i))
		}
	case reflect.Map:
		if m, ok := v.Interface().(map[string]string); ok {
			for _, k := range sortedKeys(m) {
				m[k] = r.text(m[k])
			}
		}
	case reflect.String:
		if v.CanSet() {
			if s := v.String(); len(s) > 7 {
				v.SetString(r.text(s))
			}
		}
	}
}

// bodies are where the objects of audited requests begin in a line, and the
// annotations that hold patches.
var bodies = []string{`"requestObject"`, `"responseObject"`, `"annotations":{"patch.webhook`, `\"requestObject\"`, `\"responseObject\"`}

// cutBodies cuts a line before the first object of a request: it may hold anything,
// whatever resource the line says it is about. Webhooks put patches into
// annotations, so they go too.
func cutBodies(text string) string {
	for _, k := range bodies {
		if i := strings.Index(text, k); i >= 0 {
			text = text[:i]
		}
	}
	return text
}
