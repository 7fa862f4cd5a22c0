package main

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func testSession() (*session, *bytes.Buffer) {
	var out bytes.Buffer
	return &session{stdin: strings.NewReader(""), stdout: &out, stderr: io.Discard}, &out
}

func TestArrange(t *testing.T) {
	tests := []struct{ args, want string }{
		{"", ""},
		{"--version", "--version"},
		{"report a b", "report -- a b"},
		{"report a -o x.html b --quiet", "report --output=x.html --quiet -- a b"},
		{"report --output x.html a", "report --output=x.html -- a"},
		{"report -o=x.html a", "report --output=x.html -- a"},
		{"report a -o -", "report --output=- -- a"},
		{"report - -o x.md", "report --output=x.md -- -"},
		{"report -n a,b --as x=log --as y,z=log c", "report --namespace=a,b --as=x=log --as=y,z=log -- c"},
		{"report a -- -o --quiet", "report -- a -o --quiet"},
		{"-n default --quiet revisions a", "revisions --namespace=default --quiet -- a"},
		{"-n report report a", "report --namespace=report -- a"},
		{"report report", "report -- report"},
		{"report help", "report -- help"},
		{"report a -h --quiet", "report --help"},
		{"report --quiet=false a", "report --quiet=false -- a"},
		{"help", "--help"},
		{"help report", "report --help"},
		{"help -h", "--help"},
		{"explain", "explain --"},
	}
	s, _ := testSession()
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			got, err := arrange(s.app(), strings.Fields(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			want := append([]string{program}, strings.Fields(tt.want)...)
			if !slices.Equal(got, want) {
				t.Errorf("arrange = %q, want %q", got, want)
			}
		})
	}
}

func TestArrangeRefuses(t *testing.T) {
	tests := []struct{ args, text, hint string }{
		{"report --nope a", "unknown flag --nope", ""},
		{"report a --ouput x", "unknown flag --ouput", "did you mean --output?"},
		{"report a --formt=md", "unknown flag --formt", "did you mean --format?"},
		{"report a -ojson", "unknown flag -ojson", "did you mean -o json?"},
		{"report a -output x", "unknown flag -output", "did you mean --output?"},
		{"report a --o x", "unknown flag --o", "did you mean -o?"},
		{"report a -x", "unknown flag -x", ""},
		{"inputs a --exit-code", "unknown flag --exit-code", ""},
		{"report a -o", "flag -o needs a value", ""},
		{"report -o --quiet a", "flag -o needs a value", ""},
		{"report a -o --", "flag -o needs a value", ""},
		{"report a --quiet=later", "flag --quiet takes no value", ""},
		{"--nope report a", "unknown flag --nope", ""},
		{"reprot a", `unknown command "reprot"`, `did you mean "report"?`},
		{"help tmeline", `unknown command "tmeline"`, `did you mean "timeline"?`},
		{"argv.go", `unknown command "argv.go"`, "a command comes first: etcd-autopsy report argv.go -o postmortem.html"},
		{"zzz", `unknown command "zzz"`, ""},
	}
	s, _ := testSession()
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			_, err := arrange(s.app(), strings.Fields(tt.args))
			var usage *usageError
			if !errors.As(err, &usage) {
				t.Fatalf("error %v, want a usage error", err)
			}
			if usage.text != tt.text || usage.hint != tt.hint {
				t.Errorf("%q, hint %q; want %q, hint %q", usage.text, usage.hint, tt.text, tt.hint)
			}
		})
	}
}

// A flag may stand before the command, so its name must mean the same kind of
// thing in all of them.
func TestFlagsAgreeAcrossCommands(t *testing.T) {
	s, _ := testSession()
	app := s.app()
	all := flagTable{}
	for _, c := range app.Commands {
		for name, spec := range newFlagTable(c.Flags) {
			if have, ok := all[name]; ok && have != spec {
				t.Errorf("flag %s of %s is %+v, of another command %+v", name, c.Name, spec, have)
			}
			all[name] = spec
		}
	}
}

func TestEveryFlagIsDescribed(t *testing.T) {
	s, _ := testSession()
	for _, c := range s.app().Commands {
		if c.Usage == "" || c.ArgsUsage == "" {
			t.Errorf("%s is not described", c.Name)
		}
		for _, f := range c.Flags {
			if _, text := flagWords(f); text == "" {
				t.Errorf("%s: flag %s is not described", c.Name, f.Names()[0])
			}
		}
		if !strings.Contains(c.CustomHelpTemplate, "130  interrupted") {
			t.Errorf("%s: the help does not list the exit codes", c.Name)
		}
	}
}
