package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCandidates(t *testing.T) {
	tests := []struct {
		words []string
		want  []string
	}{
		{[]string{"re"}, []string{"report", "revisions", "render"}},
		{[]string{""}, []string{"help", "report", "inputs", "rollouts", "revisions", "timeline", "writes", "members", "check", "render", "explain", "completion", "--help", "--version"}},
		{[]string{"--v"}, []string{"--version"}},
		{[]string{"help", "ro"}, []string{"rollouts"}},
		{[]string{"report", "--q"}, []string{"--quiet"}},
		{[]string{"report", "a", "--fo"}, []string{"--format"}},
		{[]string{"report", "a", "--format", ""}, []string{"md", "html", "json"}},
		{[]string{"report", "a", "--format", "h"}, []string{"html"}},
		{[]string{"report", "a", "--format", "="}, []string{"md", "html", "json"}},
		{[]string{"report", "a", "--format", "=", "j"}, []string{"json"}},
		{[]string{"rollouts", "-o", "j"}, []string{"json", "jsonl"}},
		{[]string{"timeline", "--progress", "p"}, []string{"plain"}},
		{[]string{"--quiet", "timel"}, []string{"timeline"}},
		{[]string{"report", "-o", ""}, nil},
		{[]string{"report", ""}, nil},
		{[]string{"report", "--", "-"}, nil},
		{[]string{"explain", "image-pull-"}, []string{"image-pull-slow"}},
		{[]string{"explain", "coll"}, []string{"collect"}},
		{[]string{"completion", ""}, shells},
		{[]string{"nonsense", ""}, nil},
	}
	s, _ := testSession()
	app := s.app()
	for _, tt := range tests {
		t.Run(strings.Join(tt.words, " "), func(t *testing.T) {
			if got := candidates(app, tt.words); !slices.Equal(got, tt.want) {
				t.Errorf("candidates %q, want %q", got, tt.want)
			}
		})
	}
}

// drivers are scripts that load the completion script $1 and print what the
// shell would offer for "etcd-autopsy explain image-p", a word a line.
var drivers = map[string]string{
	"bash": `source "$1"; COMP_WORDS=(etcd-autopsy explain image-p); COMP_CWORD=2; _etcd_autopsy; printf '%s\n' "${COMPREPLY[@]}"`,
	"zsh": `compdef() { :; }; source "$1"; words=(etcd-autopsy explain image-p); CURRENT=3
compadd() { shift; print -l -- "$@"; }; _files() { print files; }; _etcd_autopsy`,
	"fish": `source $argv[1]; complete -C "etcd-autopsy explain image-p"`,
}

func TestCompletionScripts(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary acts as the program when it is called by its name.
	if err := os.Symlink(exe, filepath.Join(dir, program)); err != nil {
		t.Fatal(err)
	}
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("no %s here", shell)
			}
			script := filepath.Join(dir, "script."+shell)
			var text strings.Builder
			if code := Run(t.Context(), []string{"completion", shell}, nil, &text, os.Stderr); code != 0 {
				t.Fatalf("exit %d", code)
			}
			if err := os.WriteFile(script, []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(path, "-n", script).CombinedOutput(); err != nil {
				t.Errorf("%s -n: %v\n%s", shell, err, out)
			}
			args := []string{"-c", drivers[shell], script}
			if shell != "fish" { // fish has no $0 here
				args = []string{"-c", drivers[shell], shell, script}
			}
			cmd := exec.Command(path, args...)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := strings.Fields(string(out)); !slices.Equal(got, []string{"image-pull", "image-pull-slow"}) {
				t.Errorf("%s offers %q", shell, got)
			}
		})
	}
}
