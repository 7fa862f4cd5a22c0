package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"etcd-autopsy/correlate"
	"etcd-autopsy/logparse"
)

// collectText says what to collect for a good postmortem.
//
//go:embed collect.txt
var collectText string

// Words of explain that are neither a cause nor a signature.
const (
	topicCollect    = "collect"
	topicSignatures = "signatures"
)

func (s *session) explainCommand() *cli.Command {
	f := &listFlags{}
	formats := []string{"text", "json"}
	return &cli.Command{
		Name:      "explain",
		Usage:     "say what a cause or a log signature means and what to check next",
		ArgsUsage: "[CAUSE | SIGNATURE | collect | signatures]",
		Description: "Without an argument it lists the causes. \"collect\" says what evidence to collect and\n" +
			"how, \"signatures\" lists the log messages that are known.",
		Flags: []cli.Flag{f.flag(formats)},
		Action: func(c *cli.Context) error {
			if err := f.check(formats); err != nil {
				return err
			}
			if c.Args().Len() > 1 {
				return usagef("", "explain takes one word, got %d", c.Args().Len())
			}
			if f.output == "json" {
				return explainJSON(s.stdout, c.Args().First())
			}
			return explain(s.stdout, c.Args().First())
		},
	}
}

// explain prints what is known about a word, or the causes without one.
func explain(w io.Writer, word string) error {
	switch word {
	case "":
		return explainCauses(w)
	case topicCollect:
		_, err := io.WriteString(w, collectText)
		return err
	case topicSignatures:
		return explainSignatures(w)
	}
	if c, ok := correlate.LookupCause(word); ok {
		return explainCause(w, c)
	}
	if sig, ok := logparse.LookupSignature(word); ok {
		return explainSignature(w, sig)
	}
	return unknownWord(word)
}

// unknownWord is the error for a word that nothing is known about.
func unknownWord(word string) error {
	hint := fmt.Sprintf(`"%s explain" lists causes, "%s explain signatures" log signatures`, program, program)
	if c := closest(word, explainWords()); c != "" {
		hint = fmt.Sprintf("did you mean %s?", c)
	}
	return usagef(hint, "explain: %q is neither a cause nor a log signature", word)
}

// explainWords are all words that explain takes.
func explainWords() []string {
	words := []string{topicCollect, topicSignatures}
	for _, c := range correlate.Causes() {
		words = append(words, c.ID)
	}
	for _, sig := range logparse.Signatures() {
		words = append(words, sig.ID)
	}
	return words
}

func explainCauses(w io.Writer) error {
	columns := []column[correlate.Cause]{
		{head: "CAUSE", cell: func(c correlate.Cause) string { return c.ID }},
		{head: "STAGES", cell: func(c correlate.Cause) string { return c.Stages }},
		{head: "RECOGNISED BY", cell: func(c correlate.Cause) string { return c.Test }},
	}
	if err := printTable(w, columns, false, slices.Values(correlate.Causes())); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nStages: %s.\n%d log messages are known by signature: \"%s explain signatures\" lists them, \"%s explain SIGNATURE\"\nexplains one. \"%s explain collect\" says what evidence to collect.\n",
		stageList(), len(logparse.Signatures()), program, program, program)
	return err
}

func explainSignatures(w io.Writer) error {
	columns := []column[logparse.Signature]{
		{head: "SIGNATURE", cell: func(s logparse.Signature) string { return s.ID }},
		{head: "COMPONENT", cell: func(s logparse.Signature) string { return s.Component }},
		{head: "SEVERITY", cell: func(s logparse.Signature) string { return s.Severity }},
		{head: "MEANING", cell: func(s logparse.Signature) string { return s.Meaning }},
	}
	return printTable(w, columns, false, slices.Values(logparse.Signatures()))
}

func explainCause(w io.Writer, c correlate.Cause) error {
	return printEntry(w, c.ID, []paragraph{
		{"can stall", stagesInWords(c.Stages)},
		{"recognised by", c.Test},
		{"do not confuse with", c.NotToBeConfusedWith},
		{"check next", c.NextStep},
	})
}

func explainSignature(w io.Writer, s logparse.Signature) error {
	return printEntry(w, s.ID, []paragraph{
		{"printed by", strings.TrimSpace(s.Component + " " + s.Versions)},
		{"severity", s.Severity},
		{"category", s.Category},
		{"meaning", s.Meaning},
		{"does not mean", s.NotMeaning},
		{"likely causes", s.Causes},
		{"carries", carried(s)},
		{"check next", s.NextCheck},
	})
}

// carried lists the values of a signature with their kinds.
func carried(s logparse.Signature) string {
	var out []string
	for _, f := range s.Fields {
		if k := logparse.ValueKindOf(f); k != logparse.ValueText {
			f += " (" + string(k) + ")"
		}
		out = append(out, f)
	}
	return strings.Join(out, ", ")
}

// paragraph is a labelled text; one without text is not printed.
type paragraph struct{ label, text string }

func printEntry(w io.Writer, title string, paragraphs []paragraph) error {
	if _, err := fmt.Fprintln(w, title); err != nil {
		return err
	}
	for _, p := range paragraphs {
		if p.text == "" {
			continue
		}
		const indent = 24
		lines := wrap(p.text, 78-indent)
		for i, line := range lines {
			label := ""
			if i == 0 {
				label = p.label + ":"
			}
			if _, err := fmt.Fprintf(w, "  %-*s%s\n", indent-2, label, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrap breaks a text into lines of at most width characters, at spaces.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
