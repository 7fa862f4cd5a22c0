package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagSpec is what must be known of a flag to tell its value from an input.
type flagSpec struct {
	// name is the long name.
	name       string
	takesValue bool
}

// flagTable finds flags by every name they have, without dashes.
type flagTable map[string]flagSpec

func newFlagTable(lists ...[]cli.Flag) flagTable {
	table := flagTable{"help": {name: "help"}, "h": {name: "help"}}
	for _, list := range lists {
		for _, f := range list {
			_, isBool := f.(*cli.BoolFlag)
			for _, n := range f.Names() {
				table[n] = flagSpec{name: f.Names()[0], takesValue: !isBool}
			}
		}
	}
	return table
}

// arrange puts a command line into the order that the parser wants: program,
// command, flags under their long names, "--", everything else. The parser alone
// would take each flag that follows an input for an input.
func arrange(app *cli.App, args []string) ([]string, error) {
	i, err := findCommand(app, args)
	if err != nil {
		return nil, err
	}
	if i < 0 {
		flags, _, err := split(newFlagTable(app.Flags), args)
		return append([]string{app.Name}, flags...), err
	}
	word, rest := args[i], slices.Delete(slices.Clone(args), i, i+1)
	if word == "help" {
		return arrangeHelp(app, rest)
	}
	cmd := app.Command(word)
	if cmd == nil {
		return nil, unknownCommand(app, word)
	}
	flags, operands, err := split(newFlagTable(cmd.Flags), rest)
	if err != nil {
		return nil, err
	}
	if slices.Contains(flags, "--help") { // the parser would take an operand for a topic
		return []string{app.Name, cmd.Name, "--help"}, nil
	}
	return slices.Concat([]string{app.Name, cmd.Name}, flags, []string{"--"}, operands), nil
}

// arrangeHelp makes "help COMMAND" the same as "COMMAND --help".
func arrangeHelp(app *cli.App, words []string) ([]string, error) {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return []string{app.Name, "--help"}, nil
	}
	cmd := app.Command(words[0])
	if cmd == nil {
		return nil, unknownCommand(app, words[0])
	}
	return []string{app.Name, cmd.Name, "--help"}, nil
}

// findCommand returns the index of the command's name, -1 if there is none.
// Flags before it may be those of any command.
func findCommand(app *cli.App, args []string) (int, error) {
	lists := [][]cli.Flag{app.Flags}
	for _, c := range app.Commands {
		lists = append(lists, c.Flags)
	}
	table := newFlagTable(lists...)
	for i := 0; i < len(args); i++ {
		if !isFlag(args[i]) {
			return i, nil
		}
		spec, _, hasValue, err := table.lookup(args[i])
		if err != nil {
			return 0, err
		}
		if spec.takesValue && !hasValue {
			i++
		}
	}
	return -1, nil
}

// split tells the flags of a command line from its operands.
func split(table flagTable, args []string) (flags, operands []string, err error) {
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--":
			return flags, append(operands, args[i+1:]...), nil
		case !isFlag(word):
			operands = append(operands, word)
			continue
		}
		spec, value, hasValue, err := table.lookup(word)
		if err != nil {
			return nil, nil, err
		}
		if hasValue && !spec.takesValue && value != "true" && value != "false" {
			return nil, nil, usagef("", "flag --%s takes no value", spec.name)
		}
		if spec.takesValue && !hasValue {
			i++
			if i == len(args) || table.knows(args[i]) {
				return nil, nil, usagef("", "flag %s needs a value", word)
			}
			value, hasValue = args[i], true
		}
		flag := "--" + spec.name
		if hasValue {
			flag += "=" + value
		}
		flags = append(flags, flag)
	}
	return flags, operands, nil
}

// isFlag tells flags from operands; a lone dash is standard input.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// knows reports whether a word is a flag of the table, or the end of flags.
func (t flagTable) knows(word string) bool {
	if !isFlag(word) {
		return false
	}
	_, _, _, err := t.lookup(word)
	return err == nil || word == "--"
}

// lookup takes a flag word apart: -o, --output, -o=x, --output=x.
func (t flagTable) lookup(word string) (spec flagSpec, value string, hasValue bool, err error) {
	name, value, hasValue := strings.Cut(word, "=")
	bare := strings.TrimPrefix(strings.TrimPrefix(name, "-"), "-")
	spec, ok := t[bare]
	if !ok || (len(bare) > 1) != strings.HasPrefix(name, "--") {
		return spec, "", false, usagef(t.hint(word, bare), "unknown flag %s", name)
	}
	return spec, value, hasValue, nil
}

// hint says what an unknown flag was perhaps meant to be.
func (t flagTable) hint(word, bare string) string {
	if spec, ok := t[bare]; ok {
		return "did you mean " + dashes(bare, spec) + "?"
	}
	if !strings.HasPrefix(word, "--") && len(bare) > 1 {
		if spec, ok := t[bare[:1]]; ok && spec.takesValue {
			return fmt.Sprintf("did you mean -%s %s?", bare[:1], bare[1:])
		}
	}
	names := make([]string, 0, len(t))
	for n := range t {
		names = append(names, n)
	}
	slices.Sort(names)
	if c := closest(bare, names); c != "" {
		return "did you mean " + dashes(c, t[c]) + "?"
	}
	if _, err := os.Lstat(word); err == nil {
		return fmt.Sprintf("to name the file, write ./%s", word)
	}
	return ""
}

func dashes(name string, spec flagSpec) string {
	if len(name) == 1 && spec.name != name {
		return "-" + name
	}
	return "--" + name
}

func unknownCommand(app *cli.App, word string) error {
	names := []string{"help"}
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	hint := ""
	if c := closest(word, names); c != "" {
		hint = fmt.Sprintf("did you mean %q?", c)
	} else if _, err := os.Lstat(word); err == nil {
		hint = fmt.Sprintf("a command comes first: %s report %s -o postmortem.html", program, word)
	}
	return usagef(hint, "unknown command %q", word)
}
