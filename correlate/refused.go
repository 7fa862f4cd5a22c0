package correlate

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"etcd-autopsy/logparse"
)

// limited is a run of requests that an API server refused because it had too many.
type limited struct {
	first, last note
	count       int
}

// limitedGap ends a run; fewLimited is how many make one: clients wait and try again.
const (
	limitedGap = 30 * time.Second
	fewLimited = 10
)

// takeLimited counts an audited request that priority and fairness refused (429). An
// eviction that a disruption budget forbids, and etcd's own "too many requests", are
// answered so too and are something else.
func (l *logFile) takeLimited(rec *logparse.Record) {
	ev := rec.Audit
	if ev.Code != 429 || ev.Subresource == "eviction" || strings.Contains(ev.Message, "etcdserver") || strings.Contains(ev.Message, "disruption budget") {
		return
	}
	n := l.note(rec)
	if k := len(l.limited); k > 0 && n.at.Sub(l.limited[k-1].last.at) <= limitedGap {
		r := l.limited[k-1]
		r.last, r.count = laterNote(r.last, n), r.count+1
		return
	}
	l.limited = append(l.limited, &limited{first: n, last: n, count: 1})
}

// apiserverOverloads finds the times in which API servers refused requests for want
// of capacity.
func (c *Case) apiserverOverloads() []*episode {
	var runs []*limited
	for _, l := range c.logs {
		if l == nil {
			continue
		}
		for _, r := range l.limited {
			if r.count >= fewLimited {
				runs = append(runs, r)
			}
		}
	}
	sort.SliceStable(runs, func(i, j int) bool { return runs[i].first.at.Before(runs[j].first.at) })
	var out []*episode
	for _, r := range runs {
		e := &episode{kind: "apiserver-overload", start: r.first.at, end: r.last.at, logged: true, names: []string{r.first.file.file.Path}}
		e.cites = []*cite{lineCite(r.first), lineCite(r.last)}
		e.text = fmt.Sprintf("An API server refused %s with 429: it had more than its priority levels let in", count(r.count, "request"))
		e.why = "clients wait and try again"
		out = append(out, e)
	}
	return out
}
