package peertest

import (
	"bytes"
	"os"
	"testing"
)

// blocks are the logs that have records of several lines.
var blocks = map[string]bool{"apiserver": true}

// TestRecords sees that what is timed is the work: every line of a log is read, each
// as one record where no record has several.
func TestRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	for _, x := range logs {
		x.options.Size, x.options.Seed = 1<<20, 1
		path, lines := logFile(t, x.options)
		before, err := os.ReadFile(path)
		must(t, err)
		list := inputsOf(t, ourJob(t).run(t, path))
		if len(list) != 1 || int64(list[0].Records+list[0].SkippedLines) != lines && !blocks[x.name] {
			t.Errorf("%s: %+v of %d lines", path, list, lines)
		}
		for _, j := range peers[x.peers] {
			if j.installed() {
				j.run(t, path)
			}
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if !bytes.Equal(before, after) {
			t.Errorf("%s has changed", path)
		}
	}
}
