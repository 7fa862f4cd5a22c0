package logparse

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Signature is one known message: what it means when it stands in a log.
type Signature struct {
	// ID names it in records and reports, "etcd-slow-fdatasync".
	ID string
	// Component is the program that prints it. Families: "any-klog" is every
	// program that logs by klog, "etcd-client" the etcd client library in
	// whatever process, "any" everything.
	Component string
	// Severity is info, warn, error, fatal or panic, as printed or as meant.
	Severity string
	// Category groups signatures of one kind of trouble: "slow-disk".
	Category string
	// Meaning says in one phrase what happened, Causes what usually brings it
	// about, NextCheck where to look next. Causes and NextCheck may be empty.
	Meaning, Causes, NextCheck string
	// NotMeaning says what it is often taken for and does not show.
	NotMeaning string
	// Fields name the values that its records carry, as they are named in the log;
	// Values reads them.
	Fields []string
	// Versions are the releases that print it, "3.4..main"; empty = not tied.
	Versions string

	match pattern
	// extract finds fields in the text of records that are not structured: the names
	// of the groups are fields. Several are tried, all of them.
	extract []*regexp.Regexp
}

// pattern is how a signature is recognised. One literal of any kind suffices.
type pattern struct {
	// messages are whole messages: zap's msg, klog's quoted message.
	messages []string
	// texts stand inside a message, one with "^" before it at its beginning. For calls that only wrap an error ("Unhandled
	// Error") the error counts as the message.
	texts []string
	// quotes are error texts, which others quote: they may stand in any value.
	quotes []string
	// confirm, if set, must match around a literal of texts or quotes.
	confirm *regexp.Regexp
}

//go:embed signatures.tsv
var signatureTSV string

// signatureColumns is the head of signatures.tsv. In the three columns of
// literals " || " separates alternatives.
const signatureColumns = "id\tcomponent\tseverity\tcategory\tmsg\ttext\tquote\tconfirm\tversions\tmeaning\tlikely_causes\tnext_check\tfields\textract\tnot_meaning"

var signatureTable = sync.OnceValue(func() []Signature {
	table, err := parseSignatures(signatureTSV)
	if err != nil {
		panic(err) // the file is part of the program; a test reads it
	}
	return table
})

// Signatures returns the table of known messages in its order, as a copy.
func Signatures() []Signature { return slices.Clone(signatureTable()) }

// LookupSignature returns the signature of an ID, false if there is none.
func LookupSignature(id string) (Signature, bool) {
	i, ok := signatureMatcher().byID[id]
	if !ok {
		return Signature{}, false
	}
	return signatureTable()[i], true
}

func parseSignatures(tsv string) ([]Signature, error) {
	head, body, _ := strings.Cut(tsv, "\n")
	if head != signatureColumns {
		return nil, fmt.Errorf("signatures.tsv: head is %q", head)
	}
	var out []Signature
	for row := range strings.Lines(body) {
		c := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(c) != strings.Count(signatureColumns, "\t")+1 {
			return nil, fmt.Errorf("signatures.tsv: %s: %d columns", c[0], len(c))
		}
		s := Signature{
			ID: c[0], Component: c[1], Severity: c[2], Category: c[3],
			Versions: c[8], Meaning: c[9], Causes: c[10], NextCheck: c[11],
			Fields: fieldList(c[12]), NotMeaning: cmp.Or(c[14], notMeaning[c[3]]),
			match: pattern{messages: literals(c[4]), texts: literals(c[5]), quotes: literals(c[6])},
		}
		if c[7] != "" {
			re, err := regexp.Compile(c[7])
			if err != nil {
				return nil, fmt.Errorf("signatures.tsv: %s: %w", s.ID, err)
			}
			s.match.confirm = re
		}
		for _, x := range literals(c[13]) {
			re, err := regexp.Compile(x)
			if err != nil {
				return nil, fmt.Errorf("signatures.tsv: %s: %w", s.ID, err)
			}
			s.extract = append(s.extract, re)
		}
		out = append(out, s)
	}
	return out, nil
}

func fieldList(cell string) []string {
	if cell == "" {
		return nil
	}
	return strings.Split(cell, ",")
}

func literals(cell string) []string {
	if cell == "" {
		return nil
	}
	return strings.Split(cell, " || ")
}
