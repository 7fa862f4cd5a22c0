package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// tolerable says whether a store that differs in some revisions is merged all
// the same: a damaged one, if it is the damage that differs and not its history.
func (m *merger) tolerable(i, shared, differ int) bool {
	return m.stores[i].spoilt() == 2 && differ*10 <= shared
}

// tolerate makes the conflicts of a damaged store, which were noted last,
// contradictions: the store is merged without those records.
func (m *merger) tolerate(i, differ int) {
	s := m.stores[i]
	from := len(m.conflicts) - min(differ, maxConflicts)
	for _, c := range m.conflicts[from:] {
		x := Contradiction{Main: c.Main, Sub: c.Sub, Key: cmp.Or(c.OtherKey, c.Key), Store: i, Other: c.StoreA, OtherOffset: -1, Reachable: true}
		if x.Key != c.Key {
			x.OtherKey = c.Key
		}
		if p := s.find(c.Main, c.Sub); p != nil {
			x.Offset = p.offset
		}
		s.contradictions = append(s.contradictions, x)
	}
	first := m.conflicts[from]
	m.conflicts = m.conflicts[:from]
	s.problem("%d revisions have other bytes than in other stores and are left out of this one (the first is %s, key %q)",
		differ, revisionName(first.Main, first.Sub), first.Key)
}

// kin says whether a store that has no revision in common with those that are
// merged can be of their cluster: the lifetimes that one knows of must begin
// where the other says, and if none of them can be compared, some member must
// be known to both.
func (m *merger) kin(i int) bool {
	if len(m.accepted) == 0 {
		return true
	}
	s := m.stores[i]
	if s.info.EventsOnly != m.stores[m.accepted[0]].info.EventsOnly {
		s.info.Rejected = "not of one history with the other stores: it has no revision in common with them, and only one of the two holds nothing but k8s Events"
		return false
	}
	here := recordList{len(s.records), func(n int) *record { return &s.records[n] }, func(n int) string { return s.keyOf(&s.records[n]) }}
	there := recordList{len(m.list), m.record, m.keyOf}
	one := begins(here, there, func(main int64) bool { return m.wholeAt(main, m.accepted) })
	two := begins(there, here, func(main int64) bool { return m.wholeAt(main, []int{i}) })
	for _, o := range []origins{one, two} {
		if o.wrong != nil {
			s.info.Rejected = fmt.Sprintf("not of one history with the other stores: it has no revision in common with them, and key %q, which one of them says began at revision %d, did not begin there in the other", o.key, o.wrong.create)
			return false
		}
	}
	if one.right || two.right || m.sharesMember(i) {
		return true
	}
	s.info.Rejected = "not of one cluster with the other stores: it has no revision, no lifetime and no member in common with them"
	return false
}

// origins is what one history says of where lifetimes of another began: right if
// one began there, wrong is the first that did not.
type origins struct {
	right bool
	wrong *record
	key   string // of wrong
}

// recordList is a list of records in order, with their keys.
type recordList struct {
	len int
	at  func(int) *record
	key func(int) string
}

// begins looks up the beginnings of the lifetimes of records among others, where
// those are whole.
func begins(of, among recordList, whole func(main int64) bool) (o origins) {
	for i := range of.len {
		r := of.at(i)
		if r.tombstone() || !whole(r.create) {
			continue
		}
		key := of.key(i)
		at := sort.Search(among.len, func(k int) bool { return among.at(k).main >= r.create })
		for at < among.len && among.at(at).main == r.create && (among.at(at).version != 1 || among.key(at) != key) {
			at++
		}
		if at == among.len || among.at(at).main != r.create {
			o.wrong, o.key = r, key
			return o
		}
		o.right = true
	}
	return o
}

// wholeAt says whether one of the stores has a revision in its complete range.
func (m *merger) wholeAt(main int64, stores []int) bool {
	for _, i := range stores {
		if above, last := m.stores[i].coverage(); main > above && main <= last {
			return true
		}
	}
	return false
}

// sharesMember says whether a store can be of one cluster with the merged ones
// by what they say of members; those that say nothing exclude nothing.
func (m *merger) sharesMember(i int) bool {
	mine := m.stores[i].info.memberIDs()
	for _, k := range m.accepted {
		theirs := m.stores[k].info.memberIDs()
		if len(mine) == 0 || len(theirs) == 0 || meet(mine, theirs) {
			return true
		}
	}
	return false
}

// memberIDs are the members that a store knows of, also those that were removed.
func (s *Store) memberIDs() []string {
	ids := slices.Clone(s.RemovedMembers)
	for _, m := range s.Members {
		ids = append(ids, m.ID)
	}
	return ids
}

// meet says whether two lists have an element in common.
func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
