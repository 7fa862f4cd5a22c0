package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// The scripts ask the program itself for candidates, so they never grow old.
//
//go:embed completion
var completionScripts embed.FS

// shells are the shells there is a script for.
var shells = []string{"bash", "zsh", "fish"}

// completionFlag, as the last word, asks for the words that could stand in the
// place of the one before it.
const completionFlag = "--generate-shell-completion"

func (s *session) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a completion script for a shell",
		ArgsUsage: strings.Join(shells, "|"),
		Description: "bash:  source <(etcd-autopsy completion bash)\n" +
			"zsh:   source <(etcd-autopsy completion zsh)\n" +
			"fish:  etcd-autopsy completion fish | source",
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if c.Args().Len() != 1 || !slices.Contains(shells, shell) {
				return usagef("shells are "+strings.Join(shells, ", "), "completion takes the name of a shell")
			}
			script, err := completionScripts.ReadFile("completion/" + shell)
			if err != nil {
				return err
			}
			_, err = s.stdout.Write(script)
			return err
		},
	}
}

// completionRequest returns the words before completionFlag, the last one being
// the word to complete.
func completionRequest(args []string) (words []string, ok bool) {
	last := len(args) - 1
	if last < 0 || args[last] != completionFlag {
		return nil, false
	}
	return args[:last], true
}

// printCandidates prints one candidate a line; none where files are wanted.
func printCandidates(w io.Writer, app *cli.App, words []string) error {
	for _, c := range candidates(app, words) {
		if _, err := fmt.Fprintln(w, c); err != nil {
			return err
		}
	}
	return nil
}

// candidates lists what the last of the words can be.
func candidates(app *cli.App, words []string) []string {
	current, before := "", words
	if n := len(words); n > 0 {
		current, before = words[n-1], words[:n-1]
	}
	i, err := findCommand(app, before)
	if err != nil || i < 0 {
		return startingWith(current, append(commandNames(app), "--help", "--version"))
	}
	if before[i] == "help" {
		return startingWith(current, commandNames(app))
	}
	cmd := app.Command(before[i])
	if cmd == nil || slices.Contains(before, "--") {
		return nil
	}
	return commandCandidates(cmd, before[i+1:], current)
}

func commandCandidates(cmd *cli.Command, before []string, current string) []string {
	table := newFlagTable(cmd.Flags)
	// A shell may cut --flag=value into three words.
	if n := len(before); current == "=" && n > 0 {
		return flagValues(cmd, table, before[n-1], "")
	}
	if n := len(before); n > 1 && before[n-1] == "=" {
		return flagValues(cmd, table, before[n-2], current)
	}
	if n := len(before); n > 0 && isFlag(before[n-1]) && !strings.Contains(before[n-1], "=") {
		if spec, _, _, err := table.lookup(before[n-1]); err == nil && spec.takesValue {
			return flagValues(cmd, table, before[n-1], current)
		}
	}
	if strings.HasPrefix(current, "-") {
		var names []string
		for n, spec := range table {
			if n == spec.name {
				names = append(names, "--"+n)
			}
		}
		slices.Sort(names)
		return startingWith(current, names)
	}
	return startingWith(current, operandWords(cmd.Name))
}

// operandWords are the words a command takes that are no files.
func operandWords(command string) []string {
	switch command {
	case "explain":
		return explainWords()
	case "completion":
		return shells
	}
	return nil
}

// flagValues lists the values of a flag that has a fixed set of them.
func flagValues(cmd *cli.Command, table flagTable, flag, current string) []string {
	spec, _, _, err := table.lookup(flag)
	if err != nil {
		return nil
	}
	for _, f := range cmd.Flags {
		if f.Names()[0] != spec.name {
			continue
		}
		if s, ok := f.(*cli.StringFlag); ok {
			return startingWith(current, choices(s.Usage))
		}
	}
	return nil
}

// choices reads the values off a flag's usage: "... as `table|wide|json`".
func choices(usage string) []string {
	_, rest, _ := strings.Cut(usage, "`")
	set, _, _ := strings.Cut(rest, "`")
	if !strings.Contains(set, "|") {
		return nil
	}
	return strings.Split(set, "|")
}

func commandNames(app *cli.App) []string {
	names := []string{"help"}
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return names
}

func startingWith(prefix string, words []string) []string {
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			out = append(out, w)
		}
	}
	return out
}
