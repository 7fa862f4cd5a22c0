package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInterruptedWhileReading waits for input that never ends.
func TestInterruptedWhileReading(t *testing.T) {
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	out := filepath.Join(t.TempDir(), "r.md")
	var stderr bytes.Buffer
	done := make(chan int)
	go func() { done <- Run(ctx, []string{"report", "-", "-o", out}, r, io.Discard, &stderr) }()
	if _, err := io.WriteString(w, "half a line"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if code := <-done; code != 130 || stderr.String() != "etcd-autopsy: interrupted\n" {
		t.Errorf("exit %d, stderr %q", code, stderr.String())
	}
	if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestInterrupted(t *testing.T) {
	rec := t.TempDir()
	if err := os.WriteFile(filepath.Join(rec, "a.log"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "r.md")
	var stdout, stderr bytes.Buffer
	code := Run(ctx, []string{"report", rec, "-o", out}, strings.NewReader(""), &stdout, &stderr)
	if code != 130 || stdout.Len() != 0 || stderr.String() != "etcd-autopsy: interrupted\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
	if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
