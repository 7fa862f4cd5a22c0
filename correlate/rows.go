package correlate

import (
	"context"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"etcd-autopsy/snapshot"
)

// RevisionRow is a line of `revisions -o jsonl` (contract.md 3).
type RevisionRow struct {
	Revision  int64      `json:"revision"`
	Sub       int64      `json:"sub"`
	Key       string     `json:"key"`
	Type      string     `json:"type"`
	Resource  string     `json:"resource"`
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
	Time      *time.Time `json:"time"`
	Earliest  *time.Time `json:"earliest"`
	Latest    *time.Time `json:"latest"`
	// Sources are snapshot, wal, carved, kine, delta, dump.
	Sources []string `json:"sources"`
}

// Revisions lists every stored revision in order, within the options' limits.
func (c *Case) Revisions() iter.Seq[RevisionRow] {
	return func(yield func(RevisionRow) bool) {
		for _, row := range c.indexedRevisions() {
			if !yield(row) {
				return
			}
		}
	}
}

// indexedRevisions are the listed revisions with their places in the history.
func (c *Case) indexedRevisions() iter.Seq2[int, RevisionRow] {
	return func(yield func(int, RevisionRow) bool) {
		keys := c.workloadKeys()
		for i := range c.hist.Len() {
			row := c.revisionRow(i)
			if keys != nil && !keys[row.Key] {
				continue
			}
			if c.opts.Namespace != "" && row.Namespace != c.opts.Namespace || !c.inWindow(row.Time) {
				continue
			}
			if !yield(i, row) {
				return
			}
		}
	}
}

// workloadKeys are the keys of the selected workload and of what it owns: its
// ReplicaSets, their pods, the Events about them, the EndpointSlices of its
// Services. Nil without a selection.
func (c *Case) workloadKeys() map[string]bool {
	if c.opts.Workload == "" {
		return nil
	}
	keys := map[string]bool{}
	w, err := c.objects(context.Background())
	if err != nil {
		return keys
	}
	about := func(uid types.UID) {
		for _, e := range w.events[uid] {
			keys[e.key] = true
		}
	}
	for _, d := range w.deployments {
		if !c.selected("Deployment", d.meta().GetNamespace(), d.meta().GetName()) {
			continue
		}
		keys[d.key] = true
		about(d.meta().GetUID())
		for _, set := range w.sets[d.meta().GetUID()] {
			keys[set.key] = true
			about(set.meta().GetUID())
			for _, pod := range w.pods[set.meta().GetUID()] {
				keys[pod.key] = true
				about(pod.meta().GetUID())
			}
		}
		for _, e := range c.expectedServices(d, w) {
			keys[e.svc.key] = true
			for _, sl := range slicesOf(e.svc, w) {
				keys[sl.key] = true
			}
		}
	}
	return keys
}

func (c *Case) revisionRow(i int) RevisionRow {
	r := c.hist.At(i)
	t, lo, hi := c.clock.At(r.Main)
	res, _ := c.hist.Resource(r.Key)
	row := RevisionRow{
		Revision: r.Main, Sub: r.Sub, Key: r.Key, Type: "put", Resource: res.Resource, Namespace: res.Namespace, Name: res.Name,
		Time: timePtr(t), Earliest: timePtr(lo), Latest: timePtr(hi), Sources: sourcesOf(r),
	}
	if r.Tombstone {
		row.Type = "delete"
	}
	return row
}

// sourcesOf says where a revision was found, in the words of RevisionRow.
func sourcesOf(r snapshot.Revision) []string {
	var out []string
	switch {
	case r.Carved:
		out = append(out, "carved")
	case len(r.Stores) > 0:
		out = append(out, "snapshot")
	}
	if r.WAL {
		out = append(out, "wal")
	}
	if r.Dump {
		out = append(out, "dump")
	}
	return out
}

// inWindow says whether a time is within --since and --until; without such a
// limit everything is, with one only what has a time.
func (c *Case) inWindow(t *time.Time) bool {
	if c.opts.Since.IsZero() && c.opts.Until.IsZero() {
		return true
	}
	if t == nil || t.Before(c.opts.Since) {
		return false
	}
	return c.opts.Until.IsZero() || !t.After(c.opts.Until)
}
