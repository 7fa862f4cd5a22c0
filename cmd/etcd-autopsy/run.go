package main

import (
	"bufio"
	"context"
	"io"

	"github.com/urfave/cli/v2"
)

const program = "etcd-autopsy"

// session is what a command has of the world around it.
type session struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// Run runs one command line, without the program's name, and returns its exit
// code. It keeps no state: several may run at once.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := bufio.NewWriter(stdout)
	s := &session{stdin: stdin, stdout: out, stderr: stderr}
	err := s.run(ctx, args)
	if lost := out.Flush(); lost != nil && (err == nil || isOutcome(err)) {
		err = lost
	}
	tell(stderr, err)
	return exitCode(err)
}

func (s *session) run(ctx context.Context, args []string) error {
	app := s.app()
	if words, ok := completionRequest(args); ok {
		return printCandidates(s.stdout, app, words)
	}
	argv, err := arrange(app, args)
	if err != nil {
		return err
	}
	return app.RunContext(ctx, argv)
}

// app describes the whole command line. The parser is told not to exit, print
// or suggest on its own: errors come back to Run.
func (s *session) app() *cli.App {
	return &cli.App{
		Name:                      program,
		Usage:                     "say why a Kubernetes rollout stalled, from etcd's files and the logs",
		Reader:                    s.stdin,
		Writer:                    s.stdout,
		ErrWriter:                 s.stderr,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		CustomAppHelpTemplate:     appHelp,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              onUsageError,
		Flags:                     []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version"}},
		Action:                    s.noCommand,
		Commands:                  s.commands(),
	}
}

// commands lists the commands in the order of the help.
func (s *session) commands() []*cli.Command {
	list := []*cli.Command{
		s.reportCommand(),
		s.inputsCommand(),
		s.rolloutsCommand(),
		s.revisionsCommand(),
		s.timelineCommand(),
		s.writesCommand(),
		s.membersCommand(),
		s.checkCommand(),
		s.renderCommand(),
		s.explainCommand(),
		s.completionCommand(),
	}
	for _, c := range list {
		c.CustomHelpTemplate = commandHelp(c)
		c.HideHelpCommand = true
		c.OnUsageError = onUsageError
	}
	return list
}

// noCommand runs where no command was named.
func (s *session) noCommand(c *cli.Context) error {
	if c.Bool("version") {
		return printVersion(s.stdout)
	}
	return usagef("", "no command given")
}

// onUsageError takes the parser's own errors: values that are not of a flag's
// type.
func onUsageError(_ *cli.Context, err error, _ bool) error {
	return usagef("", "%v", err)
}
