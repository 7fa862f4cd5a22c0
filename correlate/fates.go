package correlate

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"etcd-autopsy/correlate/fate"
	"etcd-autopsy/correlate/revclock"
	"etcd-autopsy/snapshot"
)

// writeRequest is a write request that logs show, and what became of it.
type writeRequest struct {
	fate.Request
	fate.Verdict
	object string // "deployments/default/web/status"
	user   string
	audit  *auditEvent // nil if no audit log has it
	traces []*tracedWrite
	slow   []*slowApply
}

// timedOut is what etcd answers for a proposal that it has not applied in time.
const timedOut = "etcdserver: request timed out"

// applyLag is how far behind the others a member may be that answers "request
// timed out" because it has not applied a write.
const applyLag = 3 * time.Second

// judgeWrites finds out what became of the write requests, once the clock runs. It
// returns what that tells the clock of the failed ones that landed: they came after
// they were received. etcd answers "request timed out" only while it has not applied
// the write, so the commit came after that answer, or shortly before it on other
// members. What only an API server's log shows of it is not taken for that: a slow
// member was seen to answer two seconds after the others had applied the write.
func (c *Case) judgeWrites() []revclock.Bound {
	c.collectWrites()
	requests := make([]*fate.Request, len(c.writes))
	for i, w := range c.writes {
		requests[i] = &w.Request
	}
	for i, v := range fate.Judge(c.hist, c.clock, requests) {
		c.writes[i].Verdict = v
	}
	c.attachSlow()
	var out []revclock.Bound
	for _, w := range c.writes {
		r := w.Verdict.Revision
		shown := w.audit != nil || len(w.traces) > 0
		if r == 0 || w.Fate != fate.Landed || w.OK() || !shown || w.Received.IsZero() {
			continue
		}
		after := w.Received
		if w.audit != nil {
			w.audit.Revision = r
			if strings.Contains(w.Message, timedOut) && w.Completed.Add(-applyLag).After(after) {
				after = w.Completed.Add(-applyLag)
			}
		}
		out = append(out, revclock.Bound{Revision: r, After: after})
	}
	return out
}

// collectWrites makes the requests of audit events, and of what only the API
// servers' own logs show.
func (c *Case) collectWrites() {
	keys := c.objectKeys()
	byAudit := map[string]*writeRequest{}
	for _, a := range c.audits {
		w := &writeRequest{audit: a, user: a.User, object: objectPath(a.Resource, a.Namespace, a.Name)}
		if a.Subresource != "" {
			w.object += "/" + a.Subresource
		}
		expected, _ := strconv.ParseInt(a.ResourceVersion, 10, 64)
		w.Request = fate.Request{Verb: a.Verb, Subresource: a.Subresource, Expected: expected, Manager: managerOf(a), Received: a.Received, Completed: a.Completed,
			Code: a.Code, Message: a.Message, Revision: a.Revision}
		if a.Name != "" && a.Verb != "deletecollection" {
			w.Key = keys.find(a.Group, a.Resource, a.Namespace, a.Name)
		}
		a.write = w
		c.writes = append(c.writes, w)
		if a.AuditID != "" {
			byAudit[a.AuditID] = w
		}
	}
	for _, l := range c.logs {
		if l == nil {
			continue
		}
		for _, t := range l.traces {
			c.addTrace(t, byAudit, keys)
		}
	}
	slices.SortStableFunc(c.writes, func(a, b *writeRequest) int { return a.Received.Compare(b.Received) })
}

// addTrace hangs a trace on its request, or makes one of it.
func (c *Case) addTrace(t *tracedWrite, byAudit map[string]*writeRequest, keys objectKeys) {
	w := byAudit[t.auditID]
	if w == nil {
		if t.from.IsZero() {
			return // it says neither when the request came nor what was answered
		}
		w = &writeRequest{object: objectPath(t.resource, t.namespace, t.object)}
		if t.sub != "" {
			w.object += "/" + t.sub
		}
		w.Request = fate.Request{Verb: t.verb, Subresource: t.sub, Received: t.from, Completed: t.to, Message: t.message}
		if t.object != "" {
			w.Key = keys.find(t.group, t.resource, t.namespace, t.object)
		}
		c.writes = append(c.writes, w)
		if t.auditID != "" {
			byAudit[t.auditID] = w
		}
	}
	w.traces = append(w.traces, t)
}

