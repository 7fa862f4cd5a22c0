package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// usageError says that the command line cannot be meant like this.
type usageError struct{ text, hint string }

func (e *usageError) Error() string { return e.text }
func (e *usageError) Hint() string  { return e.hint }

// usagef makes a usageError; without a hint the user is pointed to the help.
func usagef(hint, format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...), hint: hint}
}

// hintedError adds what to try next to an error.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }
func (e *hintedError) Hint() string  { return e.hint }

// errStalled is the outcome of --exit-code when a rollout is stalled or refused.
var errStalled = errors.New("a rollout is stalled")

// errSkipped is the outcome of --strict when something was left out.
var errSkipped = errors.New("some of the evidence was skipped (--strict)")

// exit is an exit code and the errors that lead to it.
type exit struct {
	code    int
	meaning string
	matches func(error) bool
}

// exits maps errors to exit codes; the first row that matches counts. The help
// of every command prints it.
var exits = []exit{
	{0, "the result was written, even if some inputs could not be read (they are listed)",
		func(err error) bool { return err == nil || errors.Is(err, syscall.EPIPE) }},
	{130, "interrupted", func(err error) bool { return errors.Is(err, context.Canceled) }},
	{2, "usage: the command line is wrong", isUsage},
	{3, "only with --exit-code: a rollout is stalled or was refused", func(err error) bool { return errors.Is(err, errStalled) }},
	{4, "only with --strict: some of the evidence was skipped", func(err error) bool { return errors.Is(err, errSkipped) }},
	{1, "no result", func(error) bool { return true }},
}

func isUsage(err error) bool {
	var usage *usageError
	return errors.As(err, &usage)
}

// isOutcome reports whether the error only sets the exit code of a result that
// was written.
func isOutcome(err error) bool {
	return errors.Is(err, errStalled) || errors.Is(err, errSkipped)
}

func exitCode(err error) int {
	for _, e := range exits {
		if e.matches(err) {
			return e.code
		}
	}
	return 1
}

// tell prints an error for the user. A reader who closed the pipe has seen
// enough, and a stalled rollout is the result, not an error.
func tell(w io.Writer, err error) {
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE), err == errStalled:
		return
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(w, "%s: interrupted\n", program)
		return
	}
	fmt.Fprintf(w, "%s: %v\n", program, err)
	var h interface{ Hint() string }
	hint := ""
	if errors.As(err, &h) {
		hint = h.Hint()
	}
	if hint == "" && isUsage(err) {
		hint = fmt.Sprintf(`"%s --help" lists commands, "%s COMMAND --help" their flags`, program, program)
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}
