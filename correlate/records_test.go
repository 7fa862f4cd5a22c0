package correlate

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"etcd-autopsy/fixtures/biglog"
	"etcd-autopsy/logparse"
)

// The records that are read ahead are those that are read one by one.
func TestRecordsAhead(t *testing.T) {
	for _, program := range []string{"etcd", "kube-apiserver", "audit"} {
		var text strings.Builder
		_, err := biglog.Write(&text, biglog.Options{Program: program, Size: 2 << 20, Seed: 9})
		must(t, err)
		in := text.String() + `{"level":"info","msg":"` + strings.Repeat("x", 3<<20) + "\"}\nI1130 22:00:00.000000       1 a.go:1] last\n"
		opts := logparse.Options{Year: 2026}
		var want []logparse.Record
		for rec, err := range logparse.Read(context.Background(), strings.NewReader(in), opts) {
			must(t, err)
			want = append(want, rec)
		}
		n := 0
		for rec, err := range records(context.Background(), strings.NewReader(in), opts) {
			must(t, err)
			if rec.Classify(); n >= len(want) || !reflect.DeepEqual(*rec, want[n]) {
				t.Fatalf("%s: record %d is %+v", program, n, *rec)
			}
			n++
		}
		if n != len(want) || n < 1000 {
			t.Errorf("%s: %d records, want %d", program, n, len(want))
		}
	}
}

// failingAfter fails behind a text.
type failingAfter struct{ io.Reader }

// closable must not be read once it is closed.
type closable struct {
	io.Reader
	closed bool
}

func (c *closable) Read(p []byte) (int, error) {
	if c.closed {
		panic("read after it was closed")
	}
	return c.Reader.Read(p)
}

var errDisk = errors.New("bad sector")

func (f failingAfter) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = errDisk
	}
	return n, err
}

// What was read before an error comes before it, and nothing is left running by a
// caller that stops.
func TestRecordsEnd(t *testing.T) {
	const line = "I1130 22:00:00.000000       1 a.go:1] text\n"
	for _, lines := range []int{0, 1, batchSize - 1, batchSize, batchSize + 1, 3 * batches * batchSize} {
		in := strings.Repeat(line, lines)
		n := 0
		var last error
		for _, err := range records(context.Background(), failingAfter{strings.NewReader(in)}, logparse.Options{Year: 2026}) {
			if last = err; err == nil {
				n++
			}
		}
		if n != lines || !errors.Is(last, errDisk) {
			t.Errorf("%d of %d records, then %v", n, lines, last)
		}
		r := &closable{Reader: strings.NewReader(in)}
		for range records(context.Background(), r, logparse.Options{Year: 2026}) {
			break
		}
		r.closed = true // races with a read that goes on
		ctx, cancel := context.WithCancel(context.Background())
		n = 0
		for range records(ctx, strings.NewReader(in), logparse.Options{Year: 2026}) {
			cancel()
			n++
		}
		cancel()
		if n > (batches+1)*batchSize+1 {
			t.Errorf("%d records after the context ended", n)
		}
	}
}
