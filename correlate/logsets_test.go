package correlate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"etcd-autopsy/internal/source"
)

func TestRotationBase(t *testing.T) {
	groups := [][]string{
		{"var/log/etcd.log", "var/log/etcd.log.1", "var/log/etcd.log.2.gz", "var/log/etcd.log-20261130", "var/log/etcd.log-20261130.gz", "var/log/etcd-20261130.log"},
		{"audit/audit.log", "audit/audit-2026-11-30T21-00-00.123.log", "audit/audit-2026-11-30T21-00-00.123.log.gz"},
		{"pods/a_b_c/d/0.log", "pods/a_b_c/d/0.log.20261130-210000", "pods/a_b_c/d/0.log.20261130-210000.gz"},
		{"pods/a_b_c/d/1.log"},
		{"etcd-1.log"}, {"etcd-2.log"},
	}
	seen := map[string]int{}
	for i, group := range groups {
		for _, p := range group {
			base := rotationBase(p)
			if base != rotationBase(group[0]) {
				t.Errorf("%s has base %s, %s has %s", p, base, group[0], rotationBase(group[0]))
			}
			if j, ok := seen[base]; ok && j != i {
				t.Errorf("%s is taken for one with group %d", p, j)
			}
			seen[base] = i
		}
	}
}

// slowLine is an etcd line of second n.
func slowLine(n int) string {
	return fmt.Sprintf(`{"level":"warn","ts":"2026-11-30T21:00:%02d.%06dZ","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"1.%ds","expected-duration":"1s"}`+"\n", n, n+1, n)
}

const startLine = `{"level":"info","ts":"2026-11-30T20:59:59.5Z","caller":"embed/etcd.go:600","msg":"starting an etcd server","name":"m1"}` + "\n" +
	`{"level":"info","ts":"2026-11-30T20:59:59.6Z","caller":"etcdserver/server.go:600","msg":"x","local-member-id":"5c76a90ae78bcee7"}` + "\n"

// openLogs reads files as one input.
func openLogs(t *testing.T, files map[string]string) *Case {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "in")
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := source.Open(context.Background(), []string{dir}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(context.Background(), set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func lines(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		b.WriteString(slowLine(n))
	}
	return b.String()
}

// What two files of a program hold counts once, in the timeline too.
func TestLogSets(t *testing.T) {
	cri := ""
	for l := range strings.Lines(startLine + lines(0, 20)) {
		cri += "2026-11-30T21:00:00.7Z stderr F " + l
	}
	again := startLine + lines(0, 5) + slowLine(5) + slowLine(5) + lines(6, 20)
	tests := []struct {
		name       string
		files      map[string]string
		records    int
		duplicates int
	}{
		{"rotated, nothing in common", map[string]string{"etcd.log.1": startLine + lines(0, 10), "etcd.log": lines(10, 20)}, 22, 0},
		{"rotated by a copy", map[string]string{"etcd.log.1": startLine + lines(0, 12), "etcd.log": lines(9, 20)}, 22, 3},
		{"the same twice", map[string]string{"a/etcd.log": startLine + lines(0, 20), "b/etcd.log": startLine + lines(0, 20)}, 22, 22},
		{"the same with a wrapper", map[string]string{"a/etcd.log": startLine + lines(0, 20), "b/0.log": cri}, 22, 22},
		{"one more of a kind", map[string]string{"a/etcd.log": startLine + lines(0, 20), "b/etcd.log": again}, 23, 22},
		{"two members", map[string]string{"a/etcd.log": startLine + lines(0, 20), "b/etcd.log": strings.NewReplacer("m1", "m2", "5c76a90ae78bcee7", "6c76a90ae78bcee7").Replace(startLine) + lines(0, 20)}, 44, 0},
		{"of one file no line is a duplicate", map[string]string{"etcd.log": startLine + slowLine(1) + slowLine(1)}, 4, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := openLogs(t, tt.files)
			records, duplicates := 0, 0
			for _, in := range c.Inputs() {
				records += in.Records
				duplicates += in.Duplicates
				if in.Component != "etcd" || in.Member == "" {
					t.Errorf("%s: component %q of member %q", in.Path, in.Component, in.Member)
				}
			}
			rows := 0
			for range c.Timeline(context.Background(), true) {
				rows++
			}
			if records != tt.records || duplicates != tt.duplicates || rows != tt.records {
				t.Errorf("%d records, %d duplicates, %d rows; want %d, %d", records, duplicates, rows, tt.records, tt.duplicates)
			}
		})
	}
}
