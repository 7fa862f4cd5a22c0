package correlate

import (
	"time"

	"github.com/cespare/xxhash/v2"

	"etcd-autopsy/logparse"
)

// duplicates finds records that several files of one program hold: the same time,
// text and place in the count. Lines that one file repeats are no duplicates: the
// program said them twice.
type duplicates struct {
	// counts is how often the files read so far hold a record, at most.
	counts map[uint64]int
	// full is set once no more records are taken in.
	full bool
}

// maxSeen is how many records are remembered of one program's log: 64 MiB of them.
// Only those are that a file read later may hold too.
const maxSeen = 2 << 20

func newDuplicates() *duplicates { return &duplicates{counts: map[uint64]int{}} }

// seenBefore is the view of one file while it is read.
type seenBefore struct {
	all *duplicates
	// own counts the file's own records.
	own map[uint64]int
	// from is when the earliest of the later files begins; what is older is not
	// remembered. Zero: one of them has no time.
	from time.Time
	// later says that there are any.
	later bool
}

// next is the view for the file that is followed by the later ones; nil for a log
// of one file.
func (d *duplicates) next(later []*logFile) *seenBefore {
	if d == nil {
		return nil
	}
	s := &seenBefore{all: d, own: map[uint64]int{}, later: len(later) > 0}
	for i, l := range later {
		if l.begins.IsZero() {
			s.from = time.Time{}
			break
		}
		if i == 0 || l.begins.Before(s.from) {
			s.from = l.begins
		}
	}
	return s
}

// holds says whether an earlier file has a record. Records without a time, or with
// one of full seconds, are too much alike to tell.
func (s *seenBefore) holds(rec *logparse.Record) bool {
	if s == nil || rec.Time.IsZero() || rec.Time.Nanosecond() == 0 {
		return false
	}
	remember := s.later && !rec.Time.Before(s.from) && !s.all.full
	if !remember && len(s.all.counts) == 0 {
		return false
	}
	h := recordHash(rec)
	s.own[h]++
	n := s.own[h]
	if n <= s.all.counts[h] {
		return true
	}
	if remember {
		s.all.counts[h] = n
		s.all.full = len(s.all.counts) >= maxSeen
	} else if s.all.counts[h] == 0 {
		delete(s.own, h)
	}
	return false
}

// doubleWalk walks through a file's duplicates once more, record by record.
type doubleWalk struct {
	left []uint32
	n    uint32
}

// holds says whether the next record is one.
func (r *doubleWalk) holds() bool {
	n := r.n
	r.n++
	if len(r.left) == 0 || r.left[0] != n {
		return false
	}
	r.left = r.left[1:]
	return true
}

// recordHash is of what a program wrote, without what carried it.
func recordHash(rec *logparse.Record) uint64 {
	d := xxhash.New()
	var stamp [8]byte
	for i, n := 0, rec.Time.UnixNano(); i < len(stamp); i++ {
		stamp[i] = byte(n >> (8 * i))
	}
	_, _ = d.Write(stamp[:])
	for _, s := range []string{rec.Level.String(), rec.Caller, rec.Message} {
		_, _ = d.WriteString(s)
		_, _ = d.Write([]byte{0})
	}
	for _, f := range rec.Fields {
		_, _ = d.WriteString(f.Key)
		_, _ = d.Write([]byte{0})
		_, _ = d.WriteString(f.Value)
		_, _ = d.Write([]byte{0})
	}
	if rec.Audit != nil {
		_, _ = d.WriteString(rec.Audit.AuditID)
		_, _ = d.WriteString(rec.Audit.Stage)
	}
	return d.Sum64()
}
