package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"etcd-autopsy/correlate"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func rendered(t *testing.T, a *correlate.Analysis, f Format) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, a, f, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, s := range samples {
		for _, f := range []Format{Markdown, HTML} {
			t.Run(s.name+"."+string(f), func(t *testing.T) {
				golden(t, s.name+"."+string(f), rendered(t, s.build(), f))
			})
		}
		t.Run(s.name+".txt", func(t *testing.T) { golden(t, s.name+".txt", Summary(s.build())+"\n") })
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s differs (-want +got); if that is meant, run the test with -update:\n%s", path, d)
	}
}

func TestSavedReportRendersTheSame(t *testing.T) {
	for _, s := range samples {
		saved := rendered(t, s.build(), JSON)
		a, err := ReadJSON(strings.NewReader(saved))
		if err != nil {
			t.Fatal(s.name, err)
		}
		if again := rendered(t, a, JSON); again != saved {
			t.Errorf("%s: JSON changes when it is read and written: %s", s.name, cmp.Diff(saved, again))
		}
		for _, f := range []Format{Markdown, HTML} {
			if rendered(t, a, f) != rendered(t, s.build(), f) {
				t.Errorf("%s: the saved report renders to other %s", s.name, f)
			}
		}
		if Summary(a) != Summary(s.build()) {
			t.Errorf("%s: the saved report has another summary", s.name)
		}
	}
}

func TestRenderLeavesTheAnalysisAlone(t *testing.T) {
	a := &correlate.Analysis{SchemaVersion: 1}
	rendered(t, a, JSON)
	if a.Inputs != nil || a.Coverage.Notes != nil {
		t.Error("Render filled slices of the caller's analysis")
	}
}

func TestJSONHasNoNullSlices(t *testing.T) {
	got := rendered(t, &correlate.Analysis{SchemaVersion: 1, Rollouts: []correlate.Rollout{{}}, Episodes: []correlate.Episode{{}}}, JSON)
	for _, want := range []string{`"inputs": []`, `"notes": []`, `"candidates": []`, `"stalls": []`, `"findings": []`, `"members": []`, `"affectedRollouts": []`, `"terms": []`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}

func TestJSONKeepsSigns(t *testing.T) {
	a := &correlate.Analysis{SchemaVersion: 1, Verdict: correlate.Verdict{Text: "a < b && c"}}
	if got := rendered(t, a, JSON); !strings.Contains(got, "a < b && c") {
		t.Errorf("JSON escapes signs of HTML: %s", got)
	}
}

func TestReadJSONRefuses(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"no report", `{"items":[]}`, "no schemaVersion"},
		{"version 0", `{"schemaVersion":0}`, "no schemaVersion"},
		{"later", `{"schemaVersion":2,"verdict":7}`, "schema version 2; this version reads up to 1"},
		{"cut", `{"schemaVersion":1,`, "unexpected end"},
		{"two", `{"schemaVersion":1}{}`, "after top-level value"},
		{"empty", ``, "unexpected end"},
	} {
		_, err := ReadJSON(strings.NewReader(tc.in))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one with %q", tc.name, err, tc.want)
		}
	}
	if _, err := ReadJSON(strings.NewReader(`{}`)); !errors.Is(err, ErrNoReport) {
		t.Errorf("got %v, want ErrNoReport", err)
	}
}

func TestFormatOf(t *testing.T) {
	for in, want := range map[string]Format{"a.md": Markdown, "a.Markdown": Markdown, "x/y.HTML": HTML, "a.htm": HTML, "r.json": JSON, "a.txt": "", "html": "", "-": ""} {
		if got, ok := FormatOf(in); got != want || ok != (want != "") {
			t.Errorf("FormatOf(%q) = %q, %v", in, got, ok)
		}
	}
}

func TestRenderUnknownFormat(t *testing.T) {
	err := Render(&bytes.Buffer{}, imagePull(), "yaml", Options{})
	if err == nil || !strings.Contains(err.Error(), `"yaml"`) {
		t.Errorf("got %v", err)
	}
}

func TestRenderInAnotherZone(t *testing.T) {
	var b bytes.Buffer
	if err := Render(&b, imagePull(), Markdown, Options{Location: time.FixedZone("CST", 8*3600)}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"05:10:07–05:11:10 UTC+08:00", "times are UTC+08:00 on 2026-09-15"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestSummaryIsShort(t *testing.T) {
	for _, s := range samples {
		if n := strings.Count(Summary(s.build()), "\n") + 1; n < 3 || n > 6 {
			t.Errorf("%s: %d lines", s.name, n)
		}
	}
}
