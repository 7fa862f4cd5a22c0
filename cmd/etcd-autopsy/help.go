package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// appHelp is the help of the program as a whole.
var appHelp = `{{.Name}}: {{.Usage}}

Usage:
  {{.Name}} COMMAND [flags] INPUT...

Inputs are etcd snapshots, member folders, log files, audit logs, folders of
such, or - for standard input; any number, in any order. Flags may stand before,
between or after them; -- ends the flags.

Commands:
{{range .VisibleCommands}}  {{printf "%-11s" .Name}} {{.Usage}}
{{end}}
Flags:
  -h, --help  show help; after a command, that command's
  --version   print the version

Example:
  {{.Name}} report evidence/ -o postmortem.html

` + exitHelp()

// commandHelp is the template for the help of one command.
func commandHelp(c *cli.Command) string {
	return `{{.HelpName}}: {{.Usage}}

Usage:
  {{.HelpName}} {{.ArgsUsage}}
{{if .Description}}
{{.Description}}
{{end}}
Flags:
` + flagHelp(c.Flags) + "\n" + exitHelp()
}

// Columns of the flags' help.
const (
	helpIndent = 28
	helpWidth  = 80
)

// flagHelp describes flags, one after the other, in two columns.
func flagHelp(flags []cli.Flag) string {
	var b strings.Builder
	for _, f := range flags {
		names, text := flagWords(f)
		lines := wrap(text, helpWidth-helpIndent)
		if len([]rune(names)) > helpIndent-4 {
			fmt.Fprintf(&b, "  %s\n", names)
			names = ""
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "  %-*s%s\n", helpIndent-2, names, line)
			names = ""
		}
	}
	fmt.Fprintf(&b, "  %-*s%s\n", helpIndent-2, "-h, --help", "show this help")
	return b.String()
}

// flagWords returns "-o, --output FILE" and what the flag does. The value's name
// is what stands in backquotes in the usage; in front of it, it is only a name.
func flagWords(f cli.Flag) (names, text string) {
	for _, n := range f.Names()[1:] {
		names += "-" + n + ", "
	}
	names += "--" + f.Names()[0]
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return names, ""
	}
	before, rest, quoted := strings.Cut(doc.GetUsage(), "`")
	if !quoted {
		return names, before
	}
	value, after, _ := strings.Cut(rest, "`")
	names += " " + value
	if before == "" {
		return names, strings.TrimSpace(after)
	}
	return names, before + value + after
}

// exitHelp lists the exit codes in rising order.
func exitHelp() string {
	rows := slices.Clone(exits)
	slices.SortFunc(rows, func(a, b exit) int { return cmp.Compare(a.code, b.code) })
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "  %-3d  %s\n", r.code, r.meaning)
	}
	return b.String()
}
