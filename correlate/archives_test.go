package correlate

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"etcd-autopsy/fixtures"
)

// eachFile calls f for the files of a folder, with their paths in it.
func eachFile(t *testing.T, dir string, f func(rel string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		f(filepath.ToSlash(rel), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// archiveForms pack a folder into one file of a folder of its own.
var archiveForms = map[string]func(t *testing.T, dir string, out io.Writer){
	"x.tar": packTar,
	"x.tar.gz": func(t *testing.T, dir string, out io.Writer) {
		z := gzip.NewWriter(out)
		packTar(t, dir, z)
		noErr(t, z.Close())
	},
	"x.tar.zst": func(t *testing.T, dir string, out io.Writer) {
		z, err := zstd.NewWriter(out)
		noErr(t, err)
		packTar(t, dir, z)
		noErr(t, z.Close())
	},
	"x.zip": func(t *testing.T, dir string, out io.Writer) {
		w := zip.NewWriter(out)
		eachFile(t, dir, func(rel string, data []byte) {
			f, err := w.Create(rel)
			noErr(t, err)
			_, err = f.Write(data)
			noErr(t, err)
		})
		noErr(t, w.Close())
	},
	"logs in a tar.gz, in a zip": func(t *testing.T, dir string, out io.Writer) {
		var logs bytes.Buffer
		z := gzip.NewWriter(&logs)
		packTar(t, filepath.Join(dir, "logs"), z)
		noErr(t, z.Close())
		w := zip.NewWriter(out)
		eachFile(t, dir, func(rel string, data []byte) {
			if !strings.HasPrefix(rel, "logs/") {
				f, err := w.Create(rel)
				noErr(t, err)
				_, err = f.Write(data)
				noErr(t, err)
			}
		})
		f, err := w.Create("logs.tar.gz")
		noErr(t, err)
		_, err = f.Write(logs.Bytes())
		noErr(t, err)
		noErr(t, w.Close())
	},
}

func packTar(t *testing.T, dir string, out io.Writer) {
	t.Helper()
	w := tar.NewWriter(out)
	eachFile(t, dir, func(rel string, data []byte) {
		noErr(t, w.WriteHeader(&tar.Header{Name: rel, Mode: 0o600, Size: int64(len(data))}))
		_, err := w.Write(data)
		noErr(t, err)
	})
	noErr(t, w.Close())
}

// judged is what an analysis says, without where its evidence lies.
func judged(t *testing.T, a *Analysis) string {
	t.Helper()
	b := *a
	b.Inputs, b.Evidence, b.Signals, b.Coverage.Notes, b.UnknownMessages = nil, nil, nil, nil, UnknownMessages{}
	text, err := json.MarshalIndent(b, "", " ")
	noErr(t, err)
	return string(text)
}

// A recording in an archive of any form is judged as its folder is.
func TestArchivesJudgeAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a recording six times")
	}
	dir, err := fixtures.Extract("bad-image", t.TempDir())
	noErr(t, err)
	want := judged(t, analyzeDir(t, dir))
	for name, pack := range archiveForms {
		t.Run(name, func(t *testing.T) {
			p := filepath.Join(t.TempDir(), name)
			out, err := os.Create(p)
			noErr(t, err)
			pack(t, dir, out)
			noErr(t, out.Close())
			if got := judged(t, analyzeDir(t, p)); got != want {
				t.Errorf("judged otherwise: %s", firstDifference(got, want))
			}
		})
	}
	t.Run("each log compressed", func(t *testing.T) {
		to := filepath.Join(t.TempDir(), "in")
		eachFile(t, dir, func(rel string, data []byte) {
			if strings.HasPrefix(rel, "logs/") {
				var b bytes.Buffer
				z := gzip.NewWriter(&b)
				_, err := z.Write(data)
				noErr(t, err)
				noErr(t, z.Close())
				rel, data = rel+".gz", b.Bytes()
			}
			p := filepath.Join(to, filepath.FromSlash(rel))
			noErr(t, os.MkdirAll(filepath.Dir(p), 0o755))
			noErr(t, os.WriteFile(p, data, 0o600))
		})
		if got := judged(t, analyzeDir(t, to)); got != want {
			t.Errorf("judged otherwise: %s", firstDifference(got, want))
		}
	})
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return g[i] + " | " + strings.Join(w[min(i, len(w)-1):min(i+1, len(w))], "")
		}
	}
	return "it is shorter"
}

// The pair that cluster-backup.sh leaves holds the store, and in a tar.gz the keys of
// what is encrypted in it; a k3s snapshot is a zip with the store under its own name.
func TestBackupsAsTheyAre(t *testing.T) {
	src, err := fixtures.Extract("bad-image", t.TempDir())
	noErr(t, err)
	db, err := os.ReadFile(filepath.Join(src, "after.db"))
	noErr(t, err)
	dir := filepath.Join(t.TempDir(), "backup")
	noErr(t, os.MkdirAll(dir, 0o755))
	noErr(t, os.WriteFile(filepath.Join(dir, "snapshot_2026-11-30_211109.db"), db, 0o600))
	keys := filepath.Join(t.TempDir(), "static-pod-resources", "kube-apiserver-pod-7", "secrets", "encryption-config")
	noErr(t, os.MkdirAll(keys, 0o755))
	noErr(t, os.WriteFile(filepath.Join(keys, "encryption-config"), []byte(`{"kind":"EncryptionConfiguration","apiVersion":"apiserver.config.k8s.io/v1","resources":[{"resources":["secrets"],"providers":[{"aescbc":{"keys":[{"name":"1","secret":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}]}},{"identity":{}}]}]}`), 0o600))
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	packTar(t, filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(keys)))), z)
	noErr(t, z.Close())
	noErr(t, os.WriteFile(filepath.Join(dir, "static_kuberesources_2026-11-30_211109.tar.gz"), b.Bytes(), 0o600))
	c := loadDir(t, dir)
	kinds := map[string]string{}
	for _, in := range c.Inputs() {
		kinds[filepath.Base(in.Path)] = in.Kind
		if in.Layout != "openshift cluster-backup" || in.Collected == nil {
			t.Errorf("%s: layout %q, collected %v", in.Path, in.Layout, in.Collected)
		}
	}
	if kinds["snapshot_2026-11-30_211109.db"] != "snapshot" || kinds["encryption-config"] != "config" || len(c.keys) != 1 {
		t.Errorf("%v, %d sets of keys", kinds, len(c.keys))
	}

	b.Reset()
	w := zip.NewWriter(&b)
	f, err := w.Create("etcd-snapshot-cp1-1796073069")
	noErr(t, err)
	_, err = f.Write(db)
	noErr(t, err)
	noErr(t, w.Close())
	p := filepath.Join(t.TempDir(), "etcd-snapshot-cp1-1796073069.zip")
	noErr(t, os.WriteFile(p, b.Bytes(), 0o600))
	c = loadDir(t, p)
	if in := c.Inputs()[len(c.Inputs())-2]; c.hist.Len() < 400 || in.Kind != "snapshot" || in.Node != "cp1" {
		t.Errorf("%d revisions, %+v", c.hist.Len(), c.Inputs())
	}
}
