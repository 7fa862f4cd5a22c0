package correlate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"etcd-autopsy/fixtures"
)

// timelineOf lists the records of a folder of logs, without where they lie.
func timelineOf(t *testing.T, files map[string]string) []string {
	t.Helper()
	c := openLogs(t, files)
	var out []string
	for row := range c.Timeline(context.Background(), true) {
		row.Source, row.Line, row.Input = "", 0, ""
		b, err := json.Marshal(row)
		noErr(t, err)
		out = append(out, string(b))
	}
	return out
}

// A log that was rotated, at whatever line, is read as the whole one.
func TestSplitAnywhere(t *testing.T) {
	src, err := fixtures.Extract("bad-image", t.TempDir())
	noErr(t, err)
	for _, name := range []string{"etcd-1.log", "kubelet.log", "kube-apiserver-1.log", "audit-1.log"} {
		data, err := os.ReadFile(filepath.Join(src, "logs", name))
		noErr(t, err)
		lines := strings.SplitAfter(string(data), "\n")
		lines = lines[:min(len(lines), 400)]
		whole := strings.Join(lines, "")
		want := timelineOf(t, map[string]string{name: whole})
		for _, n := range []int{1, 7, len(lines) / 3, len(lines) / 2, len(lines) - 2} {
			for n < len(lines)-1 && continues(lines[n]) {
				n++ // not within a record of several lines
			}
			got := timelineOf(t, map[string]string{name + ".1": strings.Join(lines[:n], ""), name: strings.Join(lines[n:], "")})
			if len(got) != len(want) {
				t.Errorf("%s cut at line %d: %d records, want %d", name, n, len(got), len(want))
				continue
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s cut at line %d: record %d is %.300s\nwant %.300s", name, n, i, got[i], want[i])
					break
				}
			}
		}
	}
}

// continues says whether a line is not the first of its record.
func continues(line string) bool {
	return line != "" && !strings.ContainsAny(line[:1], "IWEF{") || fmt.Sprintf("%.5s", line) == "Trace"
}
