package correlate

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"etcd-autopsy/correlate/revclock"
	"etcd-autopsy/internal/source"
	"etcd-autopsy/snapshot"
)

// Options say how to read the inputs and what to look at. The zero value reads
// everything.
type Options struct {
	// Version is the program's version, for the report.
	Version string
	// LogYear and LogLocation complete log stamps that lack a year or a zone:
	// 0 infers the year from the other inputs, nil the zone from what carried the
	// line, else UTC.
	LogYear     int
	LogLocation *time.Location
	// Since and Until limit what Revisions and Timeline list; zero is no limit.
	Since, Until time.Time
	// Namespace and Workload ("Deployment/web" or "deployment/web") limit the
	// rollouts and the lists; empty is no limit.
	Namespace, Workload string
	// As overrides what files are taken for; the first rule that matches wins.
	As []AsRule
	// Keys decrypt values that are encrypted at rest, besides those of the
	// EncryptionConfigurations that are among the inputs; nil for none.
	Keys *snapshot.Keys
	// Progress is called now and then while inputs are read; may be nil. Calls
	// come from several goroutines, one at a time.
	Progress func(Progress)
	_        struct{}
}

// AsRule says that files whose path or base name matches Pattern (path.Match)
// are of Kind: snapshot, log, audit, objects, wal or ignore.
type AsRule struct{ Pattern, Kind string }

// Progress is how far reading has come, in bytes and files.
type Progress struct {
	File             string
	Done, Total      int64
	FilesDone, Files int
}

// Case is everything that was read of one set of inputs: the merged history, the
// facts of the logs, and what could not be read.
type Case struct {
	opts   Options
	set    *source.Set
	inputs []Input
	hist   *snapshot.History
	// logs are in the order of the set's files; nil where a file is no log.
	logs []*logFile
	// stores maps an index into hist.Stores() to the input it was read from.
	stores []int
	// objs are decoded when first asked for: see objects.
	objs *objects
	// statuses are the saved answers of etcdctl.
	statuses []etcdStatus
	// keys are those of the configurations among the inputs.
	keys []*snapshot.Keys
	// stored is the newest stamp of the stores, once it was asked for.
	stored time.Time
	// until is set where the state of the store is known to hold beyond its last
	// revision.
	until time.Time
	clock *revclock.Clock
	// apart are the clocks of the stores that are not of the history, by their
	// index in hist.Stores().
	apart  map[int]*revclock.Clock
	audits []*auditEvent
	// writes are the write requests that logs show, in order of arrival.
	writes []*writeRequest
}

// Close releases the stores. The Case must not be used afterwards.
func (c *Case) Close() error { return c.hist.Close() }

// Inputs lists every file that was given or found, in the set's order.
func (c *Case) Inputs() []Input { return c.inputs }

// Skipped lists what was found and left out, each with its reason; then the
// problems of the files that were read.
func (c *Case) Skipped() []string {
	var out []string
	for _, s := range c.set.Skipped {
		out = append(out, join(s.Input, s.Path)+": "+s.Reason)
	}
	for _, in := range c.inputs {
		for _, p := range in.Problems {
			out = append(out, join(in.Label, in.Path)+": "+p)
		}
	}
	return out
}

// problem lists something that went wrong with an input.
func (c *Case) problem(input int, text string) {
	c.inputs[input].Problems = append(c.inputs[input].Problems, text)
}

// plainError drops the path from an error of the file system: where a file lies on
// this machine never reaches an output.
func plainError(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Op + ": " + p.Err.Error()
	}
	return err.Error()
}

// join names a file of an input: "incident/logs/etcd-1.log"; an input that is
// the file itself has one name only.
func join(label, path string) string {
	if path == "" || label == path {
		return label
	}
	return label + "/" + path
}

// Load reads every file of a set: stores into one history, logs into facts. A
// file that cannot be read is listed with the reason and the rest goes on; the
// error is only ever that of a cancelled context.
func Load(ctx context.Context, set *source.Set, opts Options) (*Case, error) {
	c := &Case{opts: opts, set: set}
	c.classify()
	c.layOut()
	p := newProgress(set, c.logs, opts.Progress)
	err := c.openStores(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.placeLogs(ctx); err != nil {
		return nil, err
	}
	if err := c.readFiles(ctx, p); err != nil {
		return nil, err
	}
	c.audits = c.collectAudits()
	if c.clock, err = revclock.New(ctx, c.hist, c.requests()); err != nil {
		return nil, err
	}
	c.clock.Refit(c.judgeWrites(), c.quietTimes())
	if err := c.readApart(ctx); err != nil {
		return nil, err
	}
	c.checkUnchanged()
	c.dateStores()
	c.dateWALs()
	c.dateDumps()
	return c, nil
}
