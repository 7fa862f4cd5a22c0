package revclock

import (
	"sort"
	"time"
)

// outlierSlack is how far a stamp may be out of order before it contradicts
// others: a write that was asked for in an outage is stored when it ends.
const outlierSlack = 3 * time.Minute

// Stamps before the first Kubernetes and after this program's life are no times.
const firstYear, lastYear = 2014, 2200

// dropOutliers drops the stamps that most others contradict. Times must not fall as
// revisions rise: the largest set of stamps that agree on that is taken for true,
// and what lies further from it than outlierSlack is not used. One clock that
// jumped, or one object with a made-up time, then moves nothing.
func (k *Clock) dropOutliers(joined, stamps []stamp) (a, b []stamp) {
	var dated []stamp
	for _, s := range append(append([]stamp{}, joined...), stamps...) {
		if (s.tight || s.soft || s.answered) && plausible(s.at) {
			dated = append(dated, s)
		}
	}
	sort.SliceStable(dated, func(i, j int) bool { return dated[i].rev < dated[j].rev })
	chain := longestRise(dated)
	keep := func(all []stamp) []stamp {
		var out []stamp
		for _, s := range all {
			if plausible(s.at) && !contradicted(s, chain) {
				out = append(out, s)
			} else {
				k.outliers++
			}
		}
		return out
	}
	return keep(joined), keep(stamps)
}

func plausible(t time.Time) bool { return t.Year() >= firstYear && t.Year() <= lastYear }

// contradicted says whether a stamp is later than what was stored after it, or, if
// it was taken just before its write, earlier than what was stored before it.
func contradicted(s stamp, chain []stamp) bool {
	next := sort.Search(len(chain), func(i int) bool { return chain[i].rev >= s.rev })
	if next < len(chain) && s.at.Sub(chain[next].at) > outlierSlack {
		return true
	}
	return next > 0 && (s.tight || s.answered) && chain[next-1].at.Sub(s.at) > outlierSlack
}

// longestRise is a longest subsequence of stamps, in order of revision, whose times
// do not fall (patience sorting).
func longestRise(dated []stamp) []stamp {
	var tails []int
	before := make([]int, len(dated))
	for i, s := range dated {
		n := sort.Search(len(tails), func(n int) bool { return dated[tails[n]].at.After(s.at) })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([]stamp, len(tails))
	for n, i := len(tails)-1, tails[len(tails)-1]; i >= 0; n, i = n-1, before[i] {
		out[n] = dated[i]
	}
	return out
}
