package correlate

import (
	"sort"
	"strconv"
	"time"
)

// storedWrite is a revision of one key, for joining.
type storedWrite struct {
	rev, prev int64
	version   int64
	tombstone bool
}

// keyWrites lists the revisions of a key, each with its predecessor.
func (c *Case) keyWrites(key string) []storedWrite {
	var out []storedWrite
	var prev int64
	for _, i := range c.hist.Key(key) {
		r := c.hist.At(i)
		out = append(out, storedWrite{rev: r.Main, prev: prev, version: r.Version, tombstone: r.Tombstone})
		prev = r.Main
	}
	return out
}

// auditKeys maps "resource/namespace/name" to the stored key.
func (c *Case) auditKeys() map[string]string {
	keys := map[string]string{}
	for _, k := range c.hist.Keys() {
		if r, ok := parseKey(k); ok {
			keys[objectPath(r.Resource, r.Namespace, r.Name)] = k
		}
	}
	return keys
}

// objectPath is "deployments/default/web", or "nodes/node-1" without a namespace.
func objectPath(resource, namespace, name string) string {
	if namespace == "" {
		return resource + "/" + name
	}
	return resource + "/" + namespace + "/" + name
}

// joinByPredecessor joins answered writes to revisions where the join is exact:
// the answer names the revision, or the request names the one it replaced, or
// the request created a name that lived only once.
//
// An update that changes nothing is answered with success and makes no revision,
// so several requests may name the same predecessor: the last of them is the one
// that replaced it, and it cannot have been over before the API server's own
// stamp in the revision.
func joinByPredecessor(c *Case, stamps []stamp) []stamp {
	own := map[int64]time.Time{}
	for _, s := range stamps {
		if s.writer == apiserverWriter && !s.tight {
			own[s.rev] = latest(own[s.rev], s.at)
		}
	}
	keys := c.auditKeys()
	last := map[int64]*auditEvent{}
	for _, a := range c.audits {
		if !a.ok() || a.Name == "" {
			continue
		}
		key, ok := keys[objectPath(a.Resource, a.Namespace, a.Name)]
		if !ok {
			continue
		}
		rev := exactRevision(c, a, key)
		if rev != 0 && !a.Completed.Before(own[rev]) && (last[rev] == nil || a.Completed.After(last[rev].Completed)) {
			last[rev] = a
		}
	}
	var out []stamp
	for rev, a := range last {
		a.revision = rev
		out = append(out, auditStamp(a))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].rev < out[j].rev })
	return out
}

// exactRevision is the revision that an answered write made, 0 if that is not certain.
func exactRevision(c *Case, a *auditEvent, key string) int64 {
	writes := c.keyWrites(key)
	if n, err := strconv.ParseInt(a.ResponseResourceVersion, 10, 64); err == nil {
		for _, w := range writes {
			if w.rev == n {
				return n
			}
		}
	}
	if a.Verb == "update" {
		if n, err := strconv.ParseInt(a.ResourceVersion, 10, 64); err == nil && n > 0 {
			for _, w := range writes {
				if w.prev == n && !w.tombstone {
					return w.rev
				}
			}
		}
	}
	if a.Verb == "create" && a.Subresource == "" {
		var born []int64
		for _, w := range writes {
			if w.version == 1 {
				born = append(born, w.rev)
			}
		}
		if len(born) == 1 {
			return born[0]
		}
	}
	return 0
}

// joinByTime joins the remaining answered writes where exactly one unclaimed
// revision of the key can have been made within the request's span.
func joinByTime(c *Case, k *Clock) []stamp {
	keys := c.auditKeys()
	claimed := map[int64]bool{}
	byKey := map[string][]*auditEvent{}
	for _, a := range c.audits {
		if a.revision != 0 {
			claimed[a.revision] = true
			continue
		}
		if key, ok := keys[objectPath(a.Resource, a.Namespace, a.Name)]; ok && a.ok() && a.Name != "" {
			byKey[key] = append(byKey[key], a)
		}
	}
	names := make([]string, 0, len(byKey))
	for key := range byKey {
		names = append(names, key)
	}
	sort.Strings(names)
	var out []stamp
	for _, key := range names {
		out = append(out, joinKey(c, k, key, byKey[key], claimed)...)
	}
	return out
}

// joinKey joins the requests of one key: a pair counts only if the request has
// one candidate and the revision one request.
func joinKey(c *Case, k *Clock, key string, reqs []*auditEvent, claimed map[int64]bool) []stamp {
	writes := c.keyWrites(key)
	fits := func(a *auditEvent, w storedWrite) bool {
		if claimed[w.rev] || w.tombstone != (a.Verb == "delete" || a.Verb == "deletecollection") {
			return false
		}
		from, to := a.span()
		_, lo, hi := k.At(w.rev)
		return !hi.Before(from) && !lo.After(to) || hi.IsZero() && !lo.After(to)
	}
	suitors := map[int64]int{}
	only := map[*auditEvent]int64{}
	for _, a := range reqs {
		n := 0
		for _, w := range writes {
			if fits(a, w) {
				n++
				suitors[w.rev]++
				only[a] = w.rev
			}
		}
		if n != 1 {
			delete(only, a)
		}
	}
	var out []stamp
	for _, a := range reqs {
		if rev := only[a]; rev != 0 && suitors[rev] == 1 {
			a.revision = rev
			out = append(out, auditStamp(a))
		}
	}
	return out
}

// auditStamp bounds the revision an answered write made by its span.
func auditStamp(a *auditEvent) stamp {
	from, to := a.span()
	return stamp{rev: a.revision, at: from, until: to, writer: apiserverWriter, answered: true}
}

// dateStores gives each store's input the times of its first and last revision.
func (c *Case) dateStores() {
	for k, s := range c.hist.Stores() {
		if s.Records == 0 {
			continue
		}
		in := &c.inputs[c.stores[k]]
		in.First, in.Last = timePtr(c.timeAtOrAfter(s.First)), timePtr(c.timeAtOrAfter(s.Last))
	}
}

// timeAtOrAfter is the time of a revision, or of the next one that the history has.
func (c *Case) timeAtOrAfter(rev int64) time.Time {
	k := c.clock
	i := sort.Search(len(k.mains), func(i int) bool { return k.mains[i] >= rev })
	if i == len(k.mains) {
		return time.Time{}
	}
	return k.estimate[i]
}
