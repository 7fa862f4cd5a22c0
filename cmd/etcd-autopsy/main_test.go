package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"etcd-autopsy/fixtures"
	"etcd-autopsy/fixtures/world"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){program: main})
}

// TestScript runs testdata/script/*.txtar: each says what a user types and sees.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"recording": recordingCmd,
			"unchanged": unchangedCmd,
			"status":    statusCmd,
			"mkfile":    mkfileCmd,
			"reverse":   reverseCmd,
			"events":    eventsCmd,
		},
		Setup: func(env *testscript.Env) error {
			env.Values[sealed{}] = map[string]string{}
			return nil
		},
	})
}

// recordingCmd unpacks a recorded incident: recording NAME makes the folder NAME.
func recordingCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: recording NAME")
	}
	_, err := fixtures.Extract(args[0], ts.MkAbs("."))
	ts.Check(err)
}

// eventsCmd makes the store of an etcd for k8s Events alone, larger than that of
// any recording: events DIR makes DIR/state.db.
func eventsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: events DIR")
	}
	w := world.New()
	for i := range 700 {
		e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("web.", i)}, Reason: "Pulled"}
		w.Put(time.Duration(i)*time.Second, e)
	}
	ts.Check(w.Save(ts.MkAbs(args[0])))
}

// sealed is the key of the map from paths to what unchangedCmd saw in them.
type sealed struct{}

// unchangedCmd compares a file or folder with what it was when it was first
// named: unchanged PATH... Names, sizes, modes, times and contents count.
func unchangedCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: unchanged PATH...")
	}
	before := ts.Value(sealed{}).(map[string]string)
	for _, path := range args {
		now, err := fingerprint(ts.MkAbs(path))
		ts.Check(err)
		if was, ok := before[path]; ok && was != now {
			ts.Fatalf("%s was changed:\nbefore\n%s\nnow\n%s", path, was, now)
		}
		before[path] = now
	}
}

// fingerprint lists all that is below a path, a line each.
func fingerprint(root string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %d %v %v", path, info.Size(), info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			b.WriteString(" " + hex.EncodeToString(sum[:]))
		}
		b.WriteByte('\n')
		return nil
	})
	return b.String(), err
}

// statusCmd runs a command and checks its exit code: status CODE PROGRAM ARG...
func statusCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// mkfileCmd writes a file of a repeated text: mkfile FILE TEXT COUNT, where TEXT
// may have \0 and \n.
func mkfileCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: mkfile FILE TEXT COUNT")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	text := strings.NewReplacer(`\0`, "\x00", `\n`, "\n").Replace(args[1])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte(text), n), 0o644))
}

// reverseCmd runs the program twice, with its operands as given and reversed,
// and wants the same output: reverse ARG... -- INPUT...
func reverseCmd(ts *testscript.TestScript, neg bool, args []string) {
	i := slices.Index(args, "--")
	if neg || i < 1 || len(args) < i+3 {
		ts.Fatalf("usage: reverse ARG... -- INPUT INPUT...")
	}
	inputs := slices.Clone(args[i+1:])
	outputs := map[string]bool{}
	for range 2 {
		ts.Check(ts.Exec(program, slices.Concat(args[:i], inputs)...))
		outputs[ts.ReadFile("stdout")] = true
		slices.Reverse(inputs)
	}
	if len(outputs) != 1 {
		both := slices.Sorted(maps.Keys(outputs))
		ts.Fatalf("the output depends on the order of the inputs: %s", firstDifference(both[0], both[1]))
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i+1, x[i], y[i])
		}
	}
	return "one has more lines"
}
