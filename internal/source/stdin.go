package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// stdin collects standard input: a copy in a private folder, so that it can be
// read any number of times and at any offset.
func (c *collector) stdin(s *Set, n *input, opts Options) error {
	in, limit := opts.Stdin, opts.MaxStdin
	if in == nil {
		in = os.Stdin
	}
	if limit <= 0 {
		limit = DefaultMaxStdin
	}
	var err error
	if s.private, err = os.MkdirTemp(opts.TempDir, "etcd-autopsy-"); err != nil {
		return fmt.Errorf("store standard input: %w", err)
	}
	f := &File{OSPath: filepath.Join(s.private, StdinLabel)}
	f.Size, err = store(c.ctx, f.OSPath, in, limit)
	switch {
	case errors.Is(err, errTooLong):
		c.skip(n, StdinLabel, fmt.Sprintf("longer than %d bytes, left out", limit))
		return nil
	case err != nil:
		return fmt.Errorf("store standard input: %w", err)
	}
	if err := f.sniff(); err != nil {
		return fmt.Errorf("store standard input: %w", err)
	}
	f.ModTime = time.Time{}
	c.found = append(c.found, entry{owner: n, path: StdinLabel, file: f})
	return nil
}

// errTooLong means that there was more input than wanted.
var errTooLong = errors.New("too long")

// store copies at most limit bytes to a new file. It returns at once when ctx
// ends, even while a read is waiting for a terminal.
func store(ctx context.Context, path string, in io.Reader, limit int64) (int64, error) {
	type result struct {
		n   int64
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := copyTo(ctx, path, in, limit)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// copyTo does the copying of store.
func copyTo(ctx context.Context, path string, in io.Reader, limit int64) (n int64, err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err = io.Copy(out, &ctxReader{ctx, io.LimitReader(in, limit+1)})
	if err == nil && n > limit {
		err = errTooLong
	}
	return n, err
}

// ctxReader ends with the context's error.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
