package logparse

// literalSet finds which of many literals stand in a text, in one pass over it:
// the automaton of Aho and Corasick, with its transitions worked out beforehand.
// Bytes that occur in no literal share one column.
type literalSet struct {
	class [256]uint8
	width int
	next  []uint16 // [state*width + class]
	// hits are the literals that end in a state; state 0 is the root.
	hits [][]int
}

// newLiteralSet numbers the literals by their index. They must not be empty and
// together hold less than 65536 bytes.
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
				l.next[at] = uint16(n)
			}
			state = int(l.next[at])
		}
		l.hits[state] = append(l.hits[state], id)
	}
	l.link()
	return l
}

func (l *literalSet) addState() int {
	l.next = append(l.next, make([]uint16, l.width)...)
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
				l.next[at] = uint16(fallback)
				continue
			}
			suffix[child] = fallback
			l.hits[child] = append(l.hits[child], l.hits[fallback]...)
			queue = append(queue, child)
		}
	}
}
