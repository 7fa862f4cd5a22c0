package dump

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode"
)

// maxItem bounds the text of one object: etcd takes no request over 1.5 MiB by
// default, and YAML makes of an object about twice its JSON.
const maxItem = 32 << 20

// maxProblems is how many problems of one dump are listed.
const maxProblems = 20

// Read gives the objects of a dump to f, in the order of the text. What cannot be
// read is in the Summary; the error is that of r, of f, or of ctx. Memory is
// bounded by the largest object.
func Read(ctx context.Context, r io.Reader, f func(Item) error) (Summary, error) {
	d := &reader{ctx: ctx, in: newFeed(r), give: f}
	if b, _ := d.in.r.Peek(3); bytes.Equal(b, []byte("\ufeff")) {
		d.skip(3)
	}
	err := d.all()
	if d.unlisted > 0 {
		d.sum.Problems = append(d.sum.Problems, fmt.Sprintf("%d more objects could not be read", d.unlisted))
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return d.sum, err
}

// reader reads a dump.
type reader struct {
	ctx  context.Context
	in   *feed
	at   int64 // offset of what in gives next
	give func(Item) error
	sum  Summary
	// unlisted counts problems beyond maxProblems.
	unlisted int
}

// all reads document after document until io.EOF.
func (d *reader) all() error {
	for {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		c, err := d.blank()
		if err != nil {
			return err
		}
		if c == '{' || c == '[' {
			err = d.json()
		} else {
			err = d.yaml()
		}
		if err != nil {
			return err
		}
	}
}

// blank passes over blanks and returns the byte behind them, unread.
func (d *reader) blank() (byte, error) {
	for {
		b, err := d.in.peek()
		if err != nil {
			return 0, err
		}
		if !unicode.IsSpace(rune(b)) && b != 0 {
			return b, nil
		}
		d.skip(1)
	}
}

func (d *reader) skip(n int) {
	for range n {
		d.in.skip()
		d.at++
	}
}

// item gives one object, with what its list says of it.
func (d *reader) item(raw []byte, offset int64, l list) error {
	x, err := newItem(raw, offset)
	if err != nil {
		d.problem("%v", err)
		return nil
	}
	if x.Kind == "" {
		x.Kind, x.APIVersion = l.itemKind(), l.APIVersion
	}
	d.sum.Objects++
	return d.give(x)
}

// problem notes a sentence about the text.
func (d *reader) problem(format string, args ...any) {
	if len(d.sum.Problems) >= maxProblems {
		d.unlisted++
		return
	}
	d.sum.Problems = append(d.sum.Problems, fmt.Sprintf(format, args...))
}
