package correlate

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"etcd-autopsy/fixtures"
	"etcd-autopsy/fixtures/bundle"
	"etcd-autopsy/snapshot"
)

// gist is what an analysis concludes, in words that do not depend on where the
// evidence lay.
func gist(a *Analysis) string {
	var b strings.Builder
	say := func(v *string) string {
		if v == nil {
			return "-"
		}
		return *v
	}
	stage := 0
	if a.Verdict.Stage != nil {
		stage = *a.Verdict.Stage
	}
	fmt.Fprintf(&b, "verdict %s stage %d cause %s %s\n", say(a.Verdict.Rollout), stage, say(a.Verdict.Cause), a.Verdict.Confidence)
	for _, r := range a.Rollouts {
		fmt.Fprintf(&b, "%s %s\n", r.ID, r.Outcome)
		for _, s := range r.Stages {
			fmt.Fprintf(&b, "  stage %d %s\n", s.Number, s.State)
		}
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "  %s %s %s %s\n", f.Role, f.Cause, f.Confidence, f.Rule)
		}
	}
	for _, e := range a.Episodes {
		fmt.Fprintf(&b, "episode %s %v harmless %v\n", e.Kind, e.Members, e.Harmless)
	}
	for _, w := range a.Writes {
		fmt.Fprintf(&b, "write %s %s %d %s\n", w.Verb, w.Object, w.Code, w.Fate)
	}
	return b.String()
}

// A recording in any layout leads to the same conclusions as its plain folder, and the
// layouts with marks are known.
func TestLayoutsJudgeAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("reads recordings many times")
	}
	for _, recording := range []string{"bad-image", "kcm-down", "hiccup-not-guilty", "update-landed-late"} {
		src, err := fixtures.Extract(recording, t.TempDir())
		noErr(t, err)
		want := gist(analyzeDir(t, src))
		for _, name := range slices.Sorted(maps.Keys(bundle.Layouts)) {
			t.Run(recording+"/"+name, func(t *testing.T) {
				dst := t.TempDir()
				noErr(t, bundle.Repack(name, src, dst))
				a := analyzeDir(t, dst)
				if got := gist(a); got != want {
					t.Errorf("concludes otherwise: %s", firstDifference(got, want))
				}
				if recording == "bad-image" {
					for _, form := range slices.Sorted(maps.Keys(archiveForms)) {
						if strings.HasPrefix(form, "x.") {
							packedAlike(t, dst, form, want)
						}
					}
				}
				mark := bundle.Layouts[name].Name
				if mark != "" && !slices.ContainsFunc(a.Inputs, func(in Input) bool { return in.Layout == mark }) {
					t.Errorf("not known as %q", mark)
				}
			})
		}
	}
}

// packedAlike packs a bundle and judges it.
func packedAlike(t *testing.T, dir, form, want string) {
	t.Helper()
	p := filepath.Join(t.TempDir(), form)
	out, err := os.Create(p)
	noErr(t, err)
	archiveForms[form](t, dir, out)
	noErr(t, out.Close())
	if got := gist(analyzeDir(t, p)); got != want {
		t.Errorf("as %s concludes otherwise: %s", form, firstDifference(got, want))
	}
}

// saveObjects writes the newest version of every object of a store as kubectl does,
// a file for each resource.
func saveObjects(t *testing.T, store, dir string) {
	t.Helper()
	h, err := snapshot.Load(t.Context(), []snapshot.File{{Input: "x", Path: "x.db", OSPath: store}}, snapshot.Options{})
	noErr(t, err)
	defer func() { noErr(t, h.Close()) }()
	noErr(t, os.MkdirAll(dir, 0o755))
	for _, resource := range h.Resources() {
		list := map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}}
		items := []any{}
		for _, key := range h.KeysOf(resource) {
			all := h.Key(key)
			i := all[len(all)-1]
			if u, err := h.Unstructured(i); err == nil && u.GetName() != "" {
				items = append(items, u.Object)
			}
		}
		list["items"] = items
		b, err := json.Marshal(list)
		noErr(t, err)
		noErr(t, os.WriteFile(filepath.Join(dir, resource+".json"), b, 0o644))
	}
}

// Objects and logs alone, and stores alone, lead to the same cause as everything or to
// none: less is known, nothing is known otherwise.
func TestLessEvidenceIsNotWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("reads recordings several times")
	}
	named := 0
	for _, recording := range fixtures.Names() {
		src, err := fixtures.Extract(recording, t.TempDir())
		noErr(t, err)
		want := analyzeDir(t, src).Verdict
		objects := filepath.Join(t.TempDir(), "objects")
		saveObjects(t, filepath.Join(src, "after.db"), objects)
		for name, inputs := range map[string][]string{
			"objects and logs": {objects, filepath.Join(src, "logs")}, "objects": {objects}, "stores": {filepath.Join(src, "after.db"), filepath.Join(src, "before.db")},
		} {
			got := analyzeDir(t, inputs...).Verdict
			switch {
			case got.Cause == nil || *got.Cause == "none" || got.Confidence == Possible:
			case want.Cause == nil || *got.Cause != *want.Cause:
				t.Errorf("%s, %s: %s, with everything %v", recording, name, got.Text, want.Text)
			default:
				named++
			}
		}
	}
	if named < 4 {
		t.Errorf("a cause was named %d times: the objects tell nothing", named)
	}
}
