package logparse

import "strings"

// What a Go program prints when it dies, or when it is asked for its stacks
// (runtime/traceback.go): a head, and then every goroutine with its frames, each
// two lines. Lines of its log, written by other threads, may stand in between.

// panicHeads begin such a block.
var panicHeads = []string{"panic: ", "fatal error: ", "SIGQUIT: quit", "SIGABRT: abort", "PC="}

func claimsPanic(text string) bool {
	for _, h := range panicHeads {
		if strings.HasPrefix(text, h) {
			return true
		}
	}
	return isGoroutine(text)
}

// isGoroutine knows "goroutine 12 [running, 3 minutes]:".
func isGoroutine(text string) bool {
	rest, ok := strings.CutPrefix(text, "goroutine ")
	if !ok {
		return false
	}
	id, rest, ok := strings.Cut(rest, " ")
	return ok && id != "" && allDigits(id) && strings.HasPrefix(rest, "[")
}

func readPanic(s *stream, r *row, rec *Record) {
	rec.Level = LevelFatal
	if isGoroutine(r.text) {
		rec.Level = LevelUnknown // stacks alone may have been asked for
	}
	rec.Message = r.text
	rec.Component = s.componentOf(r)
	rec.Time, rec.Inferred = s.frameTime(r)
}

func finishPanic(*stream, *Record) {}

// isStackLine says whether a line can be part of a stack: blank, a function with
// its arguments, a file with its line behind a tab, and what stands between.
func isStackLine(text string) bool {
	switch {
	case text == "", isGoroutine(text), strings.HasPrefix(text, "created by "), strings.HasPrefix(text, "[signal "),
		strings.HasPrefix(text, "...additional frames elided..."), strings.HasPrefix(text, "exit status "):
		return true
	case text[0] == '\t':
		return strings.Contains(text, ".go:") || strings.Contains(text, ".s:")
	}
	return strings.HasSuffix(text, ")") && strings.Contains(text, "(") && !strings.Contains(text[:strings.IndexByte(text, '(')], " ")
}
