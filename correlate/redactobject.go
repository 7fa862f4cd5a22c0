package correlate

import (
	"regexp"
	"strings"
)

// lastApplied is the annotation in which kubectl keeps a whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// secretName are the names of variables and fields whose values are masked.
var secretName = regexp.MustCompile(`(?i)passw|secret|token|api[-_]?key|private[-_]?key|credential`)

// object masks the secrets of an object in place and returns it: the values of a
// Secret, of variables that are named like one, and what looks like a credential
// in any text.
func (r *redactor) object(o map[string]any) map[string]any {
	if o["kind"] == "Secret" {
		for _, field := range []string{"data", "stringData"} {
			r.maskValues(o[field])
		}
		if m, ok := o["metadata"].(map[string]any); ok {
			if a, ok := m["annotations"].(map[string]any); ok && a[lastApplied] != nil {
				a[lastApplied] = r.mask(a[lastApplied])
			}
		}
	}
	r.walk(o)
	return o
}

// maskValues masks every value of a map.
func (r *redactor) maskValues(v any) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, k := range sortedKeys(m) {
		m[k] = r.mask(m[k])
	}
}

func (r *redactor) mask(v any) any {
	s, ok := v.(string)
	if !ok || s == "" {
		return v
	}
	return r.token(s)
}

// walk redacts the texts of a decoded object, in the order of its keys.
func (r *redactor) walk(v any) any {
	switch x := v.(type) {
	case map[string]any:
		name, _ := x["name"].(string)
		for _, k := range sortedKeys(x) {
			s, text := x[k].(string)
			if text && (k == "value" && secretName.MatchString(name) || k != "name" && !strings.HasSuffix(k, "Name") && secretName.MatchString(k)) {
				x[k] = r.mask(s)
				continue
			}
			x[k] = r.walk(x[k])
		}
	case []any:
		for i := range x {
			x[i] = r.walk(x[i])
		}
	case string:
		return r.text(x)
	}
	return v
}
