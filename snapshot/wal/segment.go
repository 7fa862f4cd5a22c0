package wal

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
)

// Source is one file that lies in a WAL folder.
type Source struct {
	// Path is how results name it; OSPath is where it is, and is in no result.
	Path, OSPath string
}

// Segment is one file of a log.
type Segment struct {
	Path string
	// Named is false if the name is not one that etcd gives; Sequence and
	// FirstIndex are then 0. Else they are what the name says: the place of the
	// segment among the others, and the index of the first entry that was to be
	// written to it.
	Named      bool
	Sequence   uint64
	FirstIndex uint64
	// Broken is true for the copy that etcd makes of a segment before it cuts a
	// torn tail off (NAME.wal.broken).
	Broken bool
	// Spare is true for a file that was made for a segment to come (0.tmp).
	Spare  bool
	osPath string
}

// Names that etcd gives to segments and to files made for segments to come.
var (
	segmentName = regexp.MustCompile(`^([0-9a-f]{16})-([0-9a-f]{16})\.wal(\.broken)?$`)
	spareName   = regexp.MustCompile(`^[0-9]+\.tmp$`)
)

// WAL is the log of one member.
type WAL struct{ segments []Segment }

// Open puts the files of a WAL folder in order: segments by sequence, the broken
// copies behind all of them. Nothing is read yet.
func Open(files []Source) *WAL {
	w := &WAL{}
	for _, f := range files {
		w.segments = append(w.segments, newSegment(f))
	}
	slices.SortStableFunc(w.segments, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.FirstIndex, b.FirstIndex), cmp.Compare(a.Path, b.Path))
	})
	return w
}

// Segments returns the files of the log in the order in which they are read.
func (w *WAL) Segments() []Segment { return slices.Clone(w.segments) }

func newSegment(f Source) Segment {
	s := Segment{Path: f.Path, osPath: f.OSPath}
	base := path.Base(f.Path)
	s.Spare = spareName.MatchString(base)
	if m := segmentName.FindStringSubmatch(base); m != nil {
		s.Named, s.Broken = true, m[3] != ""
		s.Sequence, _ = strconv.ParseUint(m[1], 16, 64)
		s.FirstIndex, _ = strconv.ParseUint(m[2], 16, 64)
	}
	return s
}

// rank orders the kinds of files.
func (s *Segment) rank() int {
	switch {
	case s.Broken:
		return 3
	case s.Spare:
		return 2
	case !s.Named:
		return 1
	}
	return 0
}
