package correlate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"etcd-autopsy/logparse"
)

// Stamps of klog, capnslog, syslog and others name no zone. What shows it is an
// instant that is known from elsewhere and the stamp that the log gave it: the
// difference is the zone, if it is one that clocks are set to.

// zoneFacts is what one log shows of the zone of its stamps, read as UTC.
type zoneFacts struct {
	// assumed counts the records whose zone nothing showed.
	assumed int
	// pairs have their instant; refs are to be joined to other evidence.
	pairs samples[zonePair]
	refs  samples[zoneRef]
	// jumps are the places where the stamps go on by an hour, or step back by one:
	// clocks may have been changed there.
	jumps samples[stampJump]
	// around finds records between two that name their zone.
	around zoneNeighbours

	// zones, name and why are the verdict; zones is nil where it is UTC, name is ""
	// until the zone is found.
	zones []logparse.ZoneFrom
	name  string
	why   string
}

// zonePair is the stamp of one record, read as UTC, and the instant of it.
type zonePair struct {
	how  *zoneHow
	line int
	// key is what they are about: pairs of one key count once.
	key      string
	wall, at time.Time
	// within is how long after at the record may have been printed.
	within time.Duration
}

// zoneRef is a record that other evidence may date.
type zoneRef struct {
	how  *zoneHow
	line int
	id   string
	wall time.Time
}

// zoneHow is a way to date a record.
type zoneHow struct {
	// what completes "the zone is shown by 3 …".
	what string
	// early and late are how far the stamp may be before and after the instant.
	early, late time.Duration
	// weak ways need one pair more, and count only where no other shows anything: the
	// record may be a repetition of what was long before.
	weak bool
	// stray pairs may be of another moment: those that fit no zone count for nothing.
	stray bool
}

// sameClock is how late a program may print an instant of its own clock; ofOther is
// how far two clocks may be apart before a pair says nothing.
const (
	sameClock = 5 * time.Second
	ofOther   = 2 * time.Minute
)

// The ways, exact ones first.
var (
	howQuoted    = &zoneHow{what: "stamps with a zone that its lines quote", early: time.Second, late: sameClock}
	howNeighbour = &zoneHow{what: "lines with a zone around its own", early: time.Second, late: time.Second}
	howAudit     = &zoneHow{what: "requests that the audit log has", early: ofOther, late: ofOther}
	howLeader    = &zoneHow{what: "leader changes that another log has", early: ofOther, late: ofOther, stray: true}
	howContainer = &zoneHow{what: "containers that the store dates", early: ofOther, late: ofOther, weak: true}
	howEvent     = &zoneHow{what: "Events that the store has", early: ofOther, late: ofOther, weak: true}
	howBound     = &zoneHow{what: "bindings that the store dates", early: ofOther, late: ofOther, weak: true}
)

// zone is the offset that makes stamp and instant one moment, false if none does.
func (p *zonePair) zone() (time.Duration, bool) {
	d := p.wall.Sub(p.at)
	for _, z := range clockZones {
		if rest := d - z; rest >= -p.how.early && rest <= p.within+p.how.late {
			return z, true
		}
	}
	return 0, false
}

// clockZones are the offsets from UTC that clocks are set to, in summer or winter,
// by the time zone database.
var clockZones = func() []time.Duration {
	var out []time.Duration
	for h := -12; h <= 14; h++ {
		out = append(out, time.Duration(h)*time.Hour)
	}
	for _, min := range []int{-570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765, 825} {
		out = append(out, time.Duration(min)*time.Minute)
	}
	return out
}()

// zoneName writes an offset: "+02:00", "UTC" for none.
func zoneName(z time.Duration) string {
	if z == 0 {
		return "UTC"
	}
	sign := '+'
	if z < 0 {
		sign, z = '-', -z
	}
	return fmt.Sprintf("%c%02d:%02d", sign, int(z.Hours()), int(z.Minutes())%60)
}

// take looks what a record whose zone nothing shows tells of it.
func (z *zoneFacts) take(rec *logparse.Record) {
	z.assumed++
	if at, key, ok := quotedInstant(rec); ok {
		z.pairs.add(zonePair{how: howQuoted, line: rec.Line, key: strings.Clone(key), wall: rec.Time, at: at})
	}
	if how, id := refOf(rec); how != nil {
		z.refs.add(zoneRef{how, rec.Line, strings.Clone(id), rec.Time})
	}
}

// zoneNeighbours finds records without a zone between two of the same file and
// source that have one: several loggers of one program write there, as those of gRPC
// and of etcd's client do.
type zoneNeighbours struct {
	from        logSource
	before      time.Time
	first, last zonePair // of the records without a zone since then
}

// maxApart is how far apart the records around may be: less than two zones are.
const maxApart = 10 * time.Minute

// take looks at the next record of the file with a time; the pairs are of those
// before it.
func (n *zoneNeighbours) take(rec *logparse.Record, from logSource) []zonePair {
	from.zoneless = false
	if from != n.from {
		*n = zoneNeighbours{from: from}
	}
	if rec.Inferred&logparse.AssumedZone != 0 {
		n.last = zonePair{how: howNeighbour, line: rec.Line, key: strconv.Itoa(rec.Line), wall: rec.Time, at: n.before}
		if n.first.line == 0 {
			n.first = n.last
		}
		return nil
	}
	apart := rec.Time.Sub(n.before)
	near := !n.before.IsZero() && apart >= 0 && apart <= maxApart
	n.first.within, n.last.within = apart, apart
	pairs := []zonePair{n.first, n.last}
	n.before, n.first, n.last = rec.Time, zonePair{}, zonePair{}
	switch {
	case !near || pairs[0].line == 0:
		return nil
	case pairs[0].line == pairs[1].line:
		return pairs[:1]
	}
	return pairs
}

// stampJump is a place where the stamps of a log go on or back by a lot.
type stampJump struct {
	line int
	by   time.Duration
}

// samples are some of many, spread evenly over all that were added; how many are
// kept is bounded.
type samples[T any] struct {
	list []T
	// every is which of those that come are kept, as a power of two less one.
	every, seen int
}

// maxSamples is how many are kept at most.
const maxSamples = 4000

func (s *samples[T]) add(x T) {
	s.seen++
	if (s.seen-1)&s.every != 0 {
		return
	}
	if len(s.list) == maxSamples {
		for i := range s.list[:maxSamples/2] {
			s.list[i] = s.list[2*i]
		}
		s.list = s.list[:maxSamples/2]
		s.every = 2*s.every + 1
		if (s.seen-1)&s.every != 0 {
			return
		}
	}
	s.list = append(s.list, x)
}
