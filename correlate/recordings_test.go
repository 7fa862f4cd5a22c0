package correlate

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"etcd-autopsy/fixtures"
	"etcd-autopsy/internal/source"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRecordings holds the analysis of every shipped recording against the truth
// that was recorded with it.
func TestRecordings(t *testing.T) {
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := fixtures.Unpack(t, name)
			a := analyzeDir(t, rec.Dir)
			checkCitations(t, a)
			checkTruth(t, a, rec.Truth)
			golden(t, name, digest(a))
		})
	}
}

// checkTruth compares stage, cause, write and times.
func checkTruth(t *testing.T, a *Analysis, truth fixtures.Truth) {
	t.Helper()
	r := last(t, a)
	if got, want := show(r.StalledStage), show(truth.Verdict.StalledStage); got != want {
		t.Errorf("stalled stage %s, truth %s", got, want)
	}
	if c := a.Verdict.Cause; c == nil || *c != truth.Verdict.Fault {
		t.Errorf("cause %s, truth %s", show(c), truth.Verdict.Fault)
	}
	if w := truth.Verdict.Write; w != nil {
		i := slices.IndexFunc(a.Writes, func(x Write) bool { return strings.HasPrefix(x.Object, "deployments/") })
		if i < 0 || string(a.Writes[i].Fate) != w.Fate || fmt.Sprint(a.Writes[i].Code) != w.Code {
			t.Errorf("writes %+v, truth: %s answered, %s", a.Writes, w.Code, w.Fate)
		}
	}
	for i, want := range truth.Rollouts {
		for n := stageUpdate; n <= stageConverge; n++ {
			got := a.Rollouts[i].Stages[n-1].Reached
			switch at := want.Stages[n]; {
			case at.IsZero() != (got == nil):
				t.Errorf("rollout %d stage %d reached %v, truth %v", i+1, n, got, at)
			case got != nil && got.Sub(at.Time).Abs() > 2*time.Second:
				t.Errorf("rollout %d stage %d reached %v, truth %v", i+1, n, got, at)
			}
		}
	}
}

// TestRecordedRevisions: the merged history has every revision that a watch saw, no
// other, and the interval of each holds the moment it was seen.
func TestRecordedRevisions(t *testing.T) {
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := fixtures.Unpack(t, name)
			c := loadDir(t, rec.Dir)
			var got []string
			rows := map[int64]RevisionRow{}
			for r := range c.Revisions() {
				got = append(got, fmt.Sprintf("%d %s %s", r.Revision, r.Type, r.Key))
				rows[r.Revision] = r
			}
			var want []string
			outside := 0
			for _, r := range rec.Truth.Revisions {
				if r.Revision > rec.Truth.StoredRevision {
					continue
				}
				want = append(want, fmt.Sprintf("%d %s %s", r.Revision, r.Type, r.Key))
				row := rows[r.Revision]
				const slack = 250 * time.Millisecond // a watch sees a write a little later
				if row.Earliest != nil && row.Earliest.After(r.Seen.Add(slack)) || row.Latest != nil && row.Latest.Before(r.Seen.Add(-slack)) {
					outside++
				}
			}
			got = got[:min(len(got), len(want))]
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("history differs from what was watched (-watched +read):\n%s", d)
			}
			if outside > 0 {
				t.Errorf("%d of %d revisions were seen outside of their intervals", outside, len(want))
			}
		})
	}
}

// TestOrderOfInputs: the files of a recording named one by one, in any order, give
// the same bytes.
func TestOrderOfInputs(t *testing.T) {
	rec := fixtures.Unpack(t, "update-landed-late")
	var files []string
	err := filepath.WalkDir(rec.Dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	first := marshal(t, analyzeDir(t, files...))
	slices.Reverse(files)
	if second := marshal(t, analyzeDir(t, files...)); !bytes.Equal(first, second) {
		t.Errorf("the order of the inputs changes the analysis:\n%s", cmp.Diff(string(first), string(second)))
	}
}

func marshal(t *testing.T, a *Analysis) []byte {
	t.Helper()
	b, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func loadDir(t *testing.T, inputs ...string) *Case {
	t.Helper()
	set, err := source.Open(context.Background(), inputs, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(context.Background(), set, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// digest is an analysis in few words, so that a change of judgement shows in a diff.
func digest(a *Analysis) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("%s", a.Verdict.Text)
	p("verdict: stage %s, cause %s, %s", show(a.Verdict.Stage), show(a.Verdict.Cause), a.Verdict.Confidence)
	for _, n := range a.Coverage.Notes {
		p("not seen: %s", n)
	}
	for _, r := range a.Rollouts {
		p("\nrollout %s: %s, %s by %s", r.ID, r.Outcome, r.Trigger.Change, r.Trigger.Actor)
		for _, s := range r.Stages {
			p("  stage %d %s: %s, %d of %d, revisions %s to %s", s.Number, s.Name, s.State, s.Through, s.Desired, show(s.FirstRevision), show(s.LastRevision))
		}
		for _, s := range r.Stalls {
			p("  stall in stage %d of %s, recovered %v: %s %s", s.Stage, s.Object, s.Recovered, show(s.Cause), s.Confidence)
		}
		for _, f := range r.Findings {
			p("  %s %s %s: %s %v", f.Role, f.Cause, f.Confidence, f.Text, f.Evidence)
		}
	}
	p("")
	for _, e := range a.Episodes {
		p("episode %s %s, harmless %v (%s): %s %v", e.ID, e.Kind, e.Harmless, e.Because, e.Text, e.Evidence)
	}
	for _, w := range a.Writes {
		p("write %s %s by %s: %d %s, %s at %s, ×%d", w.Verb, w.Object, w.User, w.Code, w.Answer, w.Fate, show(w.Revision), w.Repeats+1)
	}
	p("")
	for _, e := range a.Evidence {
		p("%s %s:%d%s@%d %s", e.ID, e.Source, e.Line, e.Key, e.Revision, e.Text)
	}
	return b.String()
}

// show prints what a pointer points to, "none" for nil.
func show[T any](p *T) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprint(*p)
}

// golden compares with testdata/NAME.golden, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("judgement differs from %s (-want +got):\n%s", path, d)
	}
}

// TestTwoClusters: stores that contradict each other allow no claim beyond possible.
func TestTwoClusters(t *testing.T) {
	a := analyzeDir(t, fixtures.Unpack(t, "bad-image").Dir, fixtures.Unpack(t, "kcm-down").Dir)
	if !strings.Contains(a.Verdict.Text, "contradict each other") {
		t.Errorf("verdict does not warn: %s", a.Verdict.Text)
	}
	for _, r := range a.Rollouts {
		for _, f := range r.Findings {
			if f.Confidence == Proven || f.Confidence == Likely {
				t.Errorf("%s is %s though the stores contradict each other", f.Cause, f.Confidence)
			}
		}
	}
}
