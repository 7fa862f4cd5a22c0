package snapshot

import "fmt"

// liveValues says where the values of keys are that a run has put so far. The
// others are in the base.
type liveValues struct {
	places map[uint32]walPlace // by key
	// kept are the revisions of the base whose values puts have kept.
	kept map[uint32]int64
}

// valueOf reads the value that a live key has while entries are applied; few
// transactions ask.
func (p *replayer) valueOf(key string, mod int64) ([]byte, error) {
	n := p.h.table.share(key)
	if w, ok := p.run.live.places[n]; ok {
		return p.raft.logs[w.log].value(w)
	}
	if main, ok := p.run.live.kept[n]; ok {
		mod = main
	}
	value, err := p.stored(n, mod)
	if err == nil {
		p.run.live.kept[n] = mod
	}
	return value, err
}

// put notes a put, and returns where its value is: its own, or one it keeps, if an
// entry has that.
func (v *liveValues) put(key uint32, w walPlace) walPlace {
	if w.offset < 0 {
		if kept, ok := v.places[key]; ok {
			w.log, w.ref, w.offset = kept.log, kept.ref, kept.offset
		}
		return w
	}
	v.places[key] = w
	return w
}

// delete notes that a key is not live any more.
func (v *liveValues) delete(key uint32) {
	delete(v.places, key)
	delete(v.kept, key)
}

// stored reads the value that a store has of a revision of a key.
func (p *replayer) stored(key uint32, main int64) ([]byte, error) {
	for i := p.h.after(main - 1); i < len(p.h.revisions) && p.h.revisions[i].main == main; i++ {
		r := &p.h.revisions[i]
		if r.key != key || r.tombstone() || r.isCarved() {
			continue
		}
		for _, s := range p.m.sets.list[r.set()] {
			if v, err := p.h.stores[s].value(r.main, int64(r.sub)); err == nil {
				return v, nil
			}
		}
	}
	return nil, fmt.Errorf("the value of revision %d of key %q is not known", main, p.h.table.names[key])
}
