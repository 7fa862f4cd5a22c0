package correlate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"etcd-autopsy/logparse"
)

// zoneRun is a stretch of a log in which all pairs show one zone.
type zoneRun struct {
	zone     time.Duration
	from, to int // lines of its first and last pair
	keys     map[string]bool
	strong   bool
	hows     []*zoneHow
}

// enough pairs about different things show a zone: two, or three where all of them
// are weak.
func (r *zoneRun) enough() bool {
	if r.strong {
		return len(r.keys) >= 2
	}
	return len(r.keys) >= 3
}

// why says by what the zone of a run is shown.
func (r *zoneRun) why() string {
	var words []string
	for _, h := range r.hows {
		words = append(words, h.what)
	}
	return fmt.Sprintf("shown by %d %s", len(r.keys), strings.Join(words, " and "))
}

// zoneRuns are the stretches of a log in order. It is false if a pair fits no zone
// that should.
func zoneRuns(pairs []zonePair) ([]*zoneRun, bool) {
	slices.SortFunc(pairs, func(a, b zonePair) int {
		return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(a.how.what, b.how.what), strings.Compare(a.key, b.key))
	})
	var runs []*zoneRun
	for i := range pairs {
		p := &pairs[i]
		z, ok := p.zone()
		if !ok {
			if p.how.stray {
				continue
			}
			return nil, false
		}
		if n := len(runs); n == 0 || runs[n-1].zone != z {
			runs = append(runs, &zoneRun{zone: z, from: p.line, keys: map[string]bool{}})
		}
		r := runs[len(runs)-1]
		r.to = p.line
		r.keys[p.key] = true
		r.strong = r.strong || !p.how.weak
		if !slices.Contains(r.hows, p.how) {
			r.hows = append(r.hows, p.how)
		}
	}
	return runs, true
}

// What is said of a zone that stays unknown.
const (
	zoneUnknown     = "unknown"
	zoneNotShown    = "not known, read as UTC: too little joins its stamps to others"
	zoneContradicts = "not known, read as UTC: what joins its stamps to others shows several zones, or none"
)

// decideZone finds the zone of a log from its pairs: weak ones are asked where others
// show too little.
func (l *logFile) decideZone(x *zoneIndex) {
	strong := x.strong(l)
	l.zones.decideBy(strong)
	if l.zones.why != zoneNotShown {
		return
	}
	if weak := x.weak(l); len(weak) > 0 {
		l.zones.decideBy(append(strong, weak...))
	}
}

// decideBy takes the zone that all pairs show, or two when the clocks were changed
// in between.
func (z *zoneFacts) decideBy(pairs []zonePair) {
	runs, ok := zoneRuns(pairs)
	switch {
	case !ok || len(runs) > 2:
		z.why = zoneContradicts
	case len(runs) == 0 || len(runs) == 1 && !runs[0].enough():
		z.why = zoneNotShown
	case len(runs) == 1:
		z.set(runs[0].zone)
		z.why = runs[0].why() + z.doubtBeyond(runs[0])
	default:
		z.decideTurn(runs[0], runs[1])
	}
}

// doubtBeyond says where outside of a run the stamps step back by an hour: a change
// of clocks that nothing shows on its other side. A pause of an hour is too common to
// say the same of it.
func (z *zoneFacts) doubtBeyond(r *zoneRun) string {
	for _, j := range z.jumps.list {
		if j.fits(-time.Hour) && (j.line > r.to || j.line <= r.from) {
			return fmt.Sprintf("; the stamps step back by an hour at line %d, so on its other side it may be another", j.line)
		}
	}
	return ""
}

// set gives a log one zone.
func (z *zoneFacts) set(zone time.Duration) {
	z.name, z.zones = zoneName(zone), nil
	if zone != 0 {
		z.zones = []logparse.ZoneFrom{{Location: fixed(zone)}}
	}
}

func fixed(zone time.Duration) *time.Location {
	return time.FixedZone(zoneName(zone), int(zone/time.Second))
}

// decideTurn finds the line at which clocks were changed between two runs: the only
// one at which the stamps step by as much.
func (z *zoneFacts) decideTurn(a, b *zoneRun) {
	z.why = zoneContradicts
	by := b.zone - a.zone
	if !a.enough() || !b.enough() || by.Abs() != time.Hour && by.Abs() != 30*time.Minute {
		return
	}
	line := 0
	for _, j := range z.jumps.list {
		if j.line <= a.to || j.line > b.from || !j.fits(by) {
			continue
		}
		if line != 0 {
			return // two such places: nobody knows which
		}
		line = j.line
	}
	if line == 0 {
		return
	}
	z.name = fmt.Sprintf("%s, %s from line %d", zoneName(a.zone), zoneName(b.zone), line)
	z.zones = []logparse.ZoneFrom{{Location: fixed(a.zone)}, {Line: line, Location: fixed(b.zone)}}
	z.why = fmt.Sprintf("clocks were changed at line %d: %s before it, %s from it on", line, a.why(), b.why())
}

// minJump is from where on a step between two records may be a change of clocks.
const minJump = 30*time.Minute - quietLog

// quietLog is how long a log may have been quiet while clocks were changed.
const quietLog = 10 * time.Minute

// fits says whether a step of the stamps is a change of clocks and some time
// besides.
func (j *stampJump) fits(by time.Duration) bool {
	rest := j.by - by
	return rest >= -time.Second && rest <= quietLog
}

// instant is the moment of a stamp that was read as UTC.
func (z *zoneFacts) instant(line int, wall time.Time) time.Time {
	for i := len(z.zones) - 1; i >= 0; i-- {
		if f := z.zones[i]; f.Line <= line {
			_, east := wall.In(f.Location).Zone()
			return wall.Add(-time.Duration(east) * time.Second)
		}
	}
	return wall
}
