package logparse

import (
	"os"
	"strings"
	"testing"
)

// docs/logs.md names every framing and every format.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/logs.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range framings {
		names = append(names, framings[i].name)
	}
	for _, id := range []int{framingANSI, framingPrefix, framingExport} {
		names = append(names, framingName(id))
	}
	for i := range formats {
		names = append(names, string(formats[i].name))
	}
	for _, n := range append(names, string(FormatPlain)) {
		if !strings.Contains(string(text), "`"+n+"`") {
			t.Errorf("docs/logs.md does not name %s", n)
		}
	}
}
