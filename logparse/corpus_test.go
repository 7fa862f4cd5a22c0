package logparse

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The corpus are excerpts of logs in the shapes that people have posted, written
// anew. INDEX.tsv says of each what a careful reader finds in it: logical records,
// the first and the last time, and how many lines "grep -cE" finds for each
// signature.

// corpusRow is a line of INDEX.tsv.
type corpusRow struct {
	file, format, zone, order, quirk string
	records                          int // -1: not counted
	first, last                      string
	signatures                       map[string]int
}

func corpusIndex(t *testing.T) (out []corpusRow) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "corpus", "INDEX.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		c := strings.Split(line, "\t")
		if i == 0 || len(c) < 8 {
			continue
		}
		r := corpusRow{file: c[0], format: c[1], first: c[3], last: c[4], zone: c[5], order: c[6], records: -1, signatures: map[string]int{}}
		if n, err := strconv.Atoi(leadingDigits.FindString(c[2])); err == nil {
			r.records = n
		}
		for pair := range strings.SplitSeq(c[7], ";") {
			if id, n, ok := strings.Cut(pair, "="); ok {
				r.signatures[id], _ = strconv.Atoi(n)
			}
		}
		if len(c) > 8 {
			r.quirk = c[8]
		}
		out = append(out, r)
	}
	return out
}

var leadingDigits = regexp.MustCompile(`^\d+`)

// corpusDeviations are the differences from the index that are right, by file,
// with the reason.
func corpusDeviations(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "corpus", "DEVIATIONS.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		file, reason, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || reason == "" {
			t.Errorf("DEVIATIONS.tsv: %q", line)
		}
		out[file] = reason
	}
	return out
}

func TestCorpus(t *testing.T) {
	deviations := corpusDeviations(t)
	for _, row := range corpusIndex(t) {
		t.Run(row.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "corpus", row.file))
			if err != nil {
				t.Fatal(err)
			}
			all := readAll(t, string(data), Options{Before: at("2026-12-01T00:00:00Z")})
			checkRecords(t, data, all)
			recs := slices.DeleteFunc(all, func(r Record) bool { return r.Format == FormatNoise })
			found := append(corpusShape(row, recs), corpusSignatures(row, recs)...)
			_, deviates := deviations[row.file]
			switch {
			case len(found) > 0 && !deviates:
				t.Error(strings.Join(found, "\n"))
			case len(found) == 0 && deviates:
				t.Error("agrees with the index: it is no deviation any more")
			}
		})
	}
	if len(deviations) > 5 {
		t.Errorf("%d deviations", len(deviations))
	}
}

// corpusShape compares the number of records and the times of the first and last.
func corpusShape(row corpusRow, recs []Record) (found []string) {
	if row.records >= 0 && len(recs) != row.records {
		found = append(found, fmt.Sprintf("%d records, want %d", len(recs), row.records))
	}
	if row.order != "yes" {
		return found
	}
	var times []time.Time
	for _, r := range recs {
		if !r.Time.IsZero() {
			times = append(times, r.Time)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	for i, want := range []string{row.first, row.last} {
		if !strings.HasPrefix(want, "2") {
			continue
		}
		if len(times) == 0 {
			found = append(found, "no times, want "+want)
			continue
		}
		got := times[i*(len(times)-1)]
		if !corpusTime(got, want, row.zone == "UTC") {
			found = append(found, fmt.Sprintf("time %v, want %s", got, want))
		}
	}
	return found
}

// corpusTime compares to the minute, without the year, which may be a guess. Where
// the index does not know the zone, the hour may be off by whole steps of zones.
func corpusTime(got time.Time, want string, utc bool) bool {
	w, err := time.Parse("2006-01-02T15:04", want[:16])
	if err != nil {
		return false
	}
	g := time.Date(w.Year(), got.Month(), got.Day(), got.Hour(), got.Minute(), 0, 0, time.UTC)
	d := g.Sub(w).Abs()
	return d == 0 || !utc && d <= 15*time.Hour && d%(15*time.Minute) == 0
}

// corpusSignatures compares the counts of signatures. Where a record is split over
// lines the index undercounts; where it is of several lines, or stands for several,
// the numbers differ rightly.
func corpusSignatures(row corpusRow, recs []Record) (found []string) {
	have := map[string]int{}
	for _, r := range recs {
		for _, id := range r.Signatures {
			have[id] += 1 + r.Repeats
		}
	}
	split := slices.Contains([]string{"002", "053", "115", "118", "128"}, row.file[:3])
	blocks := strings.Contains(row.format, "multi") || strings.Contains(strings.ToLower(row.format), "trace")
	for id, want := range row.signatures {
		n := have[id]
		ok := n == want || n > want && (split || strings.Contains(row.quirk, "repeat")) || n > 0 && n < want && blocks
		if !ok {
			found = append(found, fmt.Sprintf("%s: %d, want %d", id, n, want))
		}
	}
	for id := range have {
		if _, ok := row.signatures[id]; !ok && !split {
			found = append(found, "invented: "+id)
		}
	}
	slices.SortFunc(found, cmp.Compare)
	return found
}

// Cutting a file anywhere, and reading it as two pieces of one stream, changes
// nothing.
func TestCorpusSplit(t *testing.T) {
	for _, row := range corpusIndex(t) {
		data, err := os.ReadFile(filepath.Join("testdata", "corpus", row.file))
		if err != nil {
			t.Fatal(err)
		}
		want := dumpRecords(readAll(t, string(data), Options{Year: 2026}))
		for _, n := range []int{1, 7, 1000} {
			var got []Record
			for rec, err := range Read(t.Context(), &chunkReader{s: string(data), n: n}, Options{Year: 2026}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, rec)
			}
			if !bytes.Equal([]byte(dumpRecords(got)), []byte(want)) {
				t.Errorf("%s: %d bytes at a time give other records", row.file, n)
			}
		}
	}
}
