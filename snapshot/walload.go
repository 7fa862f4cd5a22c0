package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path"
	"slices"

	"etcd-autopsy/snapshot/wal"
)

// walFolder are the files of one WAL folder.
type walFolder struct {
	input, path string
	files       []wal.Source
}

// walFolders groups files by the folder they lie in.
func walFolders(files []File) []*walFolder {
	var list []*walFolder
	byPath := map[[2]string]*walFolder{}
	for _, f := range files {
		at := [2]string{f.Input, path.Dir(f.Path)}
		d := byPath[at]
		if d == nil {
			d = &walFolder{input: f.Input, path: at[1]}
			byPath[at] = d
			list = append(list, d)
		}
		d.files = append(d.files, wal.Source{Path: f.Path, OSPath: f.OSPath})
	}
	slices.SortFunc(list, func(a, b *walFolder) int { return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.path, b.path)) })
	return list
}

// scan reads the log of a folder.
func (d *walFolder) scan(ctx context.Context) (*memberLog, error) {
	log, err := wal.Open(d.files).Scan(ctx)
	if err != nil {
		return nil, err
	}
	info := WAL{Input: d.input, Path: d.path, Entries: len(log.Entries), Commit: log.Commit}
	for _, s := range log.Segments {
		info.Segments = append(info.Segments, s.Path)
	}
	info.Counts = make([]int, len(log.Segments))
	for i := range log.Entries {
		info.Counts[log.Entries[i].Segment]++
	}
	if log.NodeID != 0 {
		info.MemberID, info.ClusterID = memberID(log.NodeID), memberID(log.ClusterID)
	}
	l := newMemberLog(info, log)
	for _, s := range log.States {
		t := TermVote{Term: s.Term, Segment: l.segment(s.Segment), Offset: s.Offset, After: s.After}
		if s.Vote != 0 {
			t.Vote = memberID(s.Vote)
		}
		if n := len(l.info.Terms); n == 0 || l.info.Terms[n-1].Term != t.Term || l.info.Terms[n-1].Vote != t.Vote {
			l.info.Terms = append(l.info.Terms, t)
		}
	}
	l.info.First, l.info.Last = l.span()
	l.faults = log.Faults
	for _, f := range log.Faults {
		l.problem("%s", f)
	}
	return l, nil
}

// problem notes a sentence about the log.
func (l *memberLog) problem(format string, args ...any) {
	l.info.Problems = append(l.info.Problems, fmt.Sprintf(format, args...))
}

// name is what sentences call the log.
func (l *memberLog) name() string {
	if l.info.Input == "" || l.info.Input == l.info.Path {
		return l.info.Path
	}
	return l.info.Input + "/" + l.info.Path
}

// read gives the entries of a piece again, in runs that follow each other in the
// file.
func (l *memberLog) read(ctx context.Context, p raftPiece) iter.Seq2[wal.Entry, error] {
	return func(yield func(wal.Entry, error) bool) {
		for from := p.from; from < p.to; {
			to := from + 1
			for to < p.to && l.valid[to] == l.valid[to-1]+1 {
				to++
			}
			for e, err := range l.log.Read(ctx, int(l.valid[from]), int(l.valid[to-1])+1) {
				if !yield(e, err) || err != nil {
					return
				}
			}
			from = to
		}
	}
}

// value reads the value at a place.
func (l *memberLog) value(p walPlace) ([]byte, error) {
	data, err := l.log.Data(int(p.ref))
	if err != nil {
		return nil, err
	}
	if p.offset < 0 || int(p.offset)+int(p.size) > len(data) {
		return nil, fmt.Errorf("no value at %d of %d bytes", p.offset, len(data))
	}
	return data[p.offset:][:p.size:p.size], nil
}
