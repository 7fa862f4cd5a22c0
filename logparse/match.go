package logparse

import (
	"strings"
	"sync"
)

// matcher tests records against the whole table: whole messages by a map, parts
// of messages and quoted errors by one pass over each value. Regular expressions
// are run only where a literal was found.
type matcher struct {
	table    []Signature
	byID     map[string]int
	messages map[string][]int
	literals *literalSet
	owners   []literalOwner // by literal
}

// literalOwner says which signature a literal belongs to and where it counts.
type literalOwner struct {
	signature int
	quote     bool
}

var signatureMatcher = sync.OnceValue(buildMatcher)

func buildMatcher() *matcher {
	m := &matcher{table: signatureTable(), byID: map[string]int{}, messages: map[string][]int{}}
	var words []string
	for i, s := range m.table {
		m.byID[s.ID] = i
		for _, w := range s.match.messages {
			m.messages[w] = append(m.messages[w], i)
		}
		for _, w := range s.match.texts {
			words, m.owners = append(words, w), append(m.owners, literalOwner{signature: i})
		}
		for _, w := range s.match.quotes {
			words, m.owners = append(words, w), append(m.owners, literalOwner{signature: i, quote: true})
		}
	}
	m.literals = newLiteralSet(words)
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
	l := m.literals
	var buf [4]int
	refused := found(buf[:0]) // by confirm, which sees the same text each time
	var row uint32
	var ended []int
	for i := range len(text) {
		row, ended = l.step(row, text[i])
		for _, id := range ended {
			o := m.owners[id]
			if !o.quote && !message || f.has(o.signature) || refused.has(o.signature) || !m.printedBy(o.signature, rec) {
				continue
			}
			if re := m.table[o.signature].match.confirm; re == nil || re.MatchString(text) {
				f = f.add(o.signature)
			} else {
				refused = refused.add(o.signature)
			}
		}
	}
	return f
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
