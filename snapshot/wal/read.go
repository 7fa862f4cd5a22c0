package wal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
)

// errChanged means that a file is not what it was when it was scanned.
var errChanged = errors.New("the file has changed since it was read")

// Read gives the entries from one number of Entries up to, not including, another
// once more, now with their data, which are good until the next one. It ends with
// the first error: of ctx, or of a file that is not what it was.
func (l *Log) Read(ctx context.Context, from, to int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var w *window
		segment := int16(-1)
		defer func() { w.close() }()
		for i := from; i < to; i++ {
			if (i-from)%1024 == 0 && ctx.Err() != nil {
				yield(Entry{}, ctx.Err())
				return
			}
			ref := &l.Entries[i]
			if ref.Segment != segment {
				w.close()
				next, err := openWindow(l.Segments[ref.Segment].osPath)
				if err != nil {
					yield(Entry{}, fmt.Errorf("%s: %w", l.Segments[ref.Segment].Path, err))
					return
				}
				w, segment = next, ref.Segment
			}
			e, err := l.decode(w, ref)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// close closes the file of a window; a nil one has none.
func (w *window) close() {
	if w != nil {
		_ = w.file.Close()
	}
}

// decode reads the entry at a place and makes sure that it is the one.
func (l *Log) decode(w *window, ref *Ref) (Entry, error) {
	e, err := w.entry(ref)
	if err != nil {
		return Entry{}, fmt.Errorf("%s, offset %d: %w", l.Segments[ref.Segment].Path, ref.Offset, err)
	}
	return e, nil
}

func (w *window) entry(ref *Ref) (e Entry, err error) {
	if ref.Offset+frameHead+int64(ref.Size) > w.size {
		return e, errChanged
	}
	b, err := w.bytes(ref.Offset, frameHead+int64(ref.Size))
	if err != nil {
		return e, err
	}
	f, ok := parseFrame(ref.Offset, b)
	if !ok || f.size != int64(ref.Size) {
		return e, errChanged
	}
	r, ok := parseRecord(f, b[frameHead:])
	if !ok || r.kind != typeEntry {
		return e, errChanged
	}
	if e, ok = parseEntry(r.data); !ok || e.Index != ref.Index || e.Term != ref.Term {
		return e, errChanged
	}
	return e, nil
}

// Data reads the data of one of Entries: a copy, the caller's own. It may be
// called from any number of goroutines.
func (l *Log) Data(i int) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ref := &l.Entries[i]
	w := l.windows[ref.Segment]
	if w == nil {
		var err error
		if w, err = openWindow(l.Segments[ref.Segment].osPath); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Segments[ref.Segment].Path, err)
		}
		w.room = nil // entries are asked for here and there: no more is read than they take
		if l.windows == nil {
			l.windows = map[int16]*window{}
		}
		l.windows[ref.Segment] = w
	}
	e, err := l.decode(w, ref)
	return bytes.Clone(e.Data), err
}
