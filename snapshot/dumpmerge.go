package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"
	"k8s.io/apimachinery/pkg/api/meta"
)

// dumpPlace is where a dump has a revision.
type dumpPlace struct {
	main       int64
	dump, item int
}

// addDumps adds the objects of dumps to the history: those of a revision that it
// has confirm it, the others are observations between holes. A dump that stores
// and logs contradict is left out.
func (h *History) addDumps(m *merger) {
	if len(h.dumps) == 0 {
		return
	}
	known := map[string]uint32{}
	for n, name := range h.table.names {
		known[name] = uint32(n)
	}
	h.rekeyDumps(known)
	h.compareDumps(m, known)
	h.rejectDumps()
	h.insertDumps()
}

// rekeyDumps gives the objects the prefix that the keys of the stores have, where
// it is another one than the usual.
func (h *History) rekeyDumps(known map[string]uint32) {
	prefix := ""
	for _, p := range append(slices.Clone(knownPrefixes), detectPrefixes(h.table.names)...) {
		for name := range known {
			if strings.HasPrefix(name, p) {
				prefix = p
				break
			}
		}
		if prefix != "" {
			break
		}
	}
	if prefix == "" || prefix == knownPrefixes[0] {
		return
	}
	for _, d := range h.dumps {
		for i := range d.items {
			d.items[i].key = prefix + strings.TrimPrefix(d.items[i].key, knownPrefixes[0])
		}
	}
}

// compareDumps counts, for each dump, the objects that the history has at the same
// revision, and those that it would have if they were of the same cluster.
func (h *History) compareDumps(m *merger, known map[string]uint32) {
	uids := h.namespaceUIDs(m, known)
	for _, d := range h.dumps {
		for i := range d.items {
			x := &d.items[i]
			right, wrong := h.holds(m, x)
			if uid, ok := uids[x.key]; ok && uid != x.uid && x.uid != "" {
				wrong = true
			} else if ok {
				right = true
			}
			switch {
			case wrong:
				if d.wrong++; d.first == nil {
					d.first = x
				}
			case right:
				d.right++
			}
		}
	}
}

// holds says whether the history has an object at its revision, or is whole there
// and has it not.
func (h *History) holds(m *merger, x *dumpItem) (right, wrong bool) {
	i := h.after(x.main - 1)
	for ; i < len(h.revisions) && h.revisions[i].main == x.main; i++ {
		if wrong = true; sameObject(h.table.names[h.revisions[i].key], x.key) {
			x.key = h.table.names[h.revisions[i].key] // the plural was guessed
			return true, false
		}
	}
	return false, wrong || m.wholeAt(x.main, m.accepted) || h.replayedWhole(x.main)
}

// sameObject says whether two keys are of one object, where the second one's
// plural may be guessed.
func sameObject(key, guessed string) bool {
	if key == guessed {
		return true
	}
	a, okA := ParseKey(key)
	b, okB := ParseKey(guessed)
	return okA && okB && a.Group != "" && a.Group == b.Group && a.Namespace == b.Namespace && a.Name == b.Name
}

// namespaceUIDs are the UIDs of the namespaces that exist for as long as a cluster
// does, by key: dumps of another cluster have others. They are read only if there
// is a dump that has such a namespace.
func (h *History) namespaceUIDs(m *merger, known map[string]uint32) map[string]string {
	wanted, uids := map[uint32]string{}, map[string]string{}
	for _, d := range h.dumps {
		for i := range d.items {
			key := d.items[i].key
			if n, ok := known[key]; ok && (strings.HasSuffix(key, "/namespaces/kube-system") || strings.HasSuffix(key, "/namespaces/default")) {
				wanted[n] = key
			}
		}
	}
	if len(wanted) == 0 {
		return uids
	}
	for i := len(h.revisions) - 1; i >= 0 && len(wanted) > 0; i-- {
		r := &h.revisions[i]
		key, ok := wanted[r.key]
		if !ok || r.tombstone() {
			continue
		}
		if uid := h.uidOf(m, r, key); uid != "" {
			uids[key] = uid
			delete(wanted, r.key)
		}
	}
	return uids
}

