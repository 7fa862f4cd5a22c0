//go:build unix

package source

import (
	"context"
	"net"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIrregular has what must not be opened: opening a FIFO would wait for ever.
func TestIrregular(t *testing.T) {
	root := tree(t, map[string]string{"d/a.log": "a\n"})
	must(t, syscall.Mkfifo(filepath.Join(root, "d", "fifo"), 0o600))
	l, err := net.Listen("unix", filepath.Join(root, "d", "socket"))
	must(t, err)
	defer func() { must(t, l.Close()) }()
	want := []string{"d:a.log text", "d:fifo !named pipe, not opened", "d:socket !socket, not opened"}
	if d := cmp.Diff(want, names(open(t, root, "d"))); d != "" {
		t.Errorf("inside a folder (-want +got):\n%s", d)
	}
	set, err := Open(context.Background(), []string{filepath.Join(root, "d", "fifo"), "/dev/zero"}, Options{})
	must(t, err)
	want = []string{"fifo:fifo !named pipe, not opened", "zero:zero !device, not opened"}
	if d := cmp.Diff(want, names(set)); d != "" {
		t.Errorf("as inputs (-want +got):\n%s", d)
	}
}
