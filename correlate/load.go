package correlate

import (
	"context"
	"path"
	"slices"
	"sync"
	"time"

	"etcd-autopsy/correlate/revclock"
	"etcd-autopsy/internal/source"
	"etcd-autopsy/logparse"
	"etcd-autopsy/snapshot"
)

// readers is how many files are read at once: more does not help a laptop's disk.
const readers = 4

// openStores merges every store among the inputs into one history.
func (c *Case) openStores(ctx context.Context) error {
	var files []snapshot.File
	for i, f := range c.set.Files {
		x := snapshot.File{Input: f.Input, Path: f.Path, OSPath: f.OSPath}
		switch k := c.inputs[i].Kind; {
		case k == kindMember && f.Kind == source.KindSnap:
			x.Kind = snapshot.RaftSnapshot
		case k == kindWAL:
			x.Kind = snapshot.Segment
		case k == kindObjects:
			x.Kind = snapshot.Objects
		case k != kindSnapshot && k != kindMember:
			continue
		}
		files = append(files, x)
	}
	h, err := snapshot.Load(ctx, files, c.storeOptions())
	if err != nil {
		return err
	}
	c.hist = h
	for _, s := range h.Stores() {
		c.stores = append(c.stores, c.inputOf(s.Input, s.Path))
	}
	for k, s := range h.Stores() {
		in := &c.inputs[c.stores[k]]
		in.Records, in.Foreign = s.Records, s.Foreign
		in.Kind = kindMember
		if s.Snapshot {
			in.Kind = kindSnapshot
		}
		in.Problems = append(in.Problems, s.Problems...)
		if s.Rejected != "" {
			in.Problems = append(in.Problems, s.Rejected)
		}
		in.Member = memberOfPath(in.Path, s.Members)
	}
	c.describeWALs()
	c.describeDumps()
	return nil
}

// storeOptions are how stores are opened: with all keys that are known.
func (c *Case) storeOptions() snapshot.Options {
	return snapshot.Options{Keys: snapshot.JoinKeys(append(c.keys, c.opts.Keys)...), Open: c.openObjects}
}

// inputOf finds the input with a label and path.
func (c *Case) inputOf(label, p string) int {
	for i := range c.inputs {
		if c.inputs[i].Label == label && c.inputs[i].Path == p {
			return i
		}
	}
	return -1
}

// memberOfPath reads the member's name off a path like etcd-1/member/snap/db, if
// the store knows a member of that name.
func memberOfPath(p string, members []snapshot.Member) string {
	dir := path.Base(path.Dir(path.Dir(path.Dir(p))))
	for _, m := range members {
		if m.Name == dir {
			return dir
		}
	}
	return ""
}

// readFiles digests every file and reads the logs at the same time, so that one
// large log keeps two cores busy and comes from the disk once.
func (c *Case) readFiles(ctx context.Context, p *progress) error {
	sums := make([]fileDigest, len(c.inputs))
	for i := range sums {
		sums[i].before = len(c.inputs[i].Problems)
	}
	var digesting sync.WaitGroup
	digesting.Go(func() {
		_ = each(ctx, len(sums), func(i int) { c.digest(ctx, i, p, &sums[i]) }) // readLogs says that ctx ended
	})
	err := c.readLogs(ctx, p)
	digesting.Wait()
	for i, d := range sums {
		in := &c.inputs[i]
		if in.SHA256 = d.sum; d.problem != "" {
			in.Problems = slices.Insert(in.Problems, d.before, d.problem)
		}
	}
	return err
}

// readLogs reads first the logs whose stamps are whole, then those that need a year
// from them, and once more those whose zone turns out to be another than UTC.
func (c *Case) readLogs(ctx context.Context, p *progress) error {
	ref := time.Time{}
	sets := c.logSets()
	for _, full := range []bool{true, false} {
		err := each(ctx, len(sets), func(i int) {
			sets[i].read(ctx, c, ref, p, func(l *logFile) bool { return l.wholeStamps() == full })
		})
		if err != nil {
			return err
		}
		ref = c.reference()
	}
	if err := c.findZones(ctx, sets, ref); err != nil {
		return err
	}
	return each(ctx, len(c.logs), func(i int) { c.listSteps(ctx, c.logs[i], ref) })
}

// each calls f for the numbers below n, some at a time, and stops early when the
// context ends. f must touch only what belongs to its number.
func each(ctx context.Context, n int, f func(i int)) error {
	var wg sync.WaitGroup
	next := make(chan int)
	for range readers {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

// fileDigest is the SHA-256 of a file for the report's inventory, or why there is
// none.
type fileDigest struct {
	sum, problem string
	// before is how many problems of the input come before that one.
	before int
}

func (c *Case) digest(ctx context.Context, i int, p *progress, d *fileDigest) {
	f := c.set.Files[i]
	sum, err := f.Digest(ctx, func(n int64) { p.add(f.Path, n) })
	if err != nil && ctx.Err() == nil {
		d.problem = plainError(err)
	}
	d.sum = sum
	p.finish(f.Path)
}

// wholeStamps says whether the stamps of a log's format have a year and a zone.
func (l *logFile) wholeStamps() bool {
	switch l.id.Format {
	case logparse.FormatZapJSON, logparse.FormatZapConsole, logparse.FormatAudit, logparse.FormatKlogJSON, logparse.FormatJSON, logparse.FormatLogrus:
		return true
	}
	return false
}

// reference is the time that stamps without a year are completed with: that of the
// logs whose stamps are whole, else the newest stamp of any stored object. One log
// with a wrong clock must not move it, so it is the median of their last records.
// The times of the files are not asked: a copy changes them.
func (c *Case) reference() time.Time {
	if !slices.ContainsFunc(c.logs, func(l *logFile) bool {
		return l != nil && !l.wholeStamps()
	}) {
		return time.Time{} // every stamp is whole
	}
	var logs []time.Time
	for _, l := range c.logs {
		if l != nil && !l.last.IsZero() && !l.inferred {
			logs = append(logs, l.last)
		}
	}
	if len(logs) == 0 {
		if c.stored.IsZero() {
			c.stored = revclock.LastStamp(c.hist)
		}
		return c.stored
	}
	slices.SortFunc(logs, time.Time.Compare)
	return logs[len(logs)/2]
}

// checkUnchanged lists the files that another program changed while they were read:
// what was read of them may be neither the old state nor the new.
func (c *Case) checkUnchanged() {
	for i, f := range c.set.Files {
		same, err := f.Unchanged()
		switch {
		case err != nil:
			c.problem(i, "is gone since it was read")
		case !same:
			c.problem(i, "changed while it was read: what was read may be neither its old state nor its new one")
		}
	}
}

// dateStores gives each store's input the times of its first and last revision.
func (c *Case) dateStores() {
	for k, s := range c.hist.Stores() {
		if s.Records == 0 {
			continue
		}
		in := &c.inputs[c.stores[k]]
		clock := c.storeClock(k)
		in.First, in.Last = timePtr(clock.AtOrAfter(s.First)), timePtr(clock.AtOrAfter(s.Last))
	}
}
