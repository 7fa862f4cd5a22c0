package snapshot

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

var snapshotFlag = flag.String("snapshot", "", "an etcd backend file to run the benchmarks on")

// benchStore returns the file of -snapshot, or a store of about 200,000 records
// of 900 bytes on average.
func benchStore(b *testing.B, records int) string {
	b.Helper()
	if *snapshotFlag != "" {
		return *snapshotFlag
	}
	e := newEtcdStore().schema("3.6")
	value := strings.Repeat("v", 1800)
	for i := range records {
		e.put(fmt.Sprintf("/registry/pods/namespace-%d/pod-%d", i%40, i%20_000), value[:(i*7919)%len(value)])
	}
	return e.file(b, filepath.Join(b.TempDir(), "db"))
}

// bench loads the files of a case again and again.
func bench(b *testing.B, paths ...string) {
	var files []File
	for i, p := range paths {
		files = append(files, File{Input: fmt.Sprint(i), Path: "db", OSPath: p})
	}
	records := 0
	b.ReportAllocs()
	for b.Loop() {
		h, err := Load(context.Background(), files, Options{})
		must(b, err)
		records += h.Len()
		must(b, h.Close())
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkLoad compares opening one large store with the least that reading it
// takes: a cursor that looks at every record.
func BenchmarkLoad(b *testing.B) {
	path := benchStore(b, 200_000)
	b.Run("history", func(b *testing.B) { bench(b, path) })
	b.Run("cursor", func(b *testing.B) {
		for b.Loop() {
			db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true})
			must(b, err)
			var sum int
			must(b, db.View(func(tx *bbolt.Tx) error {
				return tx.Bucket(keyBucket).ForEach(func(k, v []byte) error {
					for i := 0; i < len(v); i += 64 { // every cache line, as hashing does
						sum += int(v[i])
					}
					return nil
				})
			}))
			must(b, db.Close())
		}
	})
}

// BenchmarkRecording opens what a small incident leaves: three members' files and
// two snapshots of about 500 records each.
func BenchmarkRecording(b *testing.B) {
	dir := b.TempDir()
	e := newEtcdStore().schema("3.6")
	for i := range 500 {
		e.put(fmt.Sprint("/registry/pods/default/", i%90), strings.Repeat("v", i*3))
	}
	bench(b, e.file(b, filepath.Join(dir, "1")), e.file(b, filepath.Join(dir, "2")), e.file(b, filepath.Join(dir, "3")),
		e.saved(b, filepath.Join(dir, "4")), e.saved(b, filepath.Join(dir, "5")))
}

// BenchmarkValue reads one value.
func BenchmarkValue(b *testing.B) {
	h := load(b, benchStore(b, 20_000))
	i := 0
	for b.Loop() {
		if _, err := h.Value(i % h.Len()); err != nil {
			b.Fatal(err)
		}
		i += 7919
	}
}
