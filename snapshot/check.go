package snapshot

import (
	"context"
	"errors"
	"fmt"
)

// CheckStatus is the outcome of one check.
type CheckStatus int

const (
	// CheckUnknown is a check that could not be made.
	CheckUnknown CheckStatus = iota
	// CheckOK found nothing wrong.
	CheckOK
	// CheckFault found something wrong.
	CheckFault
)

var checkNames = [...]string{"could-not-check", "ok", "fault"}

// String is "ok", "fault" or "could-not-check".
func (s CheckStatus) String() string { return checkNames[s] }

// MarshalText writes String.
func (s CheckStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// CheckLine is one thing that was checked of a store.
type CheckLine struct {
	// Name is what was checked: "file", "hash", "meta pages", "tree", "key
	// order", "revisions", "stale pages", "values" and "raft position" by Check,
	// "one history", "hashes" and "restores" by CheckMembers.
	Name   string
	Status CheckStatus
	// Text is a sentence with what was found.
	Text string
	// Where is the place of a fault: a page and offset, or a revision; "" if it
	// has none.
	Where string
}

// maxFaults is how many places of one kind of fault are listed.
const maxFaults = 20

// checking collects the lines.
type checking struct {
	lines []CheckLine
}

func (c *checking) add(name string, status CheckStatus, where, format string, args ...any) {
	c.lines = append(c.lines, CheckLine{Name: name, Status: status, Text: fmt.Sprintf(format, args...), Where: where})
}

// Check checks one file in every way that needs no other file: its hash, meta
// pages, tree, revisions, values and raft position. The lines are always in the
// same order. A file that is sound in every way has no line with CheckFault.
func Check(ctx context.Context, f File, opts Options) []CheckLine {
	c := &checking{}
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = defaultLockTimeout
	}
	if c.pages(ctx, f, opts) {
		c.contents(ctx, f, opts)
	}
	return c.lines
}

// pages checks what needs only the file's structure; false if there is none.
func (c *checking) pages(ctx context.Context, f File, opts Options) bool {
	s := &store{path: f.OSPath, meter: meter{total: &progress{}}}
	locked, err := s.openFile(ctx, opts.LockTimeout)
	defer func() { _ = s.close() }()
	switch {
	case err != nil:
		c.add("file", CheckUnknown, "", "%s", err)
		return false
	case locked != nil:
		c.add("file", CheckUnknown, "", "%s: what follows may be of a file that is being written", locked)
	default:
		c.add("file", CheckOK, "", "%d bytes, %s", s.info.Size, s.kind())
	}
	c.hash(ctx, s)
	l, err := s.readLayout()
	c.metas(s, l, err)
	c.tree(ctx, s, l)
	return true
}

// kind says what a file's size shows it to be.
func (s *store) kind() string {
	if s.info.Snapshot {
		return "the output of \"snapshot save\""
	}
	return "a member's file or a copy of one"
}

// hash checks the trailing SHA-256.
func (c *checking) hash(ctx context.Context, s *store) {
	switch t := <-s.hashTrailer(ctx); {
	case t == nil:
		c.add("hash", CheckUnknown, "", "no SHA-256 at its end: only \"snapshot save\" writes one")
	case t.err != nil:
		c.add("hash", CheckUnknown, "", "%s", t.err)
	case string(t.want) != string(t.got):
		c.add("hash", CheckFault, fmt.Sprintf("offset %d", s.info.Size-trailerSize),
			"the SHA-256 at its end is %x, its bytes give %x: changed after it was saved, or saved incompletely", t.want, t.got)
	default:
		c.add("hash", CheckOK, "", "SHA-256 %x", t.got)
	}
}

// metas checks both meta pages and says which is used.
func (c *checking) metas(s *store, l layout, err error) {
	sound := true
	at := int64(0)
	for page := range int64(2) {
		_, err := readMeta(s.file, at, page)
		if err != nil {
			sound = false
			c.add("meta pages", CheckFault, placeOf(err), "meta page %d cannot be used: %s", page, err)
		}
		if at = l.pageSize; at == 0 {
			break // where the second is depends on the page size
		}
	}
	switch {
	case l.pageSize == 0:
		c.add("meta pages", CheckFault, "", "%s", err)
	case err != nil:
		c.add("meta pages", CheckFault, placeOf(err), "%s", err)
	case sound:
		c.add("meta pages", CheckOK, "", "both are valid; page %d of transaction %d is used, page size %d", l.meta.page, l.meta.txid, l.pageSize)
	default:
		c.add("meta pages", CheckFault, "", "page %d of transaction %d is used, which may be the last but one", l.meta.page, l.meta.txid)
	}
}

// placeOf is the page and offset that an error names, "" if none.
func placeOf(err error) string {
	if d, ok := errors.AsType[*damage](err); ok {
		return fmt.Sprintf("page %d, offset %d", d.page, d.offset)
	}
	return ""
}

// tree checks every page that can be reached, and the order of the keys.
func (c *checking) tree(ctx context.Context, s *store, l layout) {
	if l.pageSize == 0 {
		c.add("tree", CheckUnknown, "", "there is no tree without a valid meta page")
		c.add("key order", CheckUnknown, "", "there is no tree without a valid meta page")
		return
	}
	v := newVerifier(s.file, l, &s.meter)
	v.found = newFindings(ctx, s)
	v.found.blind = true
	if err := guard(func() error { return v.walk(ctx) }); err != nil {
		c.add("tree", CheckUnknown, "", "%s", err)
		c.add("key order", CheckUnknown, "", "%s", err)
		return
	}
	c.lost("tree", v.found.lost, false, fmt.Sprintf("%d entries on sound pages", v.leaves))
	c.lost("key order", v.found.lost, true, "keys ascend on every page and between pages")
}

// lost lists the damages of one kind.
func (c *checking) lost(name string, list []lostTree, order bool, sound string) {
	n := 0
	for _, t := range list {
		d, isDamage := errors.AsType[*damage](t.err)
		if order != (isDamage && d.order) {
			continue
		}
		if n++; n <= maxFaults {
			c.add(name, CheckFault, placeOf(t.err), "%s: %s", t.err, t.names())
		}
	}
	switch {
	case n == 0:
		c.add(name, CheckOK, "", "%s", sound)
	case n > maxFaults:
		c.add(name, CheckFault, "", "%d more damages", n-maxFaults)
	}
}
