package logparse

// literalSet finds which of many literals stand in a text, in one pass over it:
// the automaton of Aho and Corasick, with its transitions worked out beforehand.
// Bytes that occur in no literal share one column.
type literalSet struct {
	class [256]uint8
	width int
	// next holds the transitions, width to a state: where the row of the next
	// state begins, with the bit literalEnds if literals end there.
	next []uint32
	// hits are the literals that end in a state; state 0 is the root.
	hits [][]int
}

const literalEnds = 1 << 31

// newLiteralSet numbers the literals by their index. They must not be empty.
func newLiteralSet(words []string) *literalSet {
	l := &literalSet{width: 1}
	for _, w := range words {
		for i := range len(w) {
			if l.class[w[i]] == 0 {
				l.class[w[i]] = uint8(l.width)
				l.width++
			}
		}
	}
	l.addState()
	for id, w := range words {
		state := 0
		for i := range len(w) {
			at := state*l.width + int(l.class[w[i]])
			if l.next[at] == 0 {
				n := l.addState()
				l.next[at] = uint32(n)
			}
			state = int(l.next[at])
		}
		l.hits[state] = append(l.hits[state], id)
	}
	l.link()
	for i, state := range l.next {
		l.next[i] = state * uint32(l.width)
		if len(l.hits[state]) > 0 {
			l.next[i] |= literalEnds
		}
	}
	return l
}

func (l *literalSet) addState() int {
	l.next = append(l.next, make([]uint32, l.width)...)
	l.hits = append(l.hits, nil)
	return len(l.hits) - 1
}

// link fills the missing transitions, level by level, with those of the longest
// proper suffix that is a state.
func (l *literalSet) link() {
	suffix := make([]int, len(l.hits))
	queue := []int{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for c := range l.width {
			at := state*l.width + c
			child := int(l.next[at])
			fallback := 0
			if state != 0 {
				fallback = int(l.next[suffix[state]*l.width+c])
			}
			if child == 0 {
				l.next[at] = uint32(fallback)
				continue
			}
			suffix[child] = fallback
			l.hits[child] = append(l.hits[child], l.hits[fallback]...)
			queue = append(queue, child)
		}
	}
}

// step goes one byte further from the row of a state. It returns the row of the
// next state and the literals that end there.
func (l *literalSet) step(row uint32, c byte) (uint32, []int) {
	x := l.next[row+uint32(l.class[c])]
	if x < literalEnds {
		return x, nil
	}
	x -= literalEnds
	return x, l.hits[int(x)/l.width]
}
