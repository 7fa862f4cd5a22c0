package snapshot

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"
)

// FileKind says what a file of etcd is.
type FileKind uint8

const (
	// Backend is a database: a member's snap/db, a copy of one, or the output of
	// "snapshot save".
	Backend FileKind = iota
	// Segment is a file of a WAL folder: those of one folder are one member's log.
	Segment
	// RaftSnapshot is a .snap file of a member.
	RaftSnapshot
	// Objects is a text of objects that an API server answered: a Dump.
	Objects
)

// File is a file of etcd to open.
type File struct {
	// Input and Path name the file in results, as source.File does.
	Input, Path string
	// OSPath is where it is on this machine; it is in no result.
	OSPath string
	Kind   FileKind
}

// Options says how stores are opened. The zero value is good.
type Options struct {
	// LockTimeout is how long to wait for a file that another process has locked
	// for writing; 0 means one second.
	LockTimeout time.Duration
	// Progress, if not nil, is told from time to time how many bytes of all
	// files are done with; it ends at the sum of their sizes. Calls do not
	// overlap.
	Progress func(done int64)
	// Keys decrypt the values that are encrypted at rest; nil for none.
	Keys *Keys
	// Open opens a file of kind Objects for reading; nil opens its OSPath.
	Open func(File) (io.ReadCloser, error)
	_    struct{}
}

// defaultLockTimeout is the lock timeout of the zero Options.
const defaultLockTimeout = time.Second

// Load opens the files and merges what they hold. A file that cannot be opened,
// is damaged, locked or no store at all is a Store with Problems and no records;
// an error means that ctx ended. The result does not depend on the order of
// files. The caller closes the History.
func Load(ctx context.Context, files []File, opts Options) (*History, error) {
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = defaultLockTimeout
	}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Path, b.Path), cmp.Compare(a.OSPath, b.OSPath))
	})
	byKind := map[FileKind][]File{}
	for _, f := range files {
		byKind[f.Kind] = append(byKind[f.Kind], f)
	}
	h := &History{stores: openAll(ctx, byKind[Backend], opts), secrets: opts.Keys, table: &keyTable{}}
	h.readSnaps(byKind[RaftSnapshot])
	var err error
	if h.dumps, err = readDumps(ctx, byKind[Objects], opts.Open); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	logs, err := scanLogs(ctx, byKind[Segment])
	h.logs = logs
	if err = cmp.Or(err, ctx.Err()); err == nil {
		err = h.merge(ctx, logs)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// openAll opens the files, a few at a time; stores[i] is of files[i].
func openAll(ctx context.Context, files []File, opts Options) []*store {
	stores := make([]*store, len(files))
	total := &progress{report: opts.Progress}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, f := range files {
		stores[i] = &store{index: i, info: Store{Input: f.Input, Path: f.Path}, path: f.OSPath, meter: meter{total: total}, keys: &keyTable{}}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			stores[i].open(ctx, opts.LockTimeout)
		})
	}
	all.Wait()
	return stores
}
