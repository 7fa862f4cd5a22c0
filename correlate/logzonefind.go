package correlate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// findZones decides the zones of the logs whose stamps name none, and reads those
// again whose zone is not UTC: with a zone come other bursts, other duplicates and,
// at a turn of the year, another year.
func (c *Case) findZones(ctx context.Context, sets []*logSet, ref time.Time) error {
	x := &zoneIndex{c: c}
	for again := true; again; {
		again = false
		x.learnLeaders()
		for _, s := range sets {
			for _, l := range s.logs {
				if z := &l.zones; z.assumed > 0 && z.name == "" {
					l.decideZone(x)
					again = again || z.name != ""
				}
			}
			s.shareZone()
		}
	}
	var moved []*logSet
	for _, s := range sets {
		if slices.ContainsFunc(s.logs, func(l *logFile) bool { return l.zones.zones != nil }) {
			moved = append(moved, s)
		}
	}
	err := each(ctx, len(moved), func(i int) { moved[i].readAgain(ctx, c, ref) })
	for _, l := range c.logs {
		if l != nil {
			c.writeZone(l)
		}
	}
	return err
}

// shareZone gives the files of one program that show too little the zone of the
// others, if these are of one.
func (s *logSet) shareZone() {
	var known *logFile
	for _, l := range s.logs {
		switch z := &l.zones; {
		case z.assumed == 0 || z.name == "":
		case len(z.zones) > 1 || known != nil && known.zones.name != z.name:
			return
		case known == nil:
			known = l
		}
	}
	if known == nil {
		return
	}
	for _, l := range s.logs {
		if z := &l.zones; z.assumed > 0 && z.name == "" && z.why == zoneNotShown {
			z.name, z.zones, z.why = known.zones.name, known.zones.zones, "that of "+known.file.Path+", the same program's"
		}
	}
}

// readAgain reads the files of a set once more, as if for the first time.
func (s *logSet) readAgain(ctx context.Context, c *Case, ref time.Time) {
	for _, l := range s.logs {
		in := &c.inputs[l.input]
		in.Problems, in.SkippedLines, in.Duplicates = in.Problems[:l.problems], 0, 0
		*l = logFile{input: l.input, file: l.file, id: l.id, begins: l.begins, zones: l.zones, container: l.container}
		if l.container != nil {
			l.container.forget()
		}
		if l.zones.zones == nil {
			continue
		}
		if head, err := l.file.Head(headSize); err == nil {
			l.begins = begins(head, l.options(c, ref))
		}
	}
	s.seen = nil
	s.order()
	s.read(ctx, c, ref, &progress{}, func(*logFile) bool { return true })
}

// forget drops what was heard, before the log is read again.
func (l *containerLog) forget() {
	l.ring, l.next = nil, 0
	for _, e := range l.exits {
		e.words = nil
	}
}

// writeZone says of a log's input what its zone is and what shows it.
func (c *Case) writeZone(l *logFile) {
	in, z := &c.inputs[l.input], &l.zones
	switch {
	case c.opts.LogLocation != nil && l.supplied:
		in.Zone, in.ZoneWhy = c.opts.LogLocation.String(), "given by --log-timezone"
	case z.assumed > 0:
		in.Zone, in.ZoneWhy = cmp.Or(z.name, zoneUnknown), z.why
	case l.supplied:
		in.ZoneWhy = "that of what carried each line"
	}
}

// clockNotes say what was supplied to the stamps of the logs, and where they step
// back.
func (c *Case) clockNotes(add func(string, ...any)) {
	years := false
	var unknown, given, stepped []string
	found := map[string][]string{}
	steps := 0
	for _, l := range c.logs {
		if l == nil || l.records == 0 {
			continue
		}
		in := &c.inputs[l.input]
		name := join(in.Label, in.Path)
		years = years || l.inferred
		switch {
		case in.Zone == "" || in.Zone == "UTC" && c.opts.LogLocation == nil:
		case c.opts.LogLocation != nil:
			given = append(given, name)
		case in.Zone == zoneUnknown:
			unknown = append(unknown, name)
		default:
			found[in.Zone] = append(found[in.Zone], name)
		}
		for _, s := range in.Steps {
			steps++
			stepped = append(stepped, fmt.Sprintf("%s:%d by %s", name, s.Line, seconds(s.From.Sub(s.To))))
		}
	}
	switch {
	case years && c.opts.LogYear != 0:
		add("Stamps of logs that carry no year are read as of %d, as given (--log-year)", c.opts.LogYear)
	case years:
		add("Stamps of some logs carry no year: it is taken from the other inputs (--log-year)")
	}
	if len(given) > 0 {
		add("Stamps without a zone are read as of %s, as given (--log-timezone): those of %s", c.opts.LogLocation, some(given))
	}
	for _, zone := range sortedKeys(found) {
		add("The stamps of %s name no zone: they are read as of %s, which other evidence shows (`inputs -o json` says what)", some(found[zone]), zone)
	}
	if len(unknown) > 0 {
		add("The zone of the stamps of %s is not known: they are read as UTC, and may be hours off (--log-timezone)", some(unknown))
	}
	if steps > 0 {
		add("Clocks were set back, or files put together out of order: the stamps step back at %s", some(stepped))
	}
}

// some lists the first few words.
func some(words []string) string {
	const few = 4
	if len(words) > few+1 {
		words = append(slices.Clone(words[:few]), fmt.Sprintf("%d more", len(words)-few))
	}
	return list(words)
}
