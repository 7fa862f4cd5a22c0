package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// rejectStrange leaves out the logs that cannot be of one history with longer ones.
// A cluster that was restored from a snapshot, or forced to begin anew with one
// member, can have the IDs of the one before it.
func rejectStrange(logs []*memberLog) {
	order := slices.Clone(logs)
	slices.SortStableFunc(order, func(a, b *memberLog) int { return cmp.Compare(len(b.valid), len(a.valid)) })
	for i, l := range order {
		for _, longer := range order[:i] {
			if index, why := l.contradicts(longer); why != "" && longer.info.Rejected == "" {
				l.reject(fmt.Sprintf("not of one history with %s: entry %d %s", longer.name(), index, why))
				break
			}
		}
	}
}

// samples is how many entries that two logs have are compared.
const samples = 16

// contradicts looks for an entry that shows that two logs are of two histories:
// both say that it is committed, and are of different terms; or both have one of
// equal index and term, and other data in it. why is "" if there is none.
func (l *memberLog) contradicts(other *memberLog) (index uint64, why string) {
	var common [][2]int32
	for a, b := 0, 0; a < len(l.valid) && b < len(other.valid); {
		x, y := l.refAt(a), other.refAt(b)
		switch {
		case x.Index < y.Index:
			a++
			continue
		case x.Index > y.Index:
			b++
			continue
		case x.Term == y.Term:
			common = append(common, [2]int32{l.valid[a], other.valid[b]})
		case x.Index <= l.log.Commit && x.Index <= other.log.Commit:
			return x.Index, fmt.Sprintf("is of term %d here and of term %d there", x.Term, y.Term)
		}
		a++
		b++
	}
	for i := range samples {
		if len(common) == 0 {
			break
		}
		at := common[(len(common)-1)*(samples-1-i)/(samples-1)]
		if !l.sameData(other, at) {
			return l.ref(at[0]).Index, "is another request there"
		}
	}
	return 0, ""
}

// sameData compares the data of an entry that two logs have. What cannot be read
// any more is not compared.
func (l *memberLog) sameData(other *memberLog, at [2]int32) bool {
	a, errA := l.log.Data(int(at[0]))
	b, errB := other.log.Data(int(at[1]))
	return errA != nil || errB != nil || bytes.Equal(a, b)
}
