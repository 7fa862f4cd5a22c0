package main

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"
	"time"
)

// column is one column of a table.
type column[T any] struct {
	head string
	// wide columns are shown with -o wide only.
	wide bool
	cell func(T) string
}

// tableBlock is how many rows are aligned with each other: a table of millions
// of rows is not held in memory.
const tableBlock = 4096

// printTable writes rows as aligned columns under a head. A list without rows
// prints only the head.
func printTable[T any](w io.Writer, columns []column[T], wide bool, rows iter.Seq[T]) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	line := func(cell func(column[T]) string) error {
		var cells []string
		for _, c := range columns {
			if !c.wide || wide {
				cells = append(cells, dashIfEmpty(printable(cell(c))))
			}
		}
		_, err := fmt.Fprintln(tw, strings.Join(cells, "\t"))
		return err
	}
	if err := line(func(c column[T]) string { return c.head }); err != nil {
		return err
	}
	n := 0
	for row := range rows {
		if err := line(func(c column[T]) string { return c.cell(row) }); err != nil {
			return err
		}
		if n++; n%tableBlock == 0 {
			if err := tw.Flush(); err != nil {
				return err
			}
		}
	}
	return tw.Flush()
}

func dashIfEmpty(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// stamp writes a time for a table, in the zone asked for; a dash if unknown.
func stamp(t *time.Time, loc *time.Location) string {
	if t == nil {
		return ""
	}
	return t.In(loc).Format("2006-01-02T15:04:05.000Z07:00")
}

// span writes a duration for people: 340ms, 6.2s, 1m2s, 3h5m.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