// attachSlow hangs etcd's lines about slow writes on the requests that became the
// same entry, and makes requests of those that nothing else shows.
func (c *Case) attachSlow() {
	byEntry := map[int]*writeRequest{}
	for _, w := range c.writes {
		if w.Entry >= 0 {
			byEntry[w.Entry] = w
		}
	}
	var only []int // entries that nothing else shows
	lines := map[int][]*slowApply{}
	for _, l := range c.logs {
		if l == nil {
			continue
		}
		for _, s := range l.slow {
			i, ok := c.hist.EntryOfRequest(s.id)
			if !ok {
				continue
			}
			if w := byEntry[i]; w != nil {
				w.slow = append(w.slow, s)
				continue
			}
			if lines[i] == nil && c.hist.Entry(i).Verb != "" {
				only = append(only, i)
			}
			lines[i] = append(lines[i], s)
		}
	}
	for _, w := range c.entryRequests(only) {
		w.slow = lines[w.Entry]
		w.Received, w.Completed = w.slow[0].at.Add(-w.slow[0].took), w.slow[0].at
		c.writes = append(c.writes, w)
	}
	slices.SortStableFunc(c.writes, func(a, b *writeRequest) int { return a.Received.Compare(b.Received) })
}

// entryRequests makes the requests of entries that no log shows.
func (c *Case) entryRequests(entries []int) []*writeRequest {
	out := make([]*writeRequest, len(entries))
	for n, v := range fate.OfEntries(c.hist, c.clock, entries) {
		e := c.hist.Entry(entries[n])
		w := &writeRequest{object: c.objectOfKey(e.Key), Verdict: v}
		w.Request = fate.Request{Key: e.Key, Verb: e.Verb, ID: e.Request, Revision: e.Revision}
		out[n] = w
	}
	return out
}

// objectOfKey is "deployments/default/web" for the key of an object, else the key.
func (c *Case) objectOfKey(key string) string {
	if r, ok := c.hist.Resource(key); ok {
		return objectPath(r.Resource, r.Namespace, r.Name)
	}
	return key
}

// objectKeys finds the key of an object that a request names.
type objectKeys struct {
	stored map[snapshot.Resource]string
	// folders have the beginning of the keys of a group and resource.
	folders map[[2]string]string
}

// objectKeys collects the keys of everything that was ever stored, or tried to.
func (c *Case) objectKeys() objectKeys {
	keys := objectKeys{stored: map[snapshot.Resource]string{}, folders: map[[2]string]string{}}
	for _, list := range [][]string{c.hist.Keys(), c.hist.EntryKeys()} {
		for _, k := range list {
			r, ok := c.hist.Resource(k)
			if !ok {
				continue
			}
			keys.stored[r] = k
			if at := [2]string{r.Group, r.Resource}; keys.folders[at] == "" {
				keys.folders[at] = strings.TrimSuffix(k, objectSuffix(r.Namespace, r.Name))
			}
		}
	}
	return keys
}

// find returns the key of an object, "" if nothing of its kind was ever stored. The
// keys of built-in kinds name no group.
func (k objectKeys) find(group, resource, namespace, name string) string {
	r := snapshot.Resource{Group: group, Resource: resource, Namespace: namespace, Name: name}
	if key, ok := k.stored[r]; ok {
		return key
	}
	r.Group = ""
	if key, ok := k.stored[r]; ok {
		return key
	}
	return k.guess(group, resource, namespace, name)
}

// guess makes the key of an object that was never stored of that of another one of
// its kind; "" if there is none.
func (k objectKeys) guess(group, resource, namespace, name string) string {
	own := objectSuffix(namespace, name)
	for _, g := range []string{group, ""} {
		if folder, ok := k.folders[[2]string{g, resource}]; ok {
			return folder + own
		}
	}
	return ""
}

// objectSuffix is the end of an object's key.
func objectSuffix(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
