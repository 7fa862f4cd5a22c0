package logparse

import (
	"slices"
	"strings"
	"sync"
)

// matcher tests records against the whole table: whole messages by a map, parts of
// messages and quoted errors by one pass over each value. Regular expressions are run
// only where a literal was found.
type matcher struct {
	table    []Signature
	byID     map[string]int
	messages map[string][]int
	// inMessages are the literals that count in a message, inValues those that count
	// in any value.
	inMessages, inValues owned
}

// owned is a set of literals, and whose each of them is.
type owned struct {
	literals *literalSet
	owners   []int // signatures, by literal
}

var signatureMatcher = sync.OnceValue(buildMatcher)

func buildMatcher() *matcher {
	m := &matcher{table: signatureTable(), byID: map[string]int{}, messages: map[string][]int{}}
	var inMessages, inValues []string
	for i, s := range m.table {
		m.byID[s.ID] = i
		for _, w := range s.match.messages {
			m.messages[w] = append(m.messages[w], i)
		}
		for _, w := range slices.Concat(s.match.texts, s.match.quotes) {
			inMessages, m.inMessages.owners = append(inMessages, w), append(m.inMessages.owners, i)
		}
		for _, w := range s.match.quotes {
			inValues, m.inValues.owners = append(inValues, w), append(m.inValues.owners, i)
		}
	}
	m.inMessages.literals, m.inValues.literals = newLiteralSet(inMessages), newLiteralSet(inValues)
	return m
}

// found is the set of signatures of one record.
type found []int

// signatures returns the IDs of the signatures that a record matches, in table
// order, nil if none.
func (m *matcher) signatures(rec *Record) []string {
	var buf [8]int
	f := found(buf[:0])
	for _, i := range m.messages[rec.Message] {
		if m.printedBy(i, rec) {
			f = f.add(i)
		}
	}
	f = m.search(f, rec, rec.Message, true)
	if rec.Problem != "" {
		f = m.search(f, rec, rec.Problem, true)
	}
	wrapped := wrapsError(rec)
	for _, x := range rec.Fields {
		f = m.search(f, rec, x.Value, wrapped && x.Key == "err")
	}
	if len(f) == 0 {
		return nil
	}
	out := make([]string, len(f))
	for k, i := range f {
		out[k] = m.table[i].ID
	}
	return out
}

// search adds the signatures whose literals stand in one value of a record.
func (m *matcher) search(f found, rec *Record, text string, message bool) found {
	o := &m.inValues
	if message {
		o = &m.inMessages
	}
	var buf [4]int
	refused := found(buf[:0]) // by confirm, which sees the same text each time
	l := o.literals
	for _, id := range l.starts {
		if strings.HasPrefix(text, l.words[id][1:]) {
			f, refused = m.confirm(f, refused, rec, o.owners[id], text)
		}
	}
	for _, id := range l.short {
		if strings.Contains(text, l.words[id]) {
			f, refused = m.confirm(f, refused, rec, o.owners[id], text)
		}
	}
	for end := l.least; end >= 0 && end <= len(text); {
		at, ids, next := l.candidates(text, end)
		for _, id := range ids {
			if strings.HasPrefix(text[at:], l.words[id]) {
				f, refused = m.confirm(f, refused, rec, o.owners[id], text)
			}
		}
		end = next
	}
	return f
}

// confirm adds a signature of which a literal was found, if the record's program may
// have printed it and the text around it is right.
func (m *matcher) confirm(f, refused found, rec *Record, i int, text string) (found, found) {
	if f.has(i) || refused.has(i) || !m.printedBy(i, rec) {
		return f, refused
	}
	if re := m.table[i].match.confirm; re == nil || re.MatchString(text) {
		return f.add(i), refused
	}
	return f, refused.add(i)
}

// printedBy reports whether a signature's component may have printed a record.
func (m *matcher) printedBy(i int, rec *Record) bool {
	s := &m.table[i]
	if s.Component == "etcd" && strings.HasPrefix(s.ID, "etcd-err-") {
		return true // everybody quotes them
	}
	if may, ok := families[s.Component]; ok {
		return may(rec)
	}
	return rec.Format != FormatZapJSON && rec.Format != FormatAudit &&
		(rec.Component == ComponentUnknown || string(rec.Component) == s.Component)
}

// families are the components that are no single Kubernetes program: whether they
// may have printed a record. A klog stream of unknown origin may be of any program.
var families = map[string]func(*Record) bool{
	"any":          func(*Record) bool { return true },
	"any-klog":     ofKlog,
	"etcd":         ofEtcd,
	"etcd-client":  func(r *Record) bool { return r.Format == FormatZapJSON },
	"k3s-rke2":     ofOther,
	"kube-vip":     ofOther,
	"etcd-manager": func(r *Record) bool { return r.Component == ComponentUnknown },
}

// ofKlog is for programs that log by klog, and the lines of the etcd client inside
// them.
func ofKlog(r *Record) bool {
	switch r.Format {
	case FormatKlog, FormatKlogJSON:
		return true
	case FormatZapJSON:
		return r.Component != ComponentEtcd
	}
	return false
}

// ofOther is for programs that log neither as etcd nor as Kubernetes does, also
// where their lines stand in a log of one of those.
func ofOther(r *Record) bool {
	switch r.Format {
	case FormatKlog, FormatKlogJSON, FormatZapJSON, FormatCapnslog, FormatAudit:
		return false
	}
	return true
}

// ofEtcd is for etcd, also where only a package of it before the message, or in a
// field, tells so: releases before 3.4 log by Go's log package, and Stackdriver keeps
// the package as a field.
func ofEtcd(r *Record) bool {
	if r.Component != ComponentUnknown {
		return r.Component == ComponentEtcd
	}
	switch r.Format {
	case FormatGoLog, FormatPlain, FormatJSON:
		name, _, _ := strings.Cut(r.Message, ": ")
		return etcdPackages[name] || etcdPackages[r.Caller]
	case FormatPanic:
		return strings.Contains(r.Message, "etcd")
	}
	return false
}

// wrapsError reports whether a record only passes an error on: apimachinery's
// runtime.HandleError logs so since 1.31 (util/runtime/runtime.go).
func wrapsError(rec *Record) bool {
	return (rec.Format == FormatKlog || rec.Format == FormatKlogJSON) && rec.Message == "Unhandled Error"
}

func (f found) has(i int) bool {
	for _, x := range f {
		if x == i {
			return true
		}
	}
	return false
}

// add keeps the set in rising order.
func (f found) add(i int) found {
	if f.has(i) {
		return f
	}
	f = append(f, i)
	for k := len(f) - 1; k > 0 && f[k-1] > f[k]; k-- {
		f[k-1], f[k] = f[k], f[k-1]
	}
	return f
}
