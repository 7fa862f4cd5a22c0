package correlate

import (
	"fmt"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"etcd-autopsy/snapshot"
)

// cite is a piece of evidence before it has an ID. Equal ones are one.
type cite struct {
	log   *note
	idx   int // of a stored revision, or of an entry; used when log is nil
	entry bool
	// record is set for what one store holds, whether or not it is in the history.
	record *storedRecord
	// input is the number of an input, from 1 on, that is cited as a whole.
	input int
	text  string
}

// lineCite cites a log record.
func lineCite(n note) *cite { return &cite{log: &n} }

// revCite cites a stored revision and says what it shows.
func revCite(idx int, format string, args ...any) *cite {
	return &cite{idx: idx, text: fmt.Sprintf(format, args...)}
}

// entryCite cites an entry of the raft log and says what it shows.
func entryCite(idx int, format string, args ...any) *cite {
	return &cite{idx: idx, entry: true, text: fmt.Sprintf(format, args...)}
}

// auditCite cites the line of an audited request.
func auditCite(a *auditEvent) *cite {
	return &cite{log: &note{file: a.file, line: a.line, at: a.Completed, text: a.text}}
}

// book numbers the evidence in the order of its first citation.
type book struct {
	c    *Case
	byID map[string]string
	list []Evidence
}

func newBook(c *Case) *book { return &book{c: c, byID: map[string]string{}} }

// add gives a list of citations their IDs, dropping repeats.
func (b *book) add(cites []*cite) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, x := range cites {
		if x == nil {
			continue
		}
		if id := b.one(x); !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

func (b *book) one(x *cite) string {
	var e Evidence
	switch {
	case x.log != nil:
		e = b.line(x.log)
	case x.entry:
		e = b.entry(x)
	case x.record != nil:
		e = b.stored(x)
	case x.input > 0:
		in := &b.c.inputs[x.input-1]
		e = Evidence{Input: in.Label, Source: in.Path, Line: 1, Text: cutText(x.text)}
	default:
		e = b.revision(x)
	}
	key := fmt.Sprintf("%s\x00%s\x00%d\x00%d\x00%d\x00%s\x00%s", e.Input, e.Source, e.Line, e.Offset, e.Revision, e.Key, e.Text)
	if id, ok := b.byID[key]; ok {
		return id
	}
	e.ID = fmt.Sprintf("E%d", len(b.list)+1)
	b.byID[key] = e.ID
	b.list = append(b.list, e)
	return e.ID
}

func (b *book) line(n *note) Evidence {
	in := &b.c.inputs[n.file.input]
	return Evidence{Input: in.Label, Source: in.Path, Line: n.line, Time: timePtr(n.at), Text: n.text}
}

// revision cites the store that holds a revision, or the entry that made it where
// no store has it.
func (b *book) revision(x *cite) Evidence {
	r := b.c.hist.At(x.idx)
	e := b.c.standsAt(x.idx, r)
	t, lo, hi := b.c.clock.At(r.Main)
	e.Revision, e.Key, e.Text = r.Main, r.Key, cutText(x.text)
	e.Time, e.Earliest, e.Latest = timePtr(t), timePtr(lo), timePtr(hi)
	return e
}

// storedRecord is the place of a revision in one store.
type storedRecord struct {
	store int // in History.Stores
	main  int64
	key   string
}

// storeCite cites what one store holds, or should hold, at a revision.
func storeCite(store int, main int64, key, format string, args ...any) *cite {
	return &cite{record: &storedRecord{store, main, key}, text: fmt.Sprintf(format, args...)}
}

// stored cites a store by itself, by its own clock.
func (b *book) stored(x *cite) Evidence {
	r := x.record
	s := b.c.hist.Stores()[r.store]
	t, lo, hi := b.c.storeClock(r.store).At(r.main)
	return Evidence{
		Input: s.Input, Source: s.Path, Revision: r.main, Key: r.key,
		Time: timePtr(t), Earliest: timePtr(lo), Latest: timePtr(hi), Text: cutText(x.text),
	}
}

// entry cites an entry of the raft log.
func (b *book) entry(x *cite) Evidence {
	n := b.c.hist.Entry(x.idx)
	e := b.c.entryPlace(n)
	e.Text = cutText(x.text)
	if n.Revision != 0 {
		e.Revision, e.Key = n.Revision, n.Key
	}
	if n.At != 0 {
		t, lo, hi := b.c.clock.At(n.At)
		e.Time, e.Earliest, e.Latest = timePtr(t), timePtr(lo), timePtr(hi)
	}
	return e
}

// standsAt is where a revision is to be found: in the first store of its list, with
// "snapshot save" files before live copies, else in the raft log, else in a dump.
func (c *Case) standsAt(idx int, r snapshot.Revision) Evidence {
	if len(r.Stores) == 0 {
		if i, ok := c.hist.EntryOfRevision(r.Main); ok {
			return c.entryPlace(c.hist.Entry(i))
		}
		if d := c.hist.DumpOf(idx); d >= 0 {
			x := c.hist.Dumps()[d]
			return Evidence{Input: x.Input, Source: x.Path}
		}
		return Evidence{}
	}
	store := r.Stores[0]
	stores := c.hist.Stores()
	for _, s := range r.Stores {
		if stores[s].Snapshot && !stores[store].Snapshot {
			store = s
		}
	}
	return Evidence{Input: stores[store].Input, Source: stores[store].Path}
}

// entryPlace is where an entry is to be found.
func (c *Case) entryPlace(e snapshot.Entry) Evidence {
	return Evidence{Input: c.hist.WAL(e.WAL).Input, Source: e.Segment, Offset: e.Offset, Index: e.Index, Term: e.Term}
}

// maxEvidenceText is how many bytes of a text are shown.
const maxEvidenceText = 400

// cutText shortens a text on a rune boundary.
func cutText(s string) string {
	if len(s) <= maxEvidenceText {
		return s
	}
	s = s[:maxEvidenceText]
	for !utf8.ValidString(s) && len(s) > 0 {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// seconds writes a duration as a reader says it: 400 ms, 1.5 s, 12 s, 3 min 20 s.
func seconds(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	d = d.Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return fmt.Sprintf("%d h %d min", h, m)
	}
	return fmt.Sprintf("%d min %d s", m, s)
}

// clockTime writes a moment as the report's sentences do.
func clockTime(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format("15:04:05.0")
}

// count writes a number with its noun: "1 pod", "3 pods".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// objectPath is "deployments/default/web", or "nodes/node-1" without a namespace.
func objectPath(resource, namespace, name string) string {
	if namespace == "" {
		return resource + "/" + name
	}
	return resource + "/" + namespace + "/" + name
}

// list joins words: "a, b and c".
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
