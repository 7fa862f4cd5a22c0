package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

func TestExitCodes(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name string
		err  error
		code int
		told string
	}{
		{"none", nil, 0, ""},
		{"any", broken, 1, "etcd-autopsy: broken\n"},
		{"with a hint", fmt.Errorf("read: %w", &hintedError{broken, "mend it"}), 1, "etcd-autopsy: read: broken\nhint: mend it\n"},
		{"usage", usagef("do it right", "wrong %s", "way"), 2, "etcd-autopsy: wrong way\nhint: do it right\n"},
		{"usage without hint", usagef("", "wrong"), 2, "etcd-autopsy: wrong\nhint: \"etcd-autopsy --help\" lists commands, \"etcd-autopsy COMMAND --help\" their flags\n"},
		{"stalled", outcome(true, errSkipped), 3, ""},
		{"skipped", outcome(false, errSkipped), 4, "etcd-autopsy: some of the evidence was skipped (--strict)\n"},
		{"neither", outcome(false, nil), 0, ""},
		{"interrupted", fmt.Errorf("write x: %w", context.Canceled), 130, "etcd-autopsy: interrupted\n"},
		{"interrupted and broken", errors.Join(broken, context.Canceled), 130, "etcd-autopsy: interrupted\n"},
		{"reader gone", fmt.Errorf("write: %w", syscall.EPIPE), 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stderr strings.Builder
			tell(&stderr, tt.err)
			if got := exitCode(tt.err); got != tt.code || stderr.String() != tt.told {
				t.Errorf("exit %d, told %q; want %d, %q", got, stderr.String(), tt.code, tt.told)
			}
		})
	}
}

// failing is a stdout on a full disk, or a pipe nobody reads.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestLostOutputIsNoSuccess(t *testing.T) {
	for err, want := range map[error]int{syscall.ENOSPC: 1, syscall.EPIPE: 0} {
		var stderr strings.Builder
		if code := Run(t.Context(), []string{"explain"}, strings.NewReader(""), failing{err}, &stderr); code != want {
			t.Errorf("%v: exit %d, want %d (%s)", err, code, want, stderr.String())
		}
	}
}
