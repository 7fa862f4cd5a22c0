package template

import "strings"

// badWords are what a message says of itself where its format has no levels.
var badWords = []string{
	"error", "fail", "fatal", "panic", "timeout", "timed out", "refused", "denied", "unable to", "cannot", "could not", "exceeded",
	"unreachable", "corrupt", "no such", "not found", "unavailable", "killed",
}

// maxSearched is how much of a message is searched for them, in bytes.
const maxSearched = 1 << 10

// soundsBad says whether a message tells of a failure.
func soundsBad(message string) bool {
	text := strings.ToLower(message[:min(len(message), maxSearched)])
	for _, w := range badWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
