package correlate

import (
	"cmp"
	"slices"
	"strings"

	"etcd-autopsy/logparse"
)

// Kubelets, controllers and schedulers say in their logs what they could not do, and
// for which object. That is kept by the object, to stand beside what the object says
// of itself: it supports a cause and is none.

// told is what a program said about an object.
type told struct {
	component logparse.Component
	note      note
}

// tellers are the programs that are heard, and the stages in which they act.
var tellers = map[logparse.Component][]int{
	logparse.ComponentControllerManager: {stageReplicaSet, stageConverge},
	logparse.ComponentScheduler:         {stageSchedule},
	logparse.ComponentKubelet:           {stagePrepare, stageStart, stageServe},
}

// Bounds of what one log keeps: messages about one object, and objects.
const (
	maxToldOfOne = 8
	maxTold      = 20000
)

// takeTold keeps an error that names an object.
func (l *logFile) takeTold(rec *logparse.Record) {
	if rec.Level < logparse.LevelError || tellers[rec.Component] == nil {
		return
	}
	for _, m := range objectsNamed(rec) {
		list := l.told[m]
		if list == nil && len(l.told) >= maxTold {
			continue
		}
		if l.told == nil {
			l.told = map[mention][]told{}
		}
		x := told{component: rec.Component, note: l.note(rec)}
		x.note.msg = strings.Clone(rec.Message[:min(len(rec.Message), logparse.MaxText)])
		m.namespace, m.name = strings.Clone(m.namespace), strings.Clone(m.name)
		if len(list) >= maxToldOfOne {
			list = list[1:] // the last ones are nearest to the end of a stall
		}
		l.told[m] = append(list, x)
	}
}

// objectsNamed are the objects that the fields of a structured message name.
func objectsNamed(rec *logparse.Record) []mention {
	var out []mention
	for _, f := range rec.Fields {
		if !objectFields[f.Key] {
			continue
		}
		if ns, name, ok := strings.Cut(f.Value, "/"); ok && ns != "" && !strings.Contains(name, "/") {
			out = append(out, mention{ns, name})
		}
	}
	return out
}

// maxSupport is how many lines support one finding.
const maxSupport = 2

// support are the last lines within a stall in which those who had to act say what
// they could not do, for the objects that waited.
func (j *judge) support(a *attempt, s *stall) []*cite {
	var about []mention
	for _, w := range s.waits {
		p := w.p.pod.last().obj
		about = append(about, mention{p.Namespace, p.Name})
	}
	if len(s.waits) == 0 {
		about = append(about, mention{a.namespace(), a.name()})
		if a.set != nil {
			about = append(about, mention{a.namespace(), a.set.meta().GetName()})
		}
	}
	var found []note
	for _, l := range j.c.logs {
		if l == nil || l.application() {
			continue
		}
		for _, m := range about {
			for _, x := range l.told[m] {
				if slices.Contains(tellers[x.component], s.stage) && !x.note.at.IsZero() && inSpan(x.note.at, s, 0) {
					found = append(found, x.note)
				}
			}
		}
	}
	slices.SortStableFunc(found, func(x, y note) int {
		return cmp.Or(y.at.Compare(x.at), cmp.Compare(x.file.input, y.file.input), cmp.Compare(y.line, x.line))
	})
	var out []*cite
	seen := map[string]bool{}
	for _, n := range found {
		if len(out) < maxSupport && !seen[n.msg] {
			seen[n.msg] = true
			out = append(out, lineCite(n))
		}
	}
	return out
}
