package main

// closest returns the candidate that a mistyped word most likely stands for, ""
// if none is near: at most a third of its letters may differ. A
// single letter is like any other.
func closest(word string, candidates []string) string {
	if len(word) < 2 {
		return ""
	}
	best, bestAt := "", max(1, len([]rune(word))/3)+1
	for _, c := range candidates {
		if d := distance(word, c); d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with a
// neighbour that make b of a (optimal string alignment).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	d := make([][]int, len(s)+1)
	for i := range d {
		d[i] = make([]int, len(t)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(s)][len(t)]
}
