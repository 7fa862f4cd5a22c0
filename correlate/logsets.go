package correlate

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"etcd-autopsy/logparse"
)

// A program's log comes in several files: rotated ones, gzip'ed ones, the same
// lines collected twice by other ways. A set is the files of one program; they are
// read in order of their first record, and what two of them hold counts once.
type logSet struct {
	logs []*logFile
	seen *duplicates
}

// rotations are what is put behind or into the name of a log that is finished:
// numbers, dates of logrotate, of the kubelet (pkg/kubelet/logs) and of lumberjack
// (the audit log), compression, and kubectl's word for the last instance.
var rotations = []*regexp.Regexp{
	regexp.MustCompile(`\.(gz|zst|xz|bz2)$`),
	regexp.MustCompile(`\.\d{1,3}$`),
	regexp.MustCompile(`[.-]\d{8}(-\d{6})?$`),
	regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?(\.log)?$`),
	regexp.MustCompile(`\.log$`),
}

// rotationBase is the path that all files of a rotated log share.
func rotationBase(p string) string {
	dir, base := path.Split(p)
	for changed := true; changed; {
		changed = false
		for _, r := range rotations {
			if i := r.FindStringIndex(base); i != nil && i[0] > 0 {
				base, changed = base[:i[0]], true
			}
		}
	}
	return dir + base
}

// logSets groups the logs: by rotation, then by the program on its machine where
// both are known. What one file of a rotated log shows of its origin holds for all.
func (c *Case) logSets() []*logSet {
	byBase := map[string][]*logFile{}
	for _, l := range c.logs {
		if l != nil {
			k := l.file.Input + "\x00" + rotationBase(l.file.Path)
			byBase[k] = append(byBase[k], l)
		}
	}
	bySource := map[string]*logSet{}
	var out []*logSet
	for _, l := range c.logs {
		if l == nil {
			continue
		}
		base := l.file.Input + "\x00" + rotationBase(l.file.Path)
		group := byBase[base]
		if group == nil {
			continue // taken with another of its files
		}
		byBase[base] = nil
		c.shareIdentity(group)
		key := base
		if s := sourceOf(group[0].id); s != "" {
			key = s
		}
		set := bySource[key]
		if set == nil {
			set = &logSet{}
			bySource[key] = set
			out = append(out, set)
		}
		set.logs = append(set.logs, group...)
	}
	for _, s := range out {
		s.order()
	}
	return out
}

// sourceOf names a program on its machine, "" where one of them is not known.
func sourceOf(id logparse.Identity) string {
	where := cmp.Or(id.MemberID, id.Member, id.Node)
	if id.Component == logparse.ComponentUnknown || where == "" {
		return ""
	}
	return string(id.Component) + "\x00" + where
}

// shareIdentity gives every file of a rotated log what others of them show; where
// two contradict each other nothing is given.
func (c *Case) shareIdentity(group []*logFile) {
	if len(group) < 2 {
		return
	}
	parts := []func(*logparse.Identity) *string{
		func(id *logparse.Identity) *string { return (*string)(&id.Component) },
		func(id *logparse.Identity) *string { return &id.Member },
		func(id *logparse.Identity) *string { return &id.MemberID },
		func(id *logparse.Identity) *string { return &id.Node },
	}
	for _, part := range parts {
		value, agreed := "", true
		for _, l := range group {
			v := *part(&l.id)
			agreed = agreed && (v == "" || value == "" || v == value)
			value = cmp.Or(value, v)
		}
		if !agreed {
			continue
		}
		for _, l := range group {
			*part(&l.id) = value
		}
	}
	for _, l := range group {
		in := &c.inputs[l.input]
		in.Component, in.Member, in.Node = string(l.id.Component), l.id.Member, l.id.Node
	}
}

// order puts the files in the order of their first record, files without any
// last, and gets ready to find what they share.
func (s *logSet) order() {
	slices.SortStableFunc(s.logs, func(a, b *logFile) int {
		if a.begins.IsZero() != b.begins.IsZero() {
			if a.begins.IsZero() {
				return 1
			}
			return -1
		}
		return cmp.Or(a.begins.Compare(b.begins), cmp.Compare(a.file.Path, b.file.Path))
	})
	if len(s.logs) > 1 {
		s.seen = newDuplicates()
	}
}

// read reads the files one after the other.
func (s *logSet) read(ctx context.Context, c *Case, ref time.Time, p *progress, only func(*logFile) bool) {
	for i, l := range s.logs {
		if ctx.Err() != nil {
			return
		}
		if only(l) {
			l.seen = s.seen.next(s.logs[i+1:])
			l.read(ctx, c, ref, p)
		}
	}
}

// begins is the time of the first record of a log that has one, as far as its
// first block shows it. It is for order only.
func begins(head []byte, opts logparse.Options) time.Time {
	for rec, err := range logparse.Read(context.Background(), strings.NewReader(string(head)), opts) {
		if err != nil {
			break
		}
		if !rec.Time.IsZero() {
			return rec.Time
		}
	}
	return time.Time{}
}
