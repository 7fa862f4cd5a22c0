package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "etcd-autopsy"

// layer is a package, which of our own packages it may import, and why no more.
type layer struct {
	pkg    string
	may    []string
	reason string
}

// layers has every package; one that is not listed may not exist.
var layers = []layer{
	{"cmd/etcd-autopsy", []string{"report", "correlate", "logparse", "snapshot", "internal/source"}, "wiring sees everything but the fixtures"},
	{"report", []string{"correlate", "logparse", "snapshot"}, "a report is made of an analysis, never of inputs"},
	{"correlate/revclock", []string{"snapshot", "logparse"}, "the clock knows stamps and requests, no judgement"},
	{"correlate/fate", []string{"snapshot"}, "a fate is what store and raft log show, not what a log claims"},
	{"correlate", []string{"correlate/revclock", "correlate/fate", "snapshot", "snapshot/dump", "logparse", "logparse/template", "internal/source"}, "judgement knows the readers, not how it is shown"},
	{"snapshot", []string{"snapshot/dump", "snapshot/replay", "snapshot/wal"}, "a store is read without knowing logs, inputs or verdicts"},
	{"snapshot/wal", nil, "segments are read without knowing what entries do"},
	{"snapshot/replay", nil, "entries are applied without knowing the files they are from"},
	{"snapshot/dump", nil, "saved objects are read without knowing where they are stored"},
	{"logparse/template", []string{"logparse"}, "messages are grouped without knowing what they mean"},
	{"logparse", nil, "a log is read without knowing stores, inputs or verdicts"},
	{"logparse/peertest", nil, "the program and its peers are run, not imported"},
	{"internal/source", nil, "a stream knows nothing of what it holds"},
	{"fixtures", nil, "recordings are made outside of the program they test"},
	{"fixtures/bundle", nil, "evidence is repacked without the program that reads it"},
	{"fixtures/world", nil, "made-up clusters are built without the program they test"},
	{"fixtures/bigstore", []string{"fixtures/world"}, "a large store is made without the program it tests"},
	{"fixtures/biglog", []string{"fixtures"}, "a large log is made without the program it tests"},
	{"fixtures/cmd/unpack", []string{"fixtures"}, "a command of the fixtures"},
	{"fixtures/cmd/bigstore", []string{"fixtures/bigstore"}, "a command of the fixtures"},
	{"fixtures/cmd/biglog", []string{"fixtures/biglog", "fixtures/bigstore"}, "a command of the fixtures"},
}

// testMay are imports that only the tests of a package may have besides its own.
var testMay = map[string][]string{
	"": {"fixtures", "fixtures/bundle", "fixtures/world", "fixtures/bigstore", "fixtures/biglog"},
	// The readers' tests may open recordings the way the program does.
	"snapshot":          {"internal/source"},
	"logparse":          {"internal/source"},
	"logparse/peertest": {"logparse"},
}

// heavy says where the large dependencies may be imported.
var heavy = []struct {
	prefix string
	in     []string
	reason string
}{
	{"github.com/urfave/cli", []string{"cmd/etcd-autopsy"}, "flags are the command line's business"},
	{"github.com/vbauerster/mpb", []string{"cmd/etcd-autopsy"}, "only the command line draws"},
	{"golang.org/x/term", []string{"cmd/etcd-autopsy"}, "only the command line knows of terminals"},
	{"go.etcd.io/", []string{"snapshot", "snapshot/replay", "snapshot/wal", "fixtures/world", "fixtures/bigstore"}, "etcd's formats are read in one place"},
	{"k8s.io/utils", []string{"snapshot/replay"}, "only the live keys need an ordered set"},
	{"html/template", []string{"report"}, "HTML is made in one place"},
}

