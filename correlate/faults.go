package correlate

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// Faults of the control plane that its logs complain of and that stop no write by
// themselves: they are told apart here (incidents.md 1.3), and hold a rollout up only
// where the store shows that writes stopped.

// run is the bursts of some signatures in one log or one member, without a long pause.
type run struct {
	member      string
	first, last note
	count       int
	longest     time.Duration
	sum         time.Duration
}

func (r *run) from() time.Time { return r.first.at.Add(-r.longest) }

// runsOf joins the bursts of signatures by member, pauses up to gap included.
func (c *Case) runsOf(gap time.Duration, keep func(*burst) bool, sigs ...string) []*run {
	var all []*burst
	for _, s := range sigs {
		all = append(all, c.bursts(s)...)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].first.at.Before(all[j].first.at) })
	open := map[string]*run{}
	var out []*run
	for _, b := range all {
		if b.first.at.IsZero() || keep != nil && !keep(b) {
			continue
		}
		id := memberOf(b)
		r := open[id]
		if r == nil || b.first.at.Sub(r.last.at) > gap {
			r = &run{member: id, first: b.first}
			open[id] = r
			out = append(out, r)
		}
		r.last, r.count, r.sum, r.longest = laterNote(r.last, b.last), r.count+b.count, r.sum+b.sum, max(r.longest, b.longest)
	}
	return out
}

func laterNote(a, b note) note {
	if b.at.Before(a.at) {
		return a
	}
	return b
}

// episode begins an episode about a run.
func (r *run) episode(kind string) *episode {
	e := &episode{kind: kind, start: r.first.at, end: r.last.at, logged: true, members: []string{r.member}, cites: []*cite{lineCite(r.first)}}
	if r.last.line != r.first.line || r.last.file != r.first.file {
		e.cites = append(e.cites, lineCite(r.last))
	}
	return e
}

// near says whether two times overlap or are at most slack apart.
func near(a1, a2, b1, b2 time.Time, slack time.Duration) bool {
	return !a1.After(b2.Add(slack)) && !b1.After(a2.Add(slack))
}

// nearSlack is how far the lines of one disease may be apart: etcd warns of a late
// heartbeat when it sends the next one, and of a slow fsync when it is done.
const nearSlack = 5 * time.Second

// slowFsync says whether a member's log has a slow fsync near a time.
func (c *Case) slowFsync(member string, from, to time.Time) bool {
	for _, b := range c.bursts("etcd-slow-fdatasync") {
		if memberOf(b) == member && near(from, to, b.first.at.Add(-b.longest), b.last.at, nearSlack) {
			return true
		}
	}
	return false
}

// overloads finds leaders that were late with heartbeats while requests took long,
// and whose disk shows nothing. Late heartbeats alone prove neither: the text of the
// line blames the disk whatever the reason (etcd v3.6 server/etcdserver/raft.go).
func (c *Case) overloads(m *members) []*episode {
	slow := c.runsOf(fsyncGap, nil, "etcd-apply-slow", "etcd-request-stats", "etcd-err-too-many")
	var out []*episode
	for _, late := range c.runsOf(fsyncGap, nil, "etcd-heartbeat-late") {
		if c.slowFsync(late.member, late.first.at, late.last.at) {
			continue // the disk explains it: an episode of its own
		}
		i := slices.IndexFunc(slow, func(r *run) bool {
			return r.member == late.member && near(late.from(), late.last.at, r.from(), r.last.at, nearSlack)
		})
		if i < 0 {
			continue
		}
		e := late.episode("overload")
		e.cites = append(e.cites, lineCite(slow[i].first))
		e.guess = true
		e.text = fmt.Sprintf("Leader %s sent heartbeats late (%s) while requests took long (%s, longest %s), and its log has no slow fsync",
			m.name(late.member), count(late.count, "line"), count(slow[i].count, "line"), seconds(slow[i].longest))
		e.why = "a leader that is short of CPU or drowned in requests is slow, not stopped"
		out = append(out, e)
	}
	return out
}

// tooMany finds the times in which etcd refused requests because it was behind with
// applying: more than 5,000 entries (etcd v3.6 server/etcdserver/v3_server.go).
func (c *Case) tooMany() []*episode {
	var out []*episode
	for _, r := range c.runsOf(fsyncGap, nil, "etcd-err-too-many") {
		e := r.episode("too-many-requests")
		e.members = nil
		e.text = fmt.Sprintf("etcd refused requests because it was behind with applying what was committed (%s)", count(r.count, "line"))
		e.why = "requests that were refused may be sent again"
		out = mergeSame(out, e)
	}
	return out
}

