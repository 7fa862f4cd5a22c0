package correlate

import (
	"context"
	"io"
	"iter"
	"sync"

	"etcd-autopsy/logparse"
)

// batchSize is how many records are handed over at a time, batchBytes from how many
// bytes of the log on there are no more, and batches how many such lots there are.
const (
	batchSize  = 256
	batchBytes = 256 << 10
	batches    = 4
)

// batch is some records of one log, in order; the last one may end in an error.
type batch struct {
	records []logparse.Record
	err     error
}

// records reads a log ahead of whoever looks at its records, so that cutting lines
// into records and telling what they mean take a core each. They come without
// signatures. A record is good until the next one is asked for: what is kept of it
// must be a copy.
func records(ctx context.Context, r io.Reader, opts logparse.Options) iter.Seq2[*logparse.Record, error] {
	opts.Unclassified = true
	return func(yield func(*logparse.Record, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		full, free := make(chan *batch, batches), make(chan *batch, batches)
		var reader sync.WaitGroup
		reader.Go(func() {
			defer close(full)
			fill(ctx, logparse.Read(ctx, r, opts), full, free)
		})
		defer reader.Wait()
		defer stop()
		for range batches {
			free <- &batch{records: make([]logparse.Record, 0, batchSize)}
		}
		for b := range full {
			for i := range b.records {
				if !yield(&b.records[i], nil) {
					return
				}
			}
			if b.err != nil {
				yield(nil, b.err)
				return
			}
			free <- b
		}
	}
}

// fill hands the records over, lot by lot; what a cancelled context leaves is
// dropped.
func fill(ctx context.Context, records iter.Seq2[logparse.Record, error], full chan<- *batch, free <-chan *batch) {
	b := next(ctx, free)
	for rec, err := range records {
		if b == nil {
			return
		}
		if err != nil {
			b.err = err
			break
		}
		b.records = append(b.records, rec)
		if len(b.records) == batchSize || rec.Offset-b.records[0].Offset > batchBytes {
			full <- b // has room for all there are
			b = next(ctx, free)
		}
	}
	if b != nil {
		full <- b
	}
}

// next is an empty batch, nil if the reader wants no more.
func next(ctx context.Context, free <-chan *batch) *batch {
	select {
	case b := <-free:
		clear(b.records)
		b.records = b.records[:0]
		return b
	case <-ctx.Done():
		return nil
	}
}