// uidOf reads the UID of a record's object while stores are merged, "" if it cannot
// be read.
func (h *History) uidOf(m *merger, r *record, key string) string {
	for _, s := range m.sets.list[r.set()] {
		value, err := h.stores[s].value(r.main, int64(r.sub))
		if err != nil {
			continue
		}
		if value, err = h.secrets.Decrypt(key, value); err != nil {
			continue
		}
		if o, err := Decode(value, r.main); err == nil {
			if x, err := meta.Accessor(o); err == nil {
				return string(x.GetUID())
			}
		}
	}
	return ""
}

// rejectDumps leaves out the dumps of other clusters. Of one that cannot be
// compared the others of its input decide.
func (h *History) rejectDumps() {
	type votes struct{ right, wrong int }
	inputs := map[string]*votes{}
	for _, d := range h.dumps {
		v := inputs[d.info.Input]
		if v == nil {
			v = &votes{}
			inputs[d.info.Input] = v
		}
		v.right, v.wrong = v.right+d.right, v.wrong+d.wrong
	}
	for _, d := range h.dumps {
		v := inputs[d.info.Input]
		switch {
		case d.wrong*10 > d.right+d.wrong:
			d.reject(fmt.Sprintf("not of one history with the stores: %s at revision %d is not what they have there; it is the first of %d that differ, of %d that can be compared",
				d.first.key, d.first.main, d.wrong, d.right+d.wrong))
		case d.right+d.wrong == 0 && v.wrong > 0 && v.right == 0:
			d.reject("not of one history with the stores, as the other objects of the same input are not")
		}
	}
}

// reject leaves out all objects of a dump.
func (d *dumpFile) reject(why string) {
	d.info.Rejected, d.items = why, nil
	d.span()
}

// insertDumps inserts what the history does not have; of two dumps that have a
// revision the first one counts.
func (h *History) insertDumps() {
	var places []dumpPlace
	for n, d := range h.dumps {
		for i := range d.items {
			places = append(places, dumpPlace{d.items[i].main, n, i})
		}
	}
	slices.SortStableFunc(places, func(a, b dumpPlace) int { return cmp.Or(cmp.Compare(a.main, b.main), cmp.Compare(a.dump, b.dump)) })
	left := map[int]int{}
	kept := places[:0]
	var list []record
	for _, p := range places {
		x := &h.dumps[p.dump].items[p.item]
		if n := len(kept); n > 0 && kept[n-1].main == p.main {
			if h.item(kept[n-1]).key != x.key {
				left[p.dump]++
			}
			continue
		}
		at := h.after(x.main - 1)
		if at < len(h.revisions) && h.revisions[at].main == x.main {
			if !h.confirm(at, x) {
				left[p.dump]++
				continue
			}
		} else {
			list = append(list, record{main: x.main, size: x.size, key: h.table.share(x.key), mark: markDump})
		}
		kept = append(kept, p)
	}
	for n, count := range left {
		h.dumps[n].problem("%d of its objects are not what other evidence has at their revisions and are left out", count)
	}
	h.dumpPlaces = kept
	h.insert(list, make([]uint64, len(list)))
}

// item is the object at a place.
func (h *History) item(p dumpPlace) *dumpItem { return &h.dumps[p.dump].items[p.item] }

// confirm marks the revision, from index at on, that an object is; false if there
// is none.
func (h *History) confirm(at int, x *dumpItem) bool {
	for ; at < len(h.revisions) && h.revisions[at].main == x.main; at++ {
		if h.table.names[h.revisions[at].key] == x.key && !h.revisions[at].tombstone() {
			h.revisions[at].mark |= markDump
			return true
		}
	}
	return false
}

// dumpPlace finds the dump that has revision i.
func (h *History) dumpPlace(i int) (dumpPlace, bool) {
	r := &h.revisions[i]
	if !r.isDumped() {
		return dumpPlace{}, false
	}
	n, ok := slices.BinarySearchFunc(h.dumpPlaces, r.main, func(p dumpPlace, main int64) int { return cmp.Compare(p.main, main) })
	if !ok {
		return dumpPlace{}, false
	}
	return h.dumpPlaces[n], true
}

// dumped reads the object that a dump has of revision i, as JSON.
func (h *History) dumped(i int) ([]byte, error) {
	p, ok := h.dumpPlace(i)
	if !ok {
		return nil, fmt.Errorf("read revision %s: no store, no WAL and no dump has it", h.revisions[i].name())
	}
	return s2.Decode(nil, h.item(p).data)
}