// defrags finds the defragmentations of members: a member that defragments answers
// nothing until it is done. Where it led, or a quorum of members did it at once,
// writes waited.
func (c *Case) defrags(ts []*tenure, m *members) []*episode {
	ends := append(c.bursts("etcd-defrag-done"), c.bursts("etcd-defrag-failed")...)
	var out []*episode
	for _, b := range c.bursts("etcd-defrag-start") {
		e := &episode{kind: "defrag", start: b.first.at, end: c.logEnd(), open: true, logged: true, members: []string{memberOf(b)}, cites: []*cite{lineCite(b.first)}}
		for _, x := range ends {
			if memberOf(x) == e.members[0] && !x.first.at.Before(e.start) && (e.open || x.first.at.Before(e.end)) {
				e.end, e.open = x.first.at, false
				e.cites = append(e.cites[:1:1], lineCite(x.first))
			}
		}
		took := "took " + seconds(e.length())
		if e.open {
			took = "had not ended when its log ends"
		}
		e.reach = led(ts, e.members[0], e.start, e.end)
		e.text = fmt.Sprintf("Defragmentation of %s %s", m.name(e.members[0]), took)
		e.why = "a member answers nothing while it defragments; the others go on"
		if e.reach {
			e.why = "the member led the cluster, and a member answers nothing while it defragments"
		}
		out = append(out, e)
	}
	return out
}

// led says whether a member led at some time in an interval.
func led(ts []*tenure, member string, from, to time.Time) bool {
	return slices.ContainsFunc(ts, func(t *tenure) bool {
		return t.leader == member && t.since.Before(to) && (t.lost.IsZero() || t.lost.After(from))
	})
}

// corruptSigns are the messages of etcd that say that data is damaged or differs.
var corruptSigns = []string{
	"etcd-hash-mismatch", "etcd-hash-mismatch-initial", "etcd-hash-same-compact", "etcd-compact-hash-failed", "etcd-follower-rev-ahead",
	"etcd-init-check-failed", "etcd-kv-unmarshal-fatal", "etcd-recover-backend-panic", "etcd-revpair-fatal", "etcd-snap-corrupt",
	"etcd-statecommit-panic", "etcd-tocommit-panic", "etcd-wal-unreadable", "etcd-walpb-crc", "etcd-db-open-panic", "etcd-err-corrupt",
}

// corruptions finds what etcd's own checks found.
func (c *Case) corruptions(m *members) []*episode {
	var out []*episode
	for _, r := range c.runsOf(10*time.Minute, nil, corruptSigns...) {
		e := r.episode("corruption")
		who := r.first.file.file.Path
		if names := nameAll(e.members, m); r.first.file.id.MemberID != "" || r.first.file.id.Member != "" {
			who = names[0]
		}
		e.text = fmt.Sprintf("The log of %s says that data is damaged or differs (%s): %s", who, count(r.count, "line"), cutWords(r.first.msg))
		e.why = "etcd's own check says so; which copy is the right one, it does not say"
		out = append(out, e)
	}
	return out
}

// fewRefusals is how many handshakes have to fail before certificates are to blame: a
// probe without a certificate, or one client with an old one, is no fault of the
// control plane.
const fewRefusals = 3

// certificates finds handshakes that failed for a certificate that has expired or is
// not trusted.
func (c *Case) certificates() []*episode {
	bad := func(b *burst) bool {
		return b.sig == "x509-expired" || strings.Contains(b.first.text, "x509:") || strings.Contains(b.first.text, "bad certificate") || strings.Contains(b.first.text, "unknown certificate")
	}
	var out []*episode
	for _, r := range c.runsOf(5*time.Minute, bad, "x509-expired", "etcd-conn-rejected") {
		if r.count < fewRefusals {
			continue
		}
		e := r.episode("certificate")
		e.names, e.members = e.members, nil
		e.text = fmt.Sprintf("Connections failed because of a certificate (%s in %s): %s", count(r.count, "line"), r.first.file.file.Path, cutWords(r.first.msg))
		e.why = "connections that were up stay up; new ones are refused"
		e.guess = true
		out = append(out, e)
	}
	return out
}
