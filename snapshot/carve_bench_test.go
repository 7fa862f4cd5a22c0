package snapshot

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"etcd-autopsy/fixtures/bigstore"
)

// BenchmarkPages compares, on a file half of whose pages are stale, the scan of
// all pages with the least that it takes: reading the file and decoding the
// records that are known to be there (x-least). It compares opening the file with
// that scan, with hashing it and with walking over the records of its tree.
func BenchmarkPages(b *testing.B) {
	path := *snapshotFlag
	if path == "" {
		path = filepath.Join(b.TempDir(), "db")
		_, err := bigstore.WriteSnapshot(path, bigstore.Options{Size: 128 * bigstore.MiB, Seed: 1, Stale: true})
		must(b, err)
	}
	info, err := os.Stat(path)
	must(b, err)
	took := map[string]time.Duration{"least": leastScan(b, path)}
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
		took["scan"] = b.Elapsed() / time.Duration(b.N)
		b.ReportMetric(float64(took["scan"])/float64(took["least"]), "x-least")
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
		took["sha256"] = b.Elapsed() / time.Duration(b.N)
	})
	b.Run("history", func(b *testing.B) {
		b.SetBytes(info.Size())
		bench(b, path)
		for _, peer := range []string{"scan", "sha256"} {
			if took[peer] > 0 {
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(took[peer]), "x-"+peer)
			}
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

// leastScan times reading a file and decoding its records, whose places it has
// found before: the fastest of several runs.
func leastScan(b *testing.B, path string) (fastest time.Duration) {
	f, err := os.Open(path)
	must(b, err)
	info, err := f.Stat()
	must(b, err)
	meta, _, err := chooseMeta(f, info.Size())
	must(b, err)
	var places [][2]int64
	p := &pageScanner{file: f, ps: meta.pageSize, size: info.Size(), meter: &meter{total: &progress{}}}
	must(b, p.run(context.Background(), func(_ uint64, list []scanned) {
		for i := range list {
			places = append(places, [2]int64{list[i].offset, list[i].offset + list[i].length})
		}
	}))
	buffer := make([]byte, scanBuffer)
	for range 5 {
		start, next := time.Now(), 0
		for base := int64(0); base < info.Size(); {
			n, err := f.ReadAt(buffer, base)
			if err != nil && err != io.EOF {
				b.Fatal(err)
			}
			for ; next < len(places) && places[next][1] <= base+int64(n); next++ {
				if from := places[next][0] - base; from >= 0 { // those on the border are few
					record := buffer[from:][:places[next][1]-places[next][0]]
					if _, err := parseKeyValue(record); err != nil {
						b.Fatal(err)
					}
					_ = hashRecord(false, record)
				}
			}
			base += int64(n)
		}
		if took := time.Since(start); fastest == 0 || took < fastest {
			fastest = took
		}
	}
	must(b, f.Close())
	return fastest
}
