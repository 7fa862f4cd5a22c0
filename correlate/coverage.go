package correlate

import (
	"fmt"
	"slices"
	"strings"

	"etcd-autopsy/logparse"
	"etcd-autopsy/snapshot"
)

// coverage says what the evidence spans and what is missing, with what that means.
func (c *Case) coverage(j *judge, a *Analysis) Coverage {
	out := Coverage{FirstRevision: c.hist.First(), LastRevision: c.hist.Last(), CompactRevision: c.hist.CompactRevision(), Notes: []string{}}
	add := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	c.storeNotes(add, j)
	missing := c.missingLogs(j)
	c.logNotes(add, missing)
	out.Collect = c.toCollect(j, a, missing)
	c.eventNote(add, j)
	out.Notes = append(out.Notes, c.skewNotes()...)
	out.Notes = append(out.Notes, c.outlierNote()...)
	if n := len(c.set.Skipped); n > 0 {
		add("%d entries of the inputs were left out (links, unreadable or special files); `inputs` lists them", n)
	}
	return out
}

// storeNotes speak of stores and their history.
func (c *Case) storeNotes(add func(string, ...any), j *judge) {
	c.dumpNotes(add)
	if c.hist.Len() == 0 {
		add("No store could be read: objects, revisions and rollouts cannot be seen")
		c.walNotes(add)
		return
	}
	if r := c.hist.CompactRevision(); r > 1 {
		add("History is complete above revision %d; of what was written at or below it only the last version of each object is left", r)
	}
	for _, x := range c.hist.Conflicts() {
		if !c.hist.Stores()[x.StoreB].Foreign {
			add("Stores disagree about revision %d of %s: they are not of one healthy cluster, or one is damaged", x.Main, x.Key)
			break
		}
	}
	c.foreignNotes(add)
	for _, res := range sortedKeys(j.w.bad) {
		u := j.w.bad[res]
		why := "of another kind or version than expected"
		if u.why != nil {
			why = u.why.Error()
		}
		add("%d stored %s could not be decoded (%s): what they show is missing here", u.count, res, why)
	}
	c.salvageNotes(add)
	c.walNotes(add)
}

// salvageNotes speak of records that no tree holds, and of what damage has cost.
func (c *Case) salvageNotes(add func(string, ...any)) {
	for k, s := range c.hist.Stores() {
		name := join(s.Input, s.Path)
		if s.Salvaged != "" {
			add("%s was not read as a sound file (%s): what is readable of it is used", name, s.Salvaged)
		}
		for _, l := range s.Lost {
			to := fmt.Sprint(l.To)
			if l.To == 0 {
				to = "the end"
			}
			add("%s lost revisions %d to %s: %s", name, l.From, to, l.Why)
		}
		if s.Carved > 0 && k == c.firstCarved() {
			add("Records that compaction took away were found on stale pages (revisions %d to %d, marked carved): they are true, and between them others are missing", s.CarvedFirst, s.CarvedLast)
		}
	}
	if n := len(c.hist.Contradictions()); n > 0 {
		add("%s on stale pages differ from another copy of the same revision and are not used", count(n, "record"))
	}
	for _, r := range c.hist.Rewinds() {
		add("%s", c.rewindNote(r))
	}
}

// firstCarved is the first store that holds carved records, -1 for none.
func (c *Case) firstCarved() int {
	for k, s := range c.hist.Stores() {
		if s.Carved > 0 {
			return k
		}
	}
	return -1
}

// wantedLogs are the logs that a rollout's judgement rests on.
var wantedLogs = []struct {
	component logparse.Component
	missing   string
}{
	{logparse.ComponentEtcd, "leader changes, slow disks and lost members are not seen"},
	{logparse.ComponentAPIServer, "errors between API servers and etcd are not seen"},
	{logparse.ComponentControllerManager, "why its Lease was lost, and its own errors, are not seen"},
	{logparse.ComponentScheduler, "why its Lease was lost, and its own errors, are not seen"},
	{logparse.ComponentKubelet, "what happened on the nodes is seen only through the pods' status"},
	{logparse.ComponentAudit, "refused and failed requests, and who made a change, are not seen"},
}

// missingLog is a log that is not among the inputs.
type missingLog struct {
	component logparse.Component
	why       string
	// of is the member whose log it is, "" for that of the program anywhere.
	of string
}

// missingLogs lists the logs that a judgement rests on and that are not there.
func (c *Case) missingLogs(j *judge) (out []missingLog) {
	have := map[logparse.Component]bool{}
	etcds := map[string]bool{}
	for _, l := range c.logs {
		if l == nil || l.records == 0 {
			continue
		}
		have[l.id.Component] = true
		for p := range l.programs {
			have[p] = true
		}
		if l.id.Format == logparse.FormatAudit {
			have[logparse.ComponentAudit] = true
		}
		if have[logparse.ComponentEtcd] && (l.id.Component == logparse.ComponentEtcd || l.programs[logparse.ComponentEtcd]) {
			etcds[l.id.MemberID] = true
			etcds[l.id.Member] = true
		}
	}
	for _, w := range wantedLogs {
		if !have[w.component] {
			out = append(out, missingLog{component: w.component, why: w.missing})
		}
	}
	if have[logparse.ComponentEtcd] {
		for _, id := range j.members.ids {
			if !etcds[id] && !etcds[j.members.name(id)] {
				out = append(out, missingLog{logparse.ComponentEtcd, "its side of elections and disks is not seen", j.members.name(id)})
			}
		}
	}
	return out
}

// logNotes speak of logs that are missing.
func (c *Case) logNotes(add func(string, ...any), missing []missingLog) {
	var members []string
	for _, m := range missing {
		name := string(m.component)
		switch {
		case m.of != "":
			members = append(members, m.of)
			continue
		case m.component == logparse.ComponentAudit:
			name = "audit"
		}
		add("No %s log was given: %s", name, m.why)
	}
	if len(members) > 0 {
		add("No log of etcd member %s was given: its side of elections and disks is not seen", list(members))
	}
	c.clockNotes(add)
}

// eventNote warns that Events expire.
func (c *Case) eventNote(add func(string, ...any), j *judge) {
	if c.hist.Len() > 0 && len(c.hist.KeysOf("events")) == 0 {
		if slices.ContainsFunc(c.hist.Stores(), func(s snapshot.Store) bool { return s.Foreign && s.EventsOnly }) {
			add("k8s Events are in an etcd of their own, which is not read beside the main one: look at it by itself")
		} else {
			add("The stores hold no k8s Events: they expire after an hour, so their absence says nothing")
		}
	}
	if slices.ContainsFunc(c.inputs, func(in Input) bool { return strings.Contains(strings.Join(in.Problems, " "), "not read") }) {
		add("Some inputs could not be read; the inventory lists each with the reason")
	}
}
