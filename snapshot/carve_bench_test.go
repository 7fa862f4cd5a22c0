package snapshot

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// BenchmarkPages compares reading all pages of a file, most of which are stale,
// with hashing it and with walking over its records.
func BenchmarkPages(b *testing.B) {
	path := *snapshotFlag
	if path == "" {
		e := newEtcdStore().schema("3.6")
		value := strings.Repeat("v", 1800)
		for i := range 100_000 {
			e.put(fmt.Sprintf("/registry/pods/namespace-%d/pod-%d", i%40, i%10_000), value[:(i*7919)%len(value)])
		}
		path = e.file(b, filepath.Join(b.TempDir(), "db"))
		e.compact(e.revision - 20_000)
		advance(b, path, e)
	}
	info, err := os.Stat(path)
	must(b, err)
	b.Run("history", func(b *testing.B) { b.SetBytes(info.Size()); bench(b, path) })
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(info.Size())
		f, err := os.Open(path)
		must(b, err)
		meta, _, err := chooseMeta(f, info.Size())
		must(b, err)
		records := 0
		for b.Loop() {
			p := &pageScanner{file: f, ps: meta.pageSize, size: info.Size(), meter: &meter{total: &progress{}}}
			must(b, p.run(context.Background(), func(_ uint64, list []scanned) { records += len(list) }))
		}
		b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
		must(b, f.Close())
	})
	b.Run("sha256", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			f, err := os.Open(path)
			must(b, err)
			_, err = io.CopyBuffer(struct{ io.Writer }{sha256.New()}, struct{ io.Reader }{f}, make([]byte, hashBuffer))
			must(b, err)
			must(b, f.Close())
		}
	})
	b.Run("cursor", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true})
			must(b, err)
			var sum int
			must(b, db.View(func(tx *bbolt.Tx) error {
				return tx.Bucket(keyBucket).ForEach(func(_, v []byte) error {
					for i := 0; i < len(v); i += 64 {
						sum += int(v[i])
					}
					return nil
				})
			}))
			must(b, db.Close())
		}
	})
}
