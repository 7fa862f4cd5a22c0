package correlate

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// noSpace finds the times under a NOSPACE alarm in logs and stores. etcd does not
// log that an alarm was disarmed, so an episode ends with the first put that was
// stored again; the alarm's own raising may let a few through.
func (c *Case) noSpace(m *members) []*episode {
	var signs []*burst
	for _, sig := range []string{"etcd-quota-exceeded", "etcd-alarm-raised", "etcd-err-nospace"} {
		for _, b := range c.bursts(sig) {
			if sig != "etcd-alarm-raised" || strings.Contains(strings.ToUpper(b.first.text), "NOSPACE") {
				signs = append(signs, b)
			}
		}
	}
	sort.SliceStable(signs, func(i, j int) bool { return signs[i].first.at.Before(signs[j].first.at) })
	var out []*episode
	var cur *episode
	for _, b := range signs {
		if cur == nil || !cur.open && b.first.at.After(cur.end) {
			cur = c.alarmFrom(b.first.at)
			cur.logged = true
			out = append(out, cur)
		}
		if len(cur.cites) < 4 {
			cur.cites = append(cur.cites, lineCite(b.first))
		}
	}
	return c.storedAlarms(out, m)
}

// alarmFrom is an episode that lasts until puts are stored again.
func (c *Case) alarmFrom(start time.Time) *episode {
	e := &episode{kind: "nospace", start: start, end: c.logEnd(), open: true, reach: true,
		text: "The NOSPACE alarm was raised: the database reached its quota and etcd refused every put",
		why:  "while the NOSPACE alarm stands, etcd refuses every put and takes only deletes"}
	if put := c.clock.FirstPutAfter(start.Add(shortLoss)); !put.IsZero() {
		e.end, e.open = put, false
	}
	return e
}

// storedAlarms adds the alarms that the stores hold: to the open episode, or as one
// that began with the last put.
func (c *Case) storedAlarms(out []*episode, m *members) []*episode {
	var ids []string
	for _, s := range c.ownStores() {
		for _, a := range s.Alarms {
			if a.Kind == "NOSPACE" {
				ids = append(ids, a.MemberID)
			}
		}
	}
	listed, cites := c.statusAlarms("NOSPACE")
	ids = append(ids, listed...)
	sort.Strings(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return out
	}
	if n := len(out); n == 0 || !out[n-1].open {
		e := c.alarmFrom(c.clock.LastPut())
		e.cites = append(e.cites, c.lastPutCite())
		out = append(out, e)
	}
	e := out[len(out)-1]
	e.members = ids
	e.cites = append(e.cites, cites...)
	e.text += fmt.Sprintf("; the alarm of %s stands", list(nameAll(ids, m)))
	return out
}

// lastPutCite cites the newest put: what was stored before the puts stopped.
func (c *Case) lastPutCite() *cite {
	for i := c.hist.Len() - 1; i >= 0; i-- {
		if r := c.hist.At(i); !r.Tombstone {
			return revCite(i, "the last put of the store, before its NOSPACE alarm (database space exceeded)")
		}
	}
	return nil
}
