package replay

import (
	"crypto/sha256"
	"fmt"
	"iter"
)

// Record is a record of a database: a change that is known to have been made.
type Record struct {
	Key       string
	Main      int64
	Tombstone bool
	// Sum is the SHA-256 of the value, zero for a tombstone.
	Sum [sha256.Size]byte
}

// Point says that Revision was the current one after the entry Index: what a
// database has as its consistent index and its last revision.
type Point struct {
	Index    uint64
	Revision int64
}

// Known is what databases of the cluster tell of its revisions.
type Known struct {
	// Records may have holes, as compaction leaves them, and any order.
	Records []Record
	Points  []Point
	Rules   Rules

	_ struct{}
}

// Status says what is known of the revision of an entry.
type Status uint8

const (
	// Unknown: the entry may have made a revision or not, or which is not known.
	Unknown Status = iota
	// None: the entry made no revision.
	None
	// Exact: the entry made the revision that is given.
	Exact
)

var statusNames = [...]string{Unknown: "unknown", None: "none", Exact: "exact"}

// String is the name of the status, as in "exact".
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// MarshalText writes the name of the status.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Placed is an entry and its revision, which is 0 unless it is Exact.
type Placed struct {
	Index    uint64
	Status   Status
	Revision int64
}

// Placement is what Place found.
type Placement struct {
	// Entries are those of the log, in order.
	Entries []Placed
	// Fits says whether the log, or a part of it between gaps, belongs to what is
	// known. The entries of a part that does not are all Unknown.
	Fits bool
	// Agree counts the records and points that are as the log says, Contradict
	// those that are not.
	Agree, Contradict int
	// Anchors counts the entries whose revision is known from something that
	// names it, Dropped the ones that did not go together with the rest.
	Anchors, Dropped int
	// Broken counts the stretches between anchors in which the log gives another
	// number of revisions than they do. Their entries are Unknown.
	Broken int
}

// minAgreement is how many times more agreement than contradiction a log needs to
// belong to what is known.
const minAgreement = 20

// minAnchors is how many anchors a log needs to be placed at all.
const minAnchors = 5

// maxParts is how many parts of a log are placed; a log with more gaps is no log.
const maxParts = 64

// Place finds the revisions of a log whose beginning is gone, and with it the
// state of the store before its first entry. The entries have to be committed and
// in order; where some are missing, the parts are placed one by one, as nothing is
// known of the store after a gap. It keeps about 300 bytes for each entry.
//
// The API server names revisions in its writes: a txn that compares the
// mod_revision of a key with R says that R wrote the key, and so which earlier
// entry of the log made R. Records say the same by their values, and points by
// their index. Between two entries whose revision is known that way, the others
// are counted: what each did follows from what the log has done to its key
// before. Where that is not enough, and the count does not settle it, revisions
// are left unknown. It is taken for granted that clients compare with revisions
// that they have read, that authentication is off, and that of the first entries
// of a log not nearly all have failed.
func Place(entries iter.Seq[Entry], known Known) Placement {
	var out Placement
	r, parts := newReader(known), 1
	for e := range entries {
		if !r.follows(e) {
			out.add(r.done().place())
			if parts++; parts > maxParts {
				known = Known{Rules: known.Rules}
			}
			r = newReader(known)
		}
		r.read(e)
	}
	out.add(r.done().place())
	return out
}

// add appends the placement of the next part of a log.
func (p *Placement) add(part Placement) {
	p.Entries = append(p.Entries, part.Entries...)
	p.Fits = p.Fits || part.Fits
	p.Agree += part.Agree
	p.Contradict += part.Contradict
	p.Anchors += part.Anchors
	p.Dropped += part.Dropped
	p.Broken += part.Broken
}

// place places a log without gaps.
func (p *placer) place() Placement {
	p.facts.sort()
	p.markRepeats(true)
	chain, dropped := p.longestChain()
	if p.noAlarm(chain) {
		p.markRepeats(false)
		chain, dropped = p.longestChain()
	}
	f := newFiller(p, trimmed(p.bounds(), chain))
	out := Placement{Anchors: len(f.anchors), Dropped: dropped}
	f.run()
	out.Broken = f.broken
	p.judge(f, &out)
	for i, s := range p.steps {
		e := Placed{Index: s.index}
		if out.Fits {
			e.Status, e.Revision = f.placed[i].Status, f.placed[i].Revision
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}

// placer is a log while it is placed.
type placer struct {
	known Known
	facts *facts
	steps []step
	byKey map[string][]int // the steps that may write a key, in order
	// contenders counts, for what writes expect, those of which one may have been
	// the one that succeeded.
	contenders map[expectation]int
	mixed      map[string]bool // the keys that other steps may put too
	// period is how many steps there are before the first that raises or disarms an
	// alarm of which the log had nothing before.
	period int
}

// falls counts how often a revision is not above the one before.
func (f *filler) falls() int {
	falls, last := 0, int64(0)
	for i, e := range f.placed {
		if e.Status != Exact {
			continue
		}
		if e.Revision <= last {
			falls++
			f.placed[i] = Placed{}
		}
		last = max(last, e.Revision)
	}
	return falls
}

// judge counts what agrees, and says whether the log fits.
func (p *placer) judge(f *filler, out *Placement) {
	at := map[int64]int{}
	for i, e := range f.placed {
		if e.Status == Exact {
			at[e.Revision] = i
		}
	}
	for _, r := range p.known.Records {
		i, ok := at[r.Main]
		if !ok {
			continue
		}
		if p.steps[i].made(r) {
			out.Agree++
		} else {
			out.Contradict++
			f.placed[i] = Placed{}
		}
	}
	for _, point := range p.known.Points {
		i, ok := p.stepOf(point)
		switch a := f.anchors[i]; {
		case !ok:
		case a.pinned && a.revision == point.Revision:
			if out.Anchors > 1 { // or it only agrees with itself
				out.Agree++
			}
		default:
			out.Contradict++
		}
	}
	out.Contradict += f.broken + f.falls()
	out.Fits = out.Anchors >= minAnchors && out.Agree > 0 && out.Agree >= minAgreement*out.Contradict
}
