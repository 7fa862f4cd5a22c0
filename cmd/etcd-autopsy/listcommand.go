package main

import (
	"context"
	"iter"

	"github.com/urfave/cli/v2"
)

// listCommand describes a command that reads evidence and lists rows of it.
type listCommand[T any] struct {
	name, usage, description string
	// flags are those that only this command has.
	flags []cli.Flag
	// table makes the listing; only its cells may depend on the query.
	table func(q *query) listing[T]
	// prepare checks the command's own flags; it may be nil. Nothing is read yet.
	prepare func(q *query) error
	// unread is true for a command that has rows even if nothing could be read.
	unread bool
	// rows gives what to list.
	rows func(ctx context.Context, e *evidence, q *query) (iter.Seq[T], error)
	// outcome is how the command ends once all is printed; nil for what every
	// command says of skipped evidence.
	outcome func(e *evidence, q *query) error
}

// list makes the command.
func list[T any](s *session, l listCommand[T]) *cli.Command {
	var evidence evidenceFlags
	var output listFlags
	formats := l.table(&query{}).formats()
	return &cli.Command{
		Name: l.name, Usage: l.usage, ArgsUsage: "INPUT... [flags]", Description: l.description,
		Flags: append(append([]cli.Flag{output.flag(formats)}, l.flags...), evidence.flags()...),
		Action: func(c *cli.Context) error {
			q, err := evidence.query(c)
			if err != nil {
				return err
			}
			if err := output.check(formats); err != nil {
				return err
			}
			if l.prepare != nil {
				if err := l.prepare(q); err != nil {
					return err
				}
			}
			q.output = output.output
			return l.run(c.Context, s, q)
		},
	}
}

// run reads the evidence and prints the rows.
func (l *listCommand[T]) run(ctx context.Context, s *session, q *query) (err error) {
	e, err := s.open(ctx, q, nil)
	if err != nil {
		return err
	}
	defer e.closeInto(&err)
	if !l.unread && !e.readable() {
		return errNoEvidence
	}
	rows, err := l.rows(ctx, e, q)
	if err != nil {
		return err
	}
	if err := l.table(q).print(s.stdout, q.output, until(ctx, rows)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.outcome != nil {
		return l.outcome(e, q)
	}
	return e.outcome(q)
}

// until ends a sequence when the context does.
func until[T any](ctx context.Context, rows iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for row := range rows {
			if ctx.Err() != nil || !yield(row) {
				return
			}
		}
	}
}