// pkgInfo is what go list says of a package.
type pkgInfo struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// violations checks packages against the tables.
func violations(pkgs []pkgInfo) []string {
	var out []string
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		i := slices.IndexFunc(layers, func(l layer) bool { return l.pkg == name })
		if i < 0 {
			out = append(out, fmt.Sprintf("%s has no place in the layers", name))
			continue
		}
		for _, imp := range p.Imports {
			out = append(out, ownViolation(name, imp, layers[i].may, layers[i].reason)...)
			out = append(out, heavyViolation(name, imp)...)
		}
		may := slices.Concat(layers[i].may, testMay[""], testMay[name], []string{name})
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			out = append(out, ownViolation(name+" (test)", imp, may, layers[i].reason)...)
		}
	}
	return out
}

func ownViolation(name, imp string, may []string, reason string) []string {
	own, ok := strings.CutPrefix(imp, module+"/")
	if !ok || slices.Contains(may, own) {
		return nil
	}
	return []string{fmt.Sprintf("%s imports %s: %s", name, own, reason)}
}

func heavyViolation(name, imp string) []string {
	for _, h := range heavy {
		if strings.HasPrefix(imp, h.prefix) && !slices.Contains(h.in, name) {
			return []string{fmt.Sprintf("%s imports %s: %s", name, imp, h.reason)}
		}
	}
	return nil
}

func TestLayers(t *testing.T) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"/...")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var pkgs []pkgInfo
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkgInfo
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < len(layers) {
		t.Errorf("go list found %d packages, the table has %d", len(pkgs), len(layers))
	}
	for _, v := range violations(pkgs) {
		t.Error(v)
	}
}

func TestViolationsAreFound(t *testing.T) {
	own := func(p string) string { return module + "/" + p }
	tests := []struct {
		name string
		pkg  pkgInfo
		want string // "" for none
	}{
		{"allowed arrow", pkgInfo{ImportPath: own("report"), Imports: []string{"fmt", own("correlate")}}, ""},
		{"reader to reader", pkgInfo{ImportPath: own("snapshot"), Imports: []string{own("logparse")}}, "snapshot imports logparse"},
		{"upwards", pkgInfo{ImportPath: own("correlate"), Imports: []string{own("report")}}, "correlate imports report"},
		{"reader to source", pkgInfo{ImportPath: own("logparse"), Imports: []string{own("internal/source")}}, "logparse imports internal/source"},
		{"the same in a test", pkgInfo{ImportPath: own("logparse"), XTestImports: []string{own("internal/source")}}, ""},
		{"upwards in a test", pkgInfo{ImportPath: own("logparse"), TestImports: []string{own("correlate")}}, "logparse (test) imports correlate"},
		{"report to source", pkgInfo{ImportPath: own("report"), Imports: []string{own("internal/source")}}, "report imports internal/source"},
		{"source to anything", pkgInfo{ImportPath: own("internal/source"), Imports: []string{own("snapshot")}}, "internal/source imports snapshot"},
		{"fixtures outside of tests", pkgInfo{ImportPath: own("correlate"), Imports: []string{own("fixtures")}}, "correlate imports fixtures"},
		{"fixtures in a test", pkgInfo{ImportPath: own("correlate"), TestImports: []string{own("fixtures")}}, ""},
		{"own package from an outer test", pkgInfo{ImportPath: own("correlate"), XTestImports: []string{own("correlate")}}, ""},
		{"flags below cmd", pkgInfo{ImportPath: own("report"), Imports: []string{"github.com/urfave/cli/v2"}}, "report imports github.com/urfave/cli/v2"},
		{"etcd above the readers", pkgInfo{ImportPath: own("correlate"), Imports: []string{"go.etcd.io/bbolt"}}, "correlate imports go.etcd.io/bbolt"},
		{"HTML outside of report", pkgInfo{ImportPath: own("cmd/etcd-autopsy"), Imports: []string{"html/template"}}, "cmd/etcd-autopsy imports html/template"},
		{"etcd where it belongs", pkgInfo{ImportPath: own("snapshot"), Imports: []string{"go.etcd.io/bbolt"}}, ""},
		{"new package", pkgInfo{ImportPath: own("util")}, "util has no place"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(violations([]pkgInfo{tt.pkg}), "; ")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("violations %q, want %q", got, tt.want)
			}
		})
	}
}
